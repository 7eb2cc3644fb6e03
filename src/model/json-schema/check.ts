import { canonicalJson } from "../canonical-json.ts";
import type { Path, Problem } from "../problems.ts";
import { shown } from "../problems.ts";
import { isRecord } from "../values.ts";
import { hasFormat } from "./format.ts";
import { resolveReference } from "./reference.ts";

/** Does a value satisfy a schema? For a schema that `problemsOfSchema` finds nothing wrong with, and any JSON value. */

const problemsMax = 20;
/** So deep may value and schema together lead; no answer that a person reads comes near. */
const depthMax = 1000;
/** So many schemas are held against values before it is given up: some multiply without an end. */
const stepsMax = 1_000_000;

/** Thrown where a check is given up. */
class TooMuch extends Error {
  override readonly name = "TooMuch";
}

/** What is wrong with a value, at most 20 things of it; nothing where it satisfies the schema. */
export function problemsOfValue(schema: unknown, value: unknown): Problem[] {
  const check = new Check(schema);
  try {
    check.schema(schema, value, []);
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error;
    return [{ path: [], text: error.message }];
  }
  return check.problems.slice(0, problemsMax);
}

type Schema = Readonly<Record<string, unknown>>;

class Check {
  problems: Problem[] = [];
  readonly #root: unknown;
  readonly #patterns = new Map<string, RegExp>();
  readonly #targets = new Map<string, unknown>();
  #steps = 0;
  #depth = 0;

  constructor(root: unknown) {
    this.#root = root;
  }

  /** Adds what is wrong with the value by this schema. */
  schema(schema: unknown, value: unknown, path: Path): void {
    if (schema === false) this.#add(path, "must not be there");
    if (!isRecord(schema)) return;
    if (++this.#steps > stepsMax) throw new TooMuch("takes too long to be held against the schema");
    if (++this.#depth > depthMax) throw new TooMuch("is nested too deep to be held against the schema");
    this.#any(schema, value, path);
    if (typeof value === "string") this.#text(schema, value, path);
    else if (typeof value === "number") this.#number(schema, value, path);
    else if (Array.isArray(value)) this.#list(schema, value as unknown[], path);
    else if (isRecord(value)) this.#object(schema, value, path);
    this.#combined(schema, value, path);
    this.#depth--;
  }

  #add(path: Path, text: string): void {
    if (this.problems.length < problemsMax) this.problems.push({ path, text });
  }

  /** True where the value satisfies the schema; adds nothing. */
  #fits(schema: unknown, value: unknown): boolean {
    const { problems } = this;
    this.problems = [];
    this.schema(schema, value, []);
    const fits = this.problems.length === 0;
    this.problems = problems;
    return fits;
  }

  #any(schema: Schema, value: unknown, path: Path): void {
    const { type, enum: values, const: only } = schema;
    if (type !== undefined) {
      const types = (Array.isArray(type) ? type : [type]) as string[];
      if (!types.some((name) => isOfType(value, name))) {
        const names = types.map((name) => typeWords[name] ?? name).join(" or ");
        this.#add(path, `must be ${names}, not ${shownAnswer(value)}`);
      }
    }
    if (Array.isArray(values) && !values.some((one) => isSame(one, value))) {
      this.#add(path, `must be ${values.map(shownAnswer).join(" or ")}, not ${shownAnswer(value)}`);
    }
    if (Object.hasOwn(schema, "const") && !isSame(only, value)) {
      this.#add(path, `must be ${shownAnswer(only)}, not ${shownAnswer(value)}`);
    }
  }

  #text(schema: Schema, value: string, path: Path): void {
    const { minLength, maxLength, pattern, format } = schema;
    const size = minLength === undefined && maxLength === undefined ? 0 : Array.from(value).length;
    this.#size(path, { size, what: "characters", min: minLength, max: maxLength });
    if (typeof pattern === "string" && !this.#pattern(pattern).test(value)) {
      this.#add(path, `must match ${pattern}, and is ${shownAnswer(value)}`);
    }
    if (typeof format === "string" && !hasFormat(value, format)) {
      this.#add(path, `must be a text of the format ${format}, not ${shownAnswer(value)}`);
    }
  }

  #number(schema: Schema, value: number, path: Path): void {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
    const demand = (fits: boolean, words: string) => {
      if (!fits) this.#add(path, `must be ${words}, not ${value}`);
    };
    if (typeof minimum === "number") demand(value >= minimum, `at least ${minimum}`);
    if (typeof maximum === "number") demand(value <= maximum, `at most ${maximum}`);
    if (typeof exclusiveMinimum === "number")
      demand(value > exclusiveMinimum, `more than ${exclusiveMinimum}`);
    if (typeof exclusiveMaximum === "number")
      demand(value < exclusiveMaximum, `less than ${exclusiveMaximum}`);
    if (typeof multipleOf === "number") demand(isMultiple(value, multipleOf), `a multiple of ${multipleOf}`);
  }

  #list(schema: Schema, value: readonly unknown[], path: Path): void {
    const { prefixItems, items, contains, minContains = 1, maxContains, uniqueItems } = schema;
    const first = listOf(prefixItems);
    this.#size(path, { size: value.length, what: "items", min: schema["minItems"], max: schema["maxItems"] });
    for (const [index, item] of value.entries()) {
      this.schema(index < first.length ? first[index] : items, item, [...path, index]);
    }
    if (contains !== undefined) {
      const size = value.filter((item) => this.#fits(contains, item)).length;
      this.#size(path, { size, what: "items of the wanted form", min: minContains, max: maxContains });
    }
    if (uniqueItems === true && new Set(value.map(canonicalJson)).size < value.length) {
      this.#add(path, "must not have the same item twice");
    }
  }

  #object(schema: Schema, value: Schema, path: Path): void {
    const { required, dependentRequired, propertyNames, minProperties: min, maxProperties: max } = schema;
    const names = Object.keys(value);
    this.#size(path, { size: names.length, what: "members", min, max });
    const need = (list: unknown, why: string) => {
      for (const name of listOf(list) as string[]) {
        if (!Object.hasOwn(value, name)) this.#add([...path, name], `is missing${why}`);
      }
    };
    need(required, "");
    for (const [name, list] of entriesOf(dependentRequired)) {
      if (Object.hasOwn(value, name)) need(list, `; ${JSON.stringify(name)} needs it`);
    }
    for (const name of names) {
      if (propertyNames !== undefined && !this.#fits(propertyNames, name)) {
        this.#add([...path, name], "must not be called so");
      }
      this.#member(schema, name, value[name], path);
    }
  }

  #member(schema: Schema, name: string, value: unknown, path: Path): void {
    const { properties, patternProperties, additionalProperties } = schema;
    const at = [...path, name];
    const own = isRecord(properties) && Object.hasOwn(properties, name) ? [properties[name]] : [];
    const matched = entriesOf(patternProperties)
      .filter(([pattern]) => this.#pattern(pattern).test(name))
      .map(([, one]) => one);
    const known = [...own, ...matched];
    if (known.length === 0 && additionalProperties === false) this.#add(at, "is not a known member");
    else for (const one of known.length === 0 ? [additionalProperties] : known) this.schema(one, value, at);
  }

  #combined(schema: Schema, value: unknown, path: Path): void {
    const { $ref, allOf, if: condition, dependentSchemas } = schema;
    if (typeof $ref === "string") this.schema(this.#target($ref), value, path);
    for (const one of listOf(allOf)) this.schema(one, value, path);
    this.#alternatives(schema, value, path);
    if (condition !== undefined) {
      this.schema(this.#fits(condition, value) ? schema["then"] : schema["else"], value, path);
    }
    for (const [name, one] of entriesOf(dependentSchemas)) {
      if (isRecord(value) && Object.hasOwn(value, name)) this.schema(one, value, path);
    }
  }

  #alternatives({ anyOf, oneOf, not }: Schema, value: unknown, path: Path): void {
    const any = listOf(anyOf);
    if (any.length > 0 && !any.some((one) => this.#fits(one, value))) {
      this.#add(path, `fits none of the ${any.length} schemas of anyOf`);
    }
    const one = listOf(oneOf);
    const count = one.filter((schema) => this.#fits(schema, value)).length;
    if (one.length > 0 && count !== 1) {
      this.#add(path, `fits ${count === 0 ? "none" : count} of the ${one.length} schemas of oneOf, not one`);
    }
    if (not !== undefined && this.#fits(not, value)) this.#add(path, "is what not forbids");
  }

  #size(path: Path, of: { size: number; what: string; min: unknown; max: unknown }): void {
    const { size, what, min, max } = of;
    if (typeof min === "number" && size < min)
      this.#add(path, `must have at least ${min} ${what}, not ${size}`);
    if (typeof max === "number" && size > max)
      this.#add(path, `must have at most ${max} ${what}, not ${size}`);
  }

  #pattern(source: string): RegExp {
    const pattern = this.#patterns.get(source) ?? new RegExp(source, "u");
    this.#patterns.set(source, pattern);
    return pattern;
  }

  #target(reference: string): unknown {
    const target = this.#targets.get(reference) ?? resolveReference(this.#root, reference);
    this.#targets.set(reference, target);
    return target;
  }
}

const typeWords: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  integer: "a whole number",
  null: "null",
  number: "a number",
  object: "an object",
  string: "text",
};

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "null":
      return value === null;
    case "object":
      return isRecord(value);
    default:
      return typeof value === type;
  }
}

function isSame(left: unknown, right: unknown): boolean {
  return left === right || canonicalJson(left) === canonicalJson(right);
}

/** Of fractions that no binary number has exactly, too: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, step: number): boolean {
  const quotient = value / step;
  return Math.abs(quotient - Math.round(quotient)) <= Number.EPSILON * 4 * Math.abs(quotient);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function entriesOf(value: unknown): [string, unknown][] {
  return isRecord(value) ? Object.entries(value) : [];
}

/** A value of an answer as a message names it. */
function shownAnswer(value: unknown): string {
  return shown(value, "an object");
}

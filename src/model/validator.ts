import type * as z from "zod/mini";

/**
 * Plain functions for schemas, made by walking a schema once. They say yes or no exactly as the schema does for any
 * JSON value, many times faster: each line of each log passes here. What is wrong only the schema tells.
 */

/** True where the value fits. */
export type Validator = (value: unknown) => boolean;

/** What the schema library keeps of a schema: only what ours use. */
interface Definition {
  readonly type: string;
  readonly checks?: readonly { readonly _zod: { readonly def: CheckDefinition } }[];
  readonly innerType?: Schema;
  readonly element?: Schema;
  readonly values?: readonly unknown[];
  readonly entries?: Readonly<Record<string, unknown>>;
  readonly keyType?: Schema;
  readonly valueType?: Schema;
  readonly shape?: Readonly<Record<string, Schema>>;
  readonly options?: readonly Schema[];
  readonly discriminator?: string;
  readonly fn?: Validator;
}

interface CheckDefinition {
  readonly check: string;
  readonly pattern?: RegExp;
  readonly value?: number;
  readonly inclusive?: boolean;
}

interface Schema {
  readonly _zod: { readonly def: Definition };
}

/** The function for a schema. Throws where the schema uses what no function is known for. */
export function validatorOf(schema: z.ZodMiniType): Validator {
  return make(schema as unknown as Schema);
}

function make(schema: Schema): Validator {
  const { def } = schema._zod;
  const bare = makeBare(def);
  if (def.checks === undefined || def.checks.length === 0) return bare;
  const checks = def.checks.map((check) => makeCheck(check._zod.def));
  return (value) => bare(value) && checks.every((check) => check(value));
}

function makeBare(def: Definition): Validator {
  switch (def.type) {
    case "string":
      return (value) => typeof value === "string";
    case "number":
      return Number.isFinite;
    case "boolean":
      return (value) => typeof value === "boolean";
    case "literal":
      return oneOf(def.values);
    case "enum":
      return oneOf(Object.values(def.entries ?? {}));
    case "optional":
      return optional(inner(def.innerType));
    case "array":
      return arrayOf(inner(def.element));
    case "record":
      return recordOf(inner(def.keyType), inner(def.valueType));
    case "object":
      return objectOf(def.shape ?? {});
    case "union":
      return unionOf(def.discriminator ?? "", def.options ?? []);
    case "custom":
      return def.fn ?? unknownTo(`custom without a function`);
    default:
      return unknownTo(def.type);
  }
}

function makeCheck({ check, pattern, value, inclusive }: CheckDefinition): Validator {
  if (check === "string_format" && pattern !== undefined) return (text) => pattern.test(text as string);
  if (check === "greater_than" && value !== undefined) {
    return inclusive ? (number) => (number as number) >= value : (number) => (number as number) > value;
  }
  return unknownTo(check);
}

function unknownTo(what: string): never {
  throw new Error(`no validator is known for ${what}`);
}

function inner(schema: Schema | undefined): Validator {
  return schema === undefined ? unknownTo("a schema without its inner one") : make(schema);
}

function oneOf(values: readonly unknown[] = []): Validator {
  const [only] = values;
  if (values.length === 1) return (value) => value === only;
  const set = new Set(values);
  return (value) => set.has(value);
}

function optional(validator: Validator): Validator {
  return (value) => value === undefined || validator(value);
}

function arrayOf(element: Validator): Validator {
  return (value) => {
    if (!Array.isArray(value)) return false;
    for (const one of value) if (!element(one)) return false;
    return true;
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function recordOf(key: Validator, member: Validator): Validator {
  return (value) => {
    if (!isObject(value)) return false;
    for (const name of Object.keys(value)) {
      // The schema library drops this one unseen.
      if (name !== "__proto__" && !(key(name) && member(value[name]))) return false;
    }
    return true;
  };
}

/** A member of an object. `plain` spares the call where `typeof` says all. */
interface Member {
  readonly isRequired: boolean;
  readonly plain: "string" | "boolean" | undefined;
  readonly fits: Validator;
}

function memberOf(schema: Schema): Member {
  const { type, checks = [] } = (schema._zod.def.innerType ?? schema)._zod.def;
  const isPlain = (type === "string" || type === "boolean") && checks.length === 0;
  const fits = make(schema);
  return { isRequired: !fits(undefined), plain: isPlain ? type : undefined, fits };
}

/** Goes by the members that are there, which are fewer than those that may be. */
function objectOf(shape: Readonly<Record<string, Schema>>): Validator {
  const members = new Map(Object.entries(shape).map(([name, schema]) => [name, memberOf(schema)]));
  const required = [...members.values()].filter((member) => member.isRequired).length;
  return (value) => {
    if (!isObject(value)) return false;
    let found = 0;
    for (const name in value) {
      const member = members.get(name);
      if (member === undefined) continue;
      const one = value[name];
      if (!(typeof one === member.plain || member.fits(one))) return false;
      if (member.isRequired) found++;
    }
    return found === required;
  };
}

function unionOf(discriminator: string, options: readonly Schema[]): Validator {
  const byValue = new Map<unknown, Validator>();
  for (const option of options) {
    const { values = [] } = option._zod.def.shape?.[discriminator]?._zod.def ?? {};
    if (values.length === 0) unknownTo("a union without a discriminator");
    for (const value of values) byValue.set(value, make(option));
  }
  return (value) => isObject(value) && byValue.get(value[discriminator])?.(value) === true;
}

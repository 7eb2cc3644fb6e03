import type { ErrorObject } from "ajv/dist/2020.js";
import type { Path, Problem } from "../model/problems.ts";
import { shown, writeProblem } from "../model/problems.ts";

/** What the package `ajv` finds wrong, in the words that everything else is told in. */

const problemsMax = 20;

/** What was checked. */
export interface Checked {
  readonly root: unknown;
  /** True where a schema was held against the schema of schemas. */
  readonly isSchema: boolean;
}

/** The problems of a value that was checked with `allErrors` and `verbose`: each once, at most 20. */
export function problemsOfErrors(errors: ValidateErrors, { root, isSchema }: Checked): Problem[] {
  const problems = new Map<string, Problem>();
  for (const error of withoutBranches(errors ?? [])) {
    const path = [...pathOf(error.instancePath, root), ...memberOf(error)];
    const problem = { path, text: isSchema ? wordsOfKeyword(error, path) : wordsOf(error) };
    problems.set(writeProblem(problem), problem);
    if (problems.size === problemsMax) break;
  }
  return [...problems.values()];
}

type ValidateErrors = readonly ErrorObject[] | null | undefined;

/** A JSON pointer as a path: positions of lists are numbers. */
function pathOf(pointer: string, root: unknown): Path {
  let found = root;
  return pointer
    .split("/")
    .slice(1)
    .map((escaped) => {
      const name = escaped.replaceAll("~1", "/").replaceAll("~0", "~");
      const key = Array.isArray(found) ? Number(name) : name;
      found = (found as Readonly<Record<PropertyKey, unknown>> | undefined)?.[key];
      return key;
    });
}

/** The member that is meant, where an error stands at the object that has or lacks it. */
function memberOf({ keyword, params }: ErrorObject): Path {
  const names: Readonly<Record<string, string>> = {
    required: "missingProperty",
    dependentRequired: "missingProperty",
    dependencies: "missingProperty",
    additionalProperties: "additionalProperty",
    unevaluatedProperties: "unevaluatedProperty",
    propertyNames: "propertyName",
  };
  const name: unknown = params[names[keyword] ?? ""];
  return typeof name === "string" ? [name] : [];
}

/**
 * The errors without those of alternatives, each of which would read like a demand. Where all alternatives but one are of
 * another type, that one was meant, and what is wrong by it is told; where all are, their types.
 */
function withoutBranches(errors: readonly ErrorObject[]): ErrorObject[] {
  const kept: ErrorObject[] = [];
  for (const error of errors) {
    // The names' own errors come before the one that says which name it is; what `if` demanded is told by itself.
    if (error.propertyName !== undefined || error.keyword === "if") continue;
    const details: ErrorObject[] = [];
    if (["anyOf", "oneOf", "contains"].includes(error.keyword)) {
      while (isInBranch(kept.at(-1), error)) details.unshift(...kept.splice(-1));
    }
    kept.push(...meant(error, details));
  }
  return kept;
}

/** Errors of alternatives come right before the one of the whole; those of keywords beside it have its very schema. */
function isInBranch(error: ErrorObject | undefined, whole: ErrorObject): boolean {
  if (error === undefined || error.parentSchema === whole.parentSchema) return false;
  return `${error.instancePath}/`.startsWith(`${whole.instancePath}/`);
}

function meant(whole: ErrorObject, details: readonly ErrorObject[]): readonly ErrorObject[] {
  if (whole.keyword === "contains") return [whole];
  const alternatives: unknown = whole.schema;
  const count = Array.isArray(alternatives) ? alternatives.length : 0;
  const isOfOtherType = (error: ErrorObject) =>
    error.keyword === "type" && error.instancePath === whole.instancePath;
  const types = details.filter(isOfOtherType);
  const others = details.filter((error) => !isOfOtherType(error));
  if (others.length > 0) return types.length === count - 1 ? others : [whole];
  const [first] = types;
  if (first === undefined || types.length !== count) return [whole];
  return [{ ...first, params: { type: types.flatMap(({ params }) => typesOf(params)) } }];
}

function typesOf(params: ErrorObject["params"]): string[] {
  return [(params as { type: string | string[] }).type].flat();
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

const formatWords: Readonly<Record<string, string>> = {
  draft: "a draft of JSON Schema from 7 on",
  reference: "a reference into the schema itself (#/$defs/NAME)",
  regex: "a regular expression that takes the flag u",
};

type Params = Readonly<Record<string, unknown>>;
type Words = (params: Params, data: unknown) => string;

const comparisons: Readonly<Record<string, string>> = {
  "<": "less than",
  "<=": "at most",
  ">": "more than",
  ">=": "at least",
};

const bound: Words = ({ comparison, limit }, data) =>
  `must be ${comparisons[String(comparison)] ?? String(comparison)} ${String(limit)}, not ${value(data)}`;

const amount =
  (bounds: "at least" | "at most", what: string): Words =>
  ({ limit }, data) =>
    `must have ${bounds} ${String(limit)} ${what}, not ${sizeOf(data)}`;

const needed: Words = ({ property }) =>
  `is missing${property === undefined ? "" : `; ${JSON.stringify(property)} needs it`}`;
const unknownMember: Words = () => "is not a known member";

/** What is wrong, by the keyword that demands it. */
const words: Readonly<Record<string, Words>> = {
  type: (params, data) => {
    const names = [...new Set(typesOf(params))].map((name) => typeWords[name] ?? name);
    return `must be ${names.join(" or ")}, not ${value(data)}`;
  },
  enum: ({ allowedValues }, data) =>
    `must be ${(allowedValues as unknown[]).map(value).join(" or ")}, not ${value(data)}`,
  const: ({ allowedValue }, data) => `must be ${value(allowedValue)}, not ${value(data)}`,
  format: ({ format }, data) => {
    const name = String(format);
    return `must be ${formatWords[name] ?? `a text of the format ${name}`}, not ${value(data)}`;
  },
  pattern: ({ pattern }, data) => `must match ${String(pattern)}, and is ${value(data)}`,
  minimum: bound,
  maximum: bound,
  exclusiveMinimum: bound,
  exclusiveMaximum: bound,
  multipleOf: ({ multipleOf }, data) => `must be a multiple of ${String(multipleOf)}, not ${value(data)}`,
  minLength: amount("at least", "characters"),
  maxLength: amount("at most", "characters"),
  minItems: amount("at least", "items"),
  maxItems: amount("at most", "items"),
  items: amount("at most", "items"),
  unevaluatedItems: amount("at most", "items"),
  minProperties: amount("at least", "members"),
  maxProperties: amount("at most", "members"),
  uniqueItems: () => "must not have the same item twice",
  contains: ({ minContains, maxContains }) => {
    const most = maxContains === undefined ? "" : ` and at most ${value(maxContains)}`;
    return `must have at least ${String(minContains)}${most} items of the wanted form`;
  },
  required: needed,
  dependentRequired: needed,
  dependencies: needed,
  additionalProperties: unknownMember,
  unevaluatedProperties: unknownMember,
  propertyNames: () => "must not be called so",
  "false schema": () => "must not be there",
  not: () => "is what not forbids",
  anyOf: () => "fits none of the schemas of anyOf",
  oneOf: ({ passingSchemas }) =>
    `fits ${passingSchemas === null ? "none" : "several"} of the schemas of oneOf, not one`,
};

function wordsOf({ keyword, params, data, message = keyword }: ErrorObject): string {
  const say = Object.hasOwn(words, keyword) ? words[keyword] : undefined;
  return say === undefined ? message : say(params, data);
}

/** Keywords of older drafts and other dialects, with what says the same here. */
const instead: Readonly<Record<string, string>> = {
  $id: "only the whole schema may have one",
  additionalItems: "items says it, beside prefixItems",
  nullable: `say type: [..., "null"]`,
};

function wordsOfKeyword(error: ErrorObject, path: Path): string {
  const name = String(path.at(-1));
  if (error.keyword === "unevaluatedProperties" || error.keyword === "false schema") {
    const hint = Object.hasOwn(instead, name) ? `; ${instead[name]}` : "";
    return `is not a keyword that can be checked${hint}`;
  }
  const isType = name === "type" && error.keyword === "anyOf";
  return isType
    ? `must be one or several different types of ${Object.keys(typeWords).join(", ")}`
    : wordsOf(error);
}

function sizeOf(data: unknown): number {
  if (typeof data === "string") return Array.from(data).length;
  return Array.isArray(data) ? data.length : Object.keys(data as object).length;
}

/** A value of an answer as a message names it. */
function value(data: unknown): string {
  return shown(data, "an object");
}

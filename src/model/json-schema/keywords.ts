/**
 * JSON Schema, as much of draft 2020-12 as is checked here: all that speaks of one document by itself. Not in it:
 * schemas elsewhere, anchors, `unevaluated…`, and what older drafts had and this one says differently.
 */

/** Keywords by what their value must be. */
const byForm = {
  /** A schema: of the very value, or of something in it. */
  schema: ["items", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else"],
  schemas: ["prefixItems", "allOf", "anyOf", "oneOf"],
  schemasByName: ["$defs", "definitions", "properties", "dependentSchemas"],
  schemasByPattern: ["patternProperties"],
  names: ["required"],
  namesByName: ["dependentRequired"],
  types: ["type"],
  values: ["enum", "examples"],
  value: ["const", "default"],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
  /** A number above 0. */
  step: ["multipleOf"],
  size: ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"],
  count: ["minContains", "maxContains"],
  flag: ["uniqueItems", "deprecated", "readOnly", "writeOnly"],
  pattern: ["pattern"],
  format: ["format"],
  reference: ["$ref"],
  dialect: ["$schema"],
  identity: ["$id"],
  text: ["title", "description", "$comment"],
} as const;

/** What the value of a keyword must be. */
export type KeywordForm = keyof typeof byForm;

/** Every keyword that is understood, with its form. What is not here is refused: it would not be checked. */
export const keywords: ReadonlyMap<string, KeywordForm> = new Map(
  Object.entries(byForm).flatMap(([form, names]) =>
    names.map((name) => [name, form as KeywordForm] as const),
  ),
);

/** Keywords whose schemas look at the very value that theirs looks at, not at something in it. */
export const inPlaceKeywords = [
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "dependentSchemas",
] as const;

/** The drafts that may be named. All are read by the rules of the newest. */
export const dialects: ReadonlySet<string> = new Set(
  ["draft-07/schema", "draft/2019-09/schema", "draft/2020-12/schema"].flatMap((name) =>
    ["http", "https"].flatMap((scheme) => [
      `${scheme}://json-schema.org/${name}`,
      `${scheme}://json-schema.org/${name}#`,
    ]),
  ),
);

/** The names of types. */
export const typeNames: ReadonlySet<string> = new Set([
  "array",
  "boolean",
  "integer",
  "null",
  "number",
  "object",
  "string",
]);

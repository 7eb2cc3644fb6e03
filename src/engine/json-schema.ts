import type { ValidateFunction } from "ajv/dist/2020.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import { startTimeLimit } from "../host/index.ts";
import type { Problem } from "../model/problems.ts";
import { shown } from "../model/problems.ts";
import type { SchemaChecker } from "../model/schema-checker.ts";
import { formatNames, hasFormat } from "../model/text-formats.ts";
import { textsIn } from "../model/texts.ts";
import { isRecord } from "../model/values.ts";
import { problemsOfErrors } from "./schema-problems.ts";

/** JSON Schema by the package `ajv`. Loaded only where a definition names a schema: no other session needs it. */

/** So long may one schema, or one value, be worked on: patterns and schemas can take time without an end. */
const limitMsDefault = 10_000;

/** A checker; work that takes longer than the limit is stopped, and that is a problem of what was checked. */
export function openSchemaChecker({ limitMs = limitMsDefault } = {}): SchemaChecker {
  const timeLimit = startTimeLimit();
  let dialect: ValidateFunction | undefined;
  const limited = (work: () => Problem[]): Problem[] => {
    try {
      const done = timeLimit(limitMs, work);
      return done.ended ? done.value : ofWhole("takes too long to be checked");
    } catch (error) {
      // Some values trip the package up, and a stack has an end: what was not checked must not pass.
      if (error instanceof RangeError) return ofWhole("leads deeper than can be checked");
      return ofWhole(`cannot be checked: ${messageOf(error)}`);
    }
  };
  return {
    problemsOfSchema: (schema) => {
      const known = (dialect ??= compileDialect());
      return limited(() => problemsOfSchema(schema, known));
    },
    problemsOfValue: (schema, value) => limited(() => problemsOfAnswer(compile(schema).validate, value)),
  };
}

function ofWhole(text: string): Problem[] {
  return [{ path: [], text }];
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** All that is wrong, and not what is wrong first; and `constructor` is a member only where a value has it itself. */
const common = { allErrors: true, verbose: true, ownProperties: true, logger: false } as const;

const drafts = /^https?:\/\/json-schema\.org\/(?:draft-07|draft\/2019-09|draft\/2020-12)\/schema#?$/;

/** What some keywords' texts must be; the words for them are with those of all other problems. */
const formatsOfDialect = {
  draft: (text: string) => drafts.test(text),
  reference: (text: string) => text === "#" || text.startsWith("#/"),
  regex: isPattern,
};

/** The package passes over this one name. */
const named = { propertyNames: { not: { const: "__proto__" } } };

/** The draft, without what is not checked in it: what it does not know is refused, and so are documents elsewhere. */
const schemaOfSchemas = {
  $id: "holdfast:schema",
  $dynamicAnchor: "meta",
  $ref: "https://json-schema.org/draft/2020-12/schema",
  properties: {
    $schema: { format: "draft" },
    $ref: { format: "reference" },
    enum: { minItems: 1 },
    format: { enum: formatNames },
    pattern: { format: "regex" },
    patternProperties: { propertyNames: { format: "regex" } },
    properties: named,
    dependencies: named,
    dependentRequired: named,
    dependentSchemas: named,
    // Known to the draft. What is referred to by a name of its own the package does not always find.
    $id: false,
    $anchor: false,
    $dynamicAnchor: false,
    $dynamicRef: false,
    $recursiveAnchor: false,
    $recursiveRef: false,
    // Known to the draft, and held against nothing.
    $vocabulary: false,
    contentEncoding: false,
    contentMediaType: false,
    contentSchema: false,
  },
  patternProperties: { "^x-": true },
  unevaluatedProperties: false,
};

function isPattern(text: string): boolean {
  try {
    void new RegExp(text, "u");
    return true;
  } catch {
    return false;
  }
}

/** Takes longer than anything that is done with it: once for a checker. */
function compileDialect(): ValidateFunction {
  return new Ajv2020({ ...common, formats: formatsOfDialect, strict: false }).compile(schemaOfSchemas);
}

function problemsOfSchema(schema: unknown, dialect: ValidateFunction): Problem[] {
  if (!isRecord(schema)) return ofWhole(`must be a mapping, not ${shown(schema)}`);
  const { $id, ...body } = schema;
  if ($id !== undefined && typeof $id !== "string") {
    return [{ path: ["$id"], text: `must be text, not ${shown($id)}` }];
  }
  if (!dialect(body)) return problemsOfErrors(dialect.errors, { root: body, isSchema: true });
  return problemsOfCompilation(body);
}

/** Values of each kind: a schema that refers to itself for the very same value is never done with one of them. */
const samples = [null, true, 0, "", [], {}];

function problemsOfCompilation(schema: object): Problem[] {
  let validate: ValidateFunction;
  try {
    const compiled = compile(schema);
    if (compiled.ignored.length > 0) return compiled.ignored.flatMap(ofWhole);
    ({ validate } = compiled);
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return [problemOfCompilation(schema, error)];
  }
  for (const sample of samples) validate(sample);
  return [];
}

function problemOfCompilation(schema: object, error: unknown): Problem {
  const missing =
    isRecord(error) && typeof error["missingRef"] === "string" ? error["missingRef"] : undefined;
  if (missing === undefined) return { path: [], text: `cannot be checked: ${messageOf(error)}` };
  const [place = []] =
    [...textsIn(schema)].find(([path, text]) => path.at(-1) === "$ref" && text === missing) ?? [];
  return { path: place, text: `names no schema of this one: ${shown(missing)}` };
}

/** The schema as a function, and what of it the package says that it would pass over. Throws where it is no schema. */
function compile(schema: unknown): { validate: ValidateFunction; ignored: string[] } {
  if (!isRecord(schema)) throw new TypeError("its schema is no mapping");
  const ignored: string[] = [];
  const note = (message: unknown) => {
    const text = String(message).replace(/^strict mode: /, "");
    if (!text.startsWith('unknown keyword: "x-')) ignored.push(text);
  };
  const ajv = new Ajv2020({
    ...common,
    logger: { log: note, warn: note, error: note },
    // Refused is what would be passed over; not what is unusual, and held against values all the same.
    strictSchema: "log",
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    allowMatchingProperties: true,
    formats: Object.fromEntries(
      formatNames.map((name) => [name, (text: string) => hasFormat(text, name)] as const),
    ),
    // 0.3 is a multiple of 0.1, though no binary number is either of them.
    multipleOfPrecision: 9,
    // Nothing but the schema itself can be referred to.
    meta: false,
    validateSchema: false,
    inlineRefs: false,
  });
  // The name of the whole is for people: nothing refers to it.
  const { $id: _, ...body } = schema;
  return { validate: ajv.compile(body), ignored };
}

function problemsOfAnswer(validate: ValidateFunction, value: unknown): Problem[] {
  return validate(value) ? [] : problemsOfErrors(validate.errors, { root: value, isSchema: false });
}

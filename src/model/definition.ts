import * as z from "zod/mini";
import { Budget, BudgetMs, Capability } from "./document-fields.ts";
import { AgentDefinition } from "./facts.ts";
import type { Path, Problem } from "./problems.ts";
import { problemsOf, writePath } from "./problems.ts";
import type { SchemaChecker } from "./schema-checker.ts";
import { brokenTexts } from "./texts.ts";
import { isRecord } from "./values.ts";

/** The agent definition as people write it: everything that can be wrong with one is found here, at once. */

const nameLengthMax = 64;
const pureRetriesDefault = 3;
const outputPath: Path = ["spec", "output"];

const Name = z.string().check(
  z.refine(
    (name) => name.length <= nameLengthMax && /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(name),
    {
      error: `must be letters and digits, with - _ . between them, at most ${nameLengthMax}`,
    },
  ),
);

/** A text that says something. */
const Words = z.string().check(z.refine((text) => text.trim() !== "", { error: "must say something" }));
const WordList = z.array(Words).check(z.minLength(1));

const DefinitionFile = z.strictObject({
  apiVersion: z.literal("holdfast/v1"),
  kind: z.literal("Agent"),
  metadata: z.strictObject({ name: Name, description: z.optional(Words) }),
  spec: z.strictObject({
    objective: Words,
    instructions: WordList,
    successCriteria: z.optional(WordList),
    capabilities: z.strictObject({ required: z.array(Capability), optional: z.array(Capability) }),
    execution: z.strictObject({
      modelRole: z.enum(["execution", "planning", "summary"]),
      maxTurns: Budget,
      maxWallClockMs: z.optional(BudgetMs),
      maxTokens: z.optional(Budget),
      maxPureRetries: z.optional(z.int().check(z.nonnegative())),
    }),
    output: z.strictObject({
      format: z.enum(["text", "json"]),
      requiredFields: z.optional(WordList),
      schema: z.optional(z.unknown()),
    }),
  }),
});

/** A definition, or everything that is wrong with what should be one. */
export type CheckedDefinition =
  | { readonly definition: AgentDefinition; readonly problems: readonly [] }
  | { readonly definition?: undefined; readonly problems: readonly Problem[] };

/**
 * Checks a value that should be a definition. What it leaves open is filled in, and its sets of capabilities are sorted.
 * The checker must be given where it names a schema, see {@link outputSchemaOf}: a schema that nobody looks at is refused.
 */
export function checkDefinition(value: unknown, schemas: SchemaChecker | undefined): CheckedDefinition {
  if (!isRecord(value)) return { problems: [{ path: [], text: "it is not a mapping" }] };
  const file = DefinitionFile.safeParse(value);
  const problems = [
    ...(file.success ? [] : problemsOf(file.error.issues, value)),
    ...repetitionsIn(value),
    ...problemsOfOutput(at(value, outputPath), schemas),
    ...brokenTexts(value),
  ];
  if (!file.success || problems.length > 0) return { problems };
  return { definition: complete(file.data), problems: [] };
}

/** What stands where a definition names the schema of its answers; undefined where it names none. */
export function outputSchemaOf(value: unknown): unknown {
  return at(value, [...outputPath, "schema"]);
}

function complete(file: z.infer<typeof DefinitionFile>): AgentDefinition {
  const { required, optional } = file.spec.capabilities;
  const { maxPureRetries = pureRetriesDefault } = file.spec.execution;
  return AgentDefinition.parse({
    ...file,
    spec: {
      ...file.spec,
      capabilities: { required: required.toSorted(), optional: optional.toSorted() },
      execution: { ...file.spec.execution, maxPureRetries },
    },
  });
}

function at(value: unknown, path: Path): unknown {
  let found = value;
  for (const name of path) found = isRecord(found) ? found[String(name)] : undefined;
  return found;
}

/** Lists of different things: what one of them names twice, or two of them name both. */
function repetitionsIn(value: unknown): Problem[] {
  const lists: readonly (readonly Path[])[] = [
    [["spec", "instructions"]],
    [["spec", "successCriteria"]],
    [
      ["spec", "capabilities", "required"],
      ["spec", "capabilities", "optional"],
    ],
    [["spec", "output", "requiredFields"]],
  ];
  return lists.flatMap((paths) => {
    const first = new Map<string, Path>();
    return paths
      .flatMap((path) => itemsAt(value, path))
      .flatMap(({ path, item }) => {
        const before = first.get(item);
        if (before === undefined) first.set(item, path);
        return before === undefined ? [] : [{ path, text: `is the same as ${writePath(before)}` }];
      });
  });
}

function itemsAt(value: unknown, path: Path): { path: Path; item: string }[] {
  const list = at(value, path);
  const items: readonly unknown[] = Array.isArray(list) ? list : [];
  return items.flatMap((item, index) =>
    typeof item === "string" && item.trim() !== "" ? [{ path: [...path, index], item }] : [],
  );
}

/** A json output says what it must hold, in exactly one of two ways; a text says nothing of the kind. */
function problemsOfOutput(output: unknown, schemas: SchemaChecker | undefined): Problem[] {
  if (!isRecord(output)) return [];
  const path = outputPath;
  const { format, requiredFields, schema } = output;
  const given = [
    ...(requiredFields === undefined ? [] : ["requiredFields"]),
    ...(schema === undefined ? [] : ["schema"]),
  ];
  const problems = schema === undefined ? [] : problemsOfOutputSchema(schema, schemas);
  if (format === "text") {
    problems.push(...given.map((name) => ({ path: [...path, name], text: "is for format json alone" })));
  } else if (format === "json" && given.length === 0) {
    problems.push({ path, text: "needs requiredFields or schema: they say what a json answer must hold" });
  } else if (format === "json" && given.length === 2) {
    problems.push({ path, text: "has both requiredFields and schema; one of them is enough" });
  }
  return problems;
}

function problemsOfOutputSchema(schema: unknown, schemas: SchemaChecker | undefined): Problem[] {
  const problems = schemas?.problemsOfSchema(schema) ?? [{ path: [], text: "cannot be checked here" }];
  return problems.map(({ path, text }) => ({ path: [...outputPath, "schema", ...path], text }));
}

import fc from "fast-check";
import { LineCounter, parseDocument, stringify } from "yaml";
import { describe, expect, test } from "vitest";
import { openSchemaChecker } from "../../src/engine/json-schema.ts";
import { builtinCapabilities, defaultDefinition } from "../../src/model/default-definition.ts";
import { checkDefinition as check } from "../../src/model/definition.ts";
import { readDocument } from "../../src/model/document.ts";
import type { AgentDefinition } from "../../src/model/facts.ts";
import { AgentDefinition as DefinitionSchema } from "../../src/model/facts.ts";
import { writePath } from "../../src/model/problems.ts";
import type { Json } from "../../src/model/values.ts";
import { anyText } from "./any-text.ts";

const yaml = { LineCounter, parseDocument };
const schemas = openSchemaChecker();
const checkDefinition = (value: unknown) => check(value, schemas);

function read(text: string) {
  return readDocument(new TextEncoder().encode(text), { yaml, what: "the definition agent.yaml" });
}

/** A refusal as people read it. */
function refusalOf(text: string): string {
  const document = read(text);
  const { problems } = checkDefinition(document.value);
  expect(problems).not.toEqual([]);
  return document.refusal([...document.problems, ...problems]).message;
}

/** What is wrong with a definition that differs from a good one as `change` says. */
function problemsOf(change: (file: Good) => void): string[] {
  const file = goodFile();
  change(file);
  return checkDefinition(file).problems.map(({ path, text }) => `${writePath(path)}: ${text}`);
}

// oxlint-disable-next-line typescript/no-explicit-any
type Good = any;

const goodFile = (): Good => ({
  apiVersion: "holdfast/v1",
  kind: "Agent",
  metadata: { name: "fixer" },
  spec: {
    objective: "Fix it.",
    instructions: ["Look first."],
    capabilities: { required: ["read"], optional: [] },
    execution: { modelRole: "execution", maxTurns: 10 },
    output: { format: "text" },
  },
});

describe("a definition", () => {
  test("may leave out what the form marks so, and then it is filled in", () => {
    const { definition, problems } = checkDefinition(goodFile());
    expect(problems).toEqual([]);
    const { spec } = goodFile();
    expect(definition).toEqual({
      ...goodFile(),
      spec: { ...spec, execution: { ...spec.execution, maxPureRetries: 3 } },
    });
  });

  test("says with all its problems at once, each with its path and place, why it is none", () => {
    const text = `apiVersion: holdfast/v2
kind: Robot
metadata: { name: "bad name!", colour: red, description: " " }
spec:
  objective: "  "
  instructions: [look, look, "", 7]
  successCriteria: []
  capabilities: { required: [read, exce, read], optional: [write, read, mcp__a, mcp__a__b] }
  execution:
    modelRole: executor
    maxTurns: 0
    maxWallClockMs: 99999999999
    maxTokens: 1.5
    maxPureRetries: -1
  output: { format: json, requiredFields: [a, a], schema: { type: objekt } }
  extra: 1
also: 2
`;
    expect(refusalOf(text)).toMatchInlineSnapshot(`
      "the definition agent.yaml cannot be used:
        apiVersion: must be holdfast/v1, not "holdfast/v2" (line 1, column 1)
        kind: must be Agent, not "Robot" (line 2, column 1)
        metadata.name: must be letters and digits, with - _ . between them, at most 64, not "bad name!" (line 3, column 13)
        metadata.colour: is not a known field (line 3, column 32)
        metadata.description: must say something, not " " (line 3, column 45)
        spec.objective: must say something, not "  " (line 5, column 3)
        spec.instructions[1]: is the same as spec.instructions[0] (line 6, column 24)
        spec.instructions[2]: must not be empty (line 6, column 30)
        spec.instructions[3]: must be text, not 7 (line 6, column 34)
        spec.successCriteria: must not be empty (line 7, column 3)
        spec.capabilities.required[1]: must be one of read, glob, grep, write, edit, delete, exec, or mcp__SERVER__TOOL, not "exce" (line 8, column 36)
        spec.capabilities.required[2]: is the same as spec.capabilities.required[0] (line 8, column 42)
        spec.capabilities.optional[1]: is the same as spec.capabilities.required[0] (line 8, column 67)
        spec.capabilities.optional[2]: must be one of read, glob, grep, write, edit, delete, exec, or mcp__SERVER__TOOL, not "mcp__a" (line 8, column 73)
        spec.execution.modelRole: must be execution, planning or summary, not "executor" (line 10, column 5)
        spec.execution.maxTurns: must be at least 1, not 0 (line 11, column 5)
        spec.execution.maxWallClockMs: must be at most 2147483647, not 99999999999 (line 12, column 5)
        spec.execution.maxTokens: must be a whole number, not 1.5 (line 13, column 5)
        spec.execution.maxPureRetries: must be at least 0, not -1 (line 14, column 5)
        spec.output: has both requiredFields and schema; one of them is enough (line 15, column 3)
        spec.output.requiredFields[1]: is the same as spec.output.requiredFields[0] (line 15, column 47)
        spec.output.schema.type: must be "array" or "boolean" or "integer" or "null" or "number" or "object" or "string", not "objekt" (line 15, column 61)
        spec.extra: is not a known field (line 16, column 3)
        also: is not a known field (line 17, column 1)"
    `);
  });

  test("that lacks everything is told each thing that it lacks", () => {
    const paths = checkDefinition({}).problems.map(({ path, text }) => `${writePath(path)} ${text}`);
    expect(paths).toEqual([
      "apiVersion is missing",
      "kind is missing",
      "metadata is missing",
      "spec is missing",
    ]);
  });

  test.each(["nothing", 7, null, [], true])("is a mapping, and not %j", (value) => {
    expect(checkDefinition(value).problems).toEqual([{ path: [], text: "it is not a mapping" }]);
  });

  test.each(["fixer", "Fixer2", "a", "ci-fixer_v1.2", "x".repeat(64)])("may be called %s", (name) => {
    expect(problemsOf((file) => (file.metadata.name = name))).toEqual([]);
  });

  test.each(["", " ", "-a", "a-", "a b", "a/b", "ä", "x".repeat(65), "a\nb"])(
    "may not be called %j",
    (name) => {
      expect(problemsOf((file) => (file.metadata.name = name))).toHaveLength(1);
    },
  );

  test.each(["maxTurns", "maxTokens", "maxWallClockMs"])("has a possible budget of %s", (name) => {
    const impossible = [0, -1, 0.5, 1e300, 2 ** 53, Number.NaN, "10", null, true, [1]];
    for (const value of impossible) {
      const found = problemsOf((file) => (file.spec.execution[name] = value));
      expect([value, found.length]).toEqual([value, 1]);
      expect(found[0]).toContain(`spec.execution.${name}: must be`);
    }
    expect(problemsOf((file) => (file.spec.execution[name] = 1))).toEqual([]);
  });

  test("has a wall clock that a timer takes", () => {
    expect(problemsOf((file) => (file.spec.execution.maxWallClockMs = 2 ** 31 - 1))).toEqual([]);
    expect(problemsOf((file) => (file.spec.execution.maxWallClockMs = 2 ** 31))).toHaveLength(1);
  });

  test("may forbid any new try of a pure call", () => {
    expect(problemsOf((file) => (file.spec.execution.maxPureRetries = 0))).toEqual([]);
  });

  test.each(["execution", "planning", "summary"])("may be executed by the model for %s", (role) => {
    expect(problemsOf((file) => (file.spec.execution.modelRole = role))).toEqual([]);
  });

  test("asks for tools that there are, or for those of MCP servers", () => {
    const servers = ["mcp__github__create_issue", "mcp__my-server__a.b-c", "mcp__a_b__c__d"];
    const optional = [...builtinCapabilities.filter((one) => one !== "read"), ...servers];
    expect(problemsOf((file) => (file.spec.capabilities.optional = optional))).toEqual([]);
    for (const bad of [
      "Read",
      "read ",
      "",
      "mcp__",
      "mcp__a",
      "mcp__a__",
      "mcp____b",
      "constructor",
      "mcp__a b__c",
    ])
      expect(problemsOf((file) => (file.spec.capabilities.optional = [bad]))).toHaveLength(1);
  });

  test("names no capability twice, also not as required and optional", () => {
    expect(problemsOf((file) => (file.spec.capabilities.optional = ["write", "read"]))).toEqual([
      "spec.capabilities.optional[1]: is the same as spec.capabilities.required[0]",
    ]);
  });

  test("says of a json answer what it must hold, in exactly one way; of a text nothing of the kind", () => {
    const output = (members: object) => problemsOf((file) => (file.spec.output = members));
    expect(output({ format: "json", requiredFields: ["a"] })).toEqual([]);
    expect(output({ format: "json", schema: { type: "object" } })).toEqual([]);
    expect(output({ format: "json" })).toEqual([
      "spec.output: needs requiredFields or schema: they say what a json answer must hold",
    ]);
    expect(output({ format: "json", requiredFields: ["a"], schema: {} })).toEqual([
      "spec.output: has both requiredFields and schema; one of them is enough",
    ]);
    expect(output({ format: "text", requiredFields: ["a"], schema: {} })).toEqual([
      "spec.output.requiredFields: is for format json alone",
      "spec.output.schema: is for format json alone",
    ]);
    expect(output({ format: "json", requiredFields: [] })).toEqual([
      "spec.output.requiredFields: must not be empty",
    ]);
    expect(output({ format: "json", schema: { requierd: ["a"] } })).toEqual([
      "spec.output.schema.requierd: is not a keyword that can be checked",
    ]);
    expect(output({ format: "json", schema: null })).toHaveLength(1);
    const file = goodFile();
    file.spec.output = { format: "json", schema: {} };
    expect(check(file, undefined).problems).toEqual([
      { path: ["spec", "output", "schema"], text: "cannot be checked here" },
    ]);
  });

  test("holds no half of a character, which could not be written as it is", () => {
    expect(problemsOf((file) => (file.spec.objective = "a\ud800"))).toEqual([
      "spec.objective: holds half a character",
    ]);
  });

  test("that was made for sessions without one is one", () => {
    expect(checkDefinition(defaultDefinition)).toEqual({ definition: defaultDefinition, problems: [] });
  });
});

describe("the file of a definition", () => {
  const refused: Record<string, string | Uint8Array> = {
    "is not empty": "",
    "is UTF-8": new Uint8Array([0x6b, 0xff]),
    "is one document": `${stringify(goodFile())}---\n${stringify(goodFile())}`,
    "is not nested without end": `spec: ${"[".repeat(20_000)}`,
    "gives a field once": `${stringify(goodFile())}kind: Agent\n`,
    "has no more aliases than a person writes":
      "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" +
      [1, 2, 3, 4, 5, 6, 7, 8]
        .map(
          (level) =>
            `a${level}: &a${level} [${Array(9)
              .fill(`*a${level - 1}`)
              .join(",")}]\n`,
        )
        .join(""),
    "has no tag": "kind: !!js/function x\n",
  };
  test.each(Object.entries(refused))("%s", (_, content) => {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    expect(() => readDocument(bytes, { yaml, what: "it" })).toThrow(/^it (cannot be used:|is not UTF-8)/);
  });

  test("may be JSON", () => {
    const { value, problems } = read(JSON.stringify(goodFile(), undefined, "\t"));
    expect(problems).toEqual([]);
    expect(checkDefinition(value).problems).toEqual([]);
  });
});

/** Texts that a definition may hold. */
const words = anyText.map((text) => text.toWellFormed()).filter((text) => text.trim() !== "");
const list = fc.uniqueArray(words, { minLength: 1, maxLength: 4 });
const budget = fc.integer({ min: 1, max: 2 ** 31 - 1 });

const definitions: fc.Arbitrary<AgentDefinition> = fc
  .tuple(
    fc.stringMatching(/^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,20}[A-Za-z0-9])?$/),
    fc.record({ description: words }, { requiredKeys: [] }),
    words,
    list,
    fc.record({ successCriteria: list }, { requiredKeys: [] }),
    fc.shuffledSubarray([...builtinCapabilities, "mcp__a__b"]),
    fc.nat({ max: 8 }),
    fc.record(
      { maxTurns: budget, maxWallClockMs: budget, maxTokens: budget, maxPureRetries: fc.nat() },
      { requiredKeys: ["maxTurns", "maxPureRetries"] },
    ),
    fc.oneof(
      fc.constant<{ format: "text" }>({ format: "text" }),
      fc.record({ format: fc.constant("json" as const), requiredFields: list }),
      fc.record({
        format: fc.constant("json" as const),
        schema: fc.constant<Json>({ type: "object", required: ["a"] }),
      }),
    ),
  )
  .map(([name, about, objective, instructions, criteria, capabilities, cut, budgets, output]) => ({
    apiVersion: "holdfast/v1",
    kind: "Agent",
    metadata: { name, ...about },
    spec: {
      objective,
      instructions,
      ...criteria,
      capabilities: {
        required: capabilities.slice(0, cut).toSorted(),
        optional: capabilities.slice(cut).toSorted(),
      },
      execution: { modelRole: "planning", ...budgets },
      output,
    },
  }));

/** Every place in a value where something can be put in the place of what is there. */
function* placesIn(
  value: unknown,
  path: readonly (string | number)[] = [],
): Generator<readonly (string | number)[]> {
  if (path.length > 0) yield path;
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    yield* placesIn(member, [...path, Array.isArray(value) ? Number(key) : key]);
  }
}

function changed(
  value: Good,
  path: readonly (string | number)[],
  change: (parent: Good, key: string | number) => void,
): Good {
  const copy = structuredClone(value);
  let parent = copy;
  for (const key of path.slice(0, -1)) parent = parent[key];
  change(parent, path.at(-1) ?? "");
  return copy;
}

describe("any definition", () => {
  test("is taken as it is, and read again from YAML and from JSON it is equal", () => {
    fc.assert(
      fc.property(definitions, (definition) => {
        for (const text of [stringify(definition), JSON.stringify(definition)]) {
          const document = read(text);
          expect(document.problems).toEqual([]);
          expect(checkDefinition(document.value)).toEqual({ definition, problems: [] });
        }
        expect(DefinitionSchema.parse(definition)).toEqual(definition);
      }),
    );
  });

  test("is the same, in whatever order its sets of capabilities are written", () => {
    fc.assert(
      fc.property(definitions, (definition) => {
        const other = structuredClone(definition);
        other.spec.capabilities.required.reverse();
        other.spec.capabilities.optional.reverse();
        expect(checkDefinition(other)).toEqual({ definition, problems: [] });
      }),
    );
  });

  test("with something of another kind anywhere is refused, at that very place", () => {
    const wrong = fc.constantFrom<unknown>(null, {}, -0.5, ["x", {}], "\ud800");
    fc.assert(
      fc.property(definitions, fc.nat(), wrong, (definition, pick, value) => {
        // A schema is a document of its own.
        const places = [...placesIn(definition)].filter((path) => path[2] !== "schema");
        const path = places[pick % places.length] ?? [];
        const broken = changed(definition, path, (parent, key) => (parent[key] = value));
        const { problems } = checkDefinition(broken);
        const at = path.map(String);
        expect(problems.some((one) => at.every((key, index) => String(one.path[index]) === key))).toBe(true);
      }),
    );
  });

  test("with a field that nobody knows is refused, by its name", () => {
    fc.assert(
      fc.property(definitions, fc.nat(), (definition, pick) => {
        const mappings = [[], ...placesIn(definition)].filter((path) => {
          const found = path.reduce<Good>((value, key) => value[key], definition);
          return typeof found === "object" && !Array.isArray(found) && path[2] !== "schema";
        });
        const path = [...(mappings[pick % mappings.length] ?? []), "colour"];
        const broken = changed(definition, path, (parent, key) => (parent[key] = "red"));
        expect(checkDefinition(broken).problems).toContainEqual({ path, text: "is not a known field" });
      }),
    );
  });

  test("or anything else that JSON can say never makes the check fall over", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const { definition, problems } = checkDefinition(value);
        expect(definition === undefined).toBe(problems.length > 0);
      }),
    );
  });
});

import { readFileSync, readdirSync } from "node:fs";
import { LineCounter, parseDocument } from "yaml";
import { expect, test } from "vitest";
import { openSchemaChecker } from "../../src/engine/json-schema.ts";
import { builtinCapabilities } from "../../src/model/default-definition.ts";
import { checkDefinition as check } from "../../src/model/definition.ts";
import { readDocument } from "../../src/model/document.ts";
import { checkPolicy } from "../../src/model/policy-file.ts";
import { formatNames } from "../../src/model/text-formats.ts";
import { codeIn } from "../house/documents.ts";

/** What the document says of definitions and policies, held against what the program does. */

const schemas = openSchemaChecker();
const checkDefinition = (value: unknown) => check(value, schemas);

const document = readFileSync("docs/agent-definition.md", "utf8");

/** The first example that begins so. */
function example(start: string): unknown {
  const blocks = document.match(/(?:^ {4}.*\n)+/gm)?.map((block) => block.replaceAll(/^ {4}/gm, "")) ?? [];
  const text = blocks.find((block) => block.startsWith(start)) ?? "";
  const bytes = new TextEncoder().encode(text);
  return readDocument(bytes, { yaml: { LineCounter, parseDocument }, what: "the example" }).value;
}

/** The names in the first column of the table below a heading. */
function namesIn(heading: string): string[] {
  const section = document.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  const rows = section.match(/^\| `[^|]*\|/gm) ?? [];
  return rows.flatMap((row) => codeIn(row));
}

/** Every field in a value, by its path. */
function fieldsOf(value: unknown, path = ""): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [path];
  return Object.entries(value).flatMap(([name, member]) =>
    fieldsOf(member, path === "" ? name : `${path}.${name}`),
  );
}

test("the definition of the document is one", () => {
  expect(checkDefinition(example("apiVersion")).problems).toEqual([]);
});

test("the policy of the document is one", () => {
  expect(checkPolicy(example("{")).problems).toEqual([]);
});

test("each field that the document names is a field, and no other is", () => {
  const named = namesIn("A definition");
  const example = {
    description: "d",
    successCriteria: ["c"],
    maxWallClockMs: 1,
    maxTokens: 1,
    maxPureRetries: 1,
  };
  const { description, successCriteria, ...budgets } = example;
  const output = { format: "json", requiredFields: ["a"] };
  const definition = {
    apiVersion: "holdfast/v1",
    kind: "Agent",
    metadata: { name: "a", description },
    spec: {
      objective: "o",
      instructions: ["i"],
      successCriteria,
      capabilities: { required: [], optional: [] },
      execution: { modelRole: "execution", maxTurns: 1, ...budgets },
      output,
    },
  };
  expect(checkDefinition(definition).problems).toEqual([]);
  expect(named.toSorted()).toEqual([...fieldsOf(definition), "spec.output.schema"].toSorted());
  const members = namesIn("A policy");
  const policy = {
    ...Object.fromEntries(["allowedCapabilities", "deniedCapabilities", "passEnv"].map((name) => [name, []])),
    allowShell: true,
    allowMcp: true,
    maxTurns: 1,
    maxTokens: 1,
    maxWallClockMs: 1,
    approvals: {},
  };
  expect(checkPolicy(policy).problems).toEqual([]);
  expect(members.toSorted()).toEqual(Object.keys(policy).toSorted());
});

test("each capability of the built-in agent is named", () => {
  const [, sentence = ""] = /A capability is the name of a tool: ([^.]*)\./.exec(document) ?? [];
  expect(codeIn(sentence)).toEqual([...builtinCapabilities, "mcp__SERVER__TOOL"]);
});

/** Every keyword that the draft knows, and some of other drafts and dialects. */
function knownKeywords(): string[] {
  const folder = "node_modules/ajv/dist/refs/json-schema-2020-12";
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".json"),
  );
  const names = files.flatMap((name) => {
    const text = readFileSync(`${folder}/${name}`, "utf8");
    return Object.keys((JSON.parse(text) as { properties: object }).properties);
  });
  return [...new Set([...names, "additionalItems", "nullable", "discriminator", "id", "$async", "example"])];
}

test("each keyword of a schema that the document names is checked, and no other is", () => {
  const [, table = ""] = document.split("| about | keywords |");
  const named = codeIn(table.split("\n\n")[0] ?? "").filter((name) => !/[#…]/.test(name));
  const checked = knownKeywords().filter((name) =>
    schemas.problemsOfSchema({ [name]: null }).every(({ path, text }) => {
      return path[0] !== name || !text.startsWith("is not a keyword");
    }),
  );
  expect(checked.length).toBeGreaterThan(40);
  expect(named.toSorted()).toEqual([...checked, ...formatNames].toSorted());
});

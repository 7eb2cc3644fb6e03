import { readFileSync } from "node:fs";
import { LineCounter, parseDocument } from "yaml";
import { expect, test } from "vitest";
import { builtinCapabilities } from "../../src/model/default-definition.ts";
import { checkDefinition } from "../../src/model/definition.ts";
import { readDocument } from "../../src/model/document.ts";
import { formatNames } from "../../src/model/json-schema/format.ts";
import { keywords } from "../../src/model/json-schema/keywords.ts";
import { checkPolicy } from "../../src/model/policy-file.ts";
import { codeIn } from "../house/documents.ts";

/** What the document says of definitions and policies, held against what the program does. */

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

test("each keyword of a schema that the document names is checked, and no other is", () => {
  const [, table = ""] = document.split("| about | keywords |");
  const named = codeIn(table.split("\n\n")[0] ?? "").filter((name) => !/[#…]/.test(name));
  expect(named.toSorted()).toEqual([...keywords.keys(), ...formatNames].toSorted());
});

import { describe, expect, test } from "vitest";
import { openSchemaChecker } from "../../src/engine/json-schema.ts";
import type { AgentDefinition } from "../../src/model/facts.ts";
import { faultOfOutput as faultOf, instructionOf } from "../../src/model/output-contract.ts";

const schemas = openSchemaChecker();
const faultOfOutput = (output: AgentDefinition["spec"]["output"], text: string) =>
  faultOf(output, text, schemas);

const fields = { format: "json" as const, requiredFields: ["summary", "files"] };
const schema = {
  format: "json" as const,
  schema: {
    type: "object",
    required: ["files"],
    properties: { files: { type: "array", items: { type: "string" } } },
  },
};

describe("an answer that shall be text", () => {
  test("may be any, and the model is told nothing", () => {
    for (const text of ["", "Done.", "{"]) expect(faultOfOutput({ format: "text" }, text)).toBeUndefined();
    expect(instructionOf({ format: "text" })).toBeUndefined();
  });
});

describe("an answer that shall be json", () => {
  test("is an object with the required members, whatever they hold and whatever is beside them", () => {
    for (const text of ['{"summary":null,"files":[]}', ' {"files":0,"summary":"","more":{}}\n']) {
      expect(faultOfOutput(fields, text)).toBeUndefined();
    }
  });

  test.each([
    ['{"summary":"x"}', "files: is missing"],
    ["{}", "summary: is missing; files: is missing"],
    ["[]", "it is no object, but a list"],
    ["null", "it is no object, but null"],
    ["", "it is empty"],
    ["Here it is: {}", "it is not JSON: Unexpected token"],
    ['{"summary":1', "it is not JSON: "],
    ['```json\n{"summary":1,"files":[]}\n```', "it is not JSON: it stands in a code fence"],
    ['{"summary":1,"files":[]} {}', "it is not JSON: "],
    ['{"__proto__":{"summary":1,"files":1}}', "summary: is missing; files: is missing"],
    [`{"summary":1,"files":${"[".repeat(300)}${"]".repeat(300)}}`, "it is nested deeper than 256 levels"],
  ])("is none where it is %j, and what is wrong is named", (text, words) => {
    expect(faultOfOutput(fields, text)).toContain(
      `the answer does not keep to the definition's output: ${words}`,
    );
  });

  test("satisfies the schema, or what does not is named", () => {
    expect(faultOfOutput(schema, '{"files":["a"]}')).toBeUndefined();
    expect(faultOfOutput(schema, '{"files":["a",1]}')).toContain("files[1]: must be text, not 1");
    expect(faultOfOutput(schema, "{}")).toContain("files: is missing");
  });

  test("is at fault where nobody can hold it to its schema", () => {
    expect(faultOf(schema, '{"files":["a"]}', undefined)).toContain("its schema cannot be checked here");
    expect(faultOf(fields, '{"summary":1,"files":1}', undefined)).toBeUndefined();
  });

  test("is refused in few words, however much is wrong with it", () => {
    const long = JSON.stringify({ files: Array.from({ length: 9999 }, () => ({ ["n".repeat(9999)]: 1 })) });
    expect(faultOfOutput(schema, long)?.length).toBeLessThan(10_000);
  });

  test("is what the model is told", () => {
    expect(instructionOf(fields)).toMatch(
      /one JSON object with the members "summary", "files"\. .*no code fence/,
    );
    expect(instructionOf(schema)).toMatch(/satisfies this JSON Schema\. .*\n\{"properties":/);
  });
});

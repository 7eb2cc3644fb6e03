import { canonicalJson } from "./canonical-json.ts";
import { nestingMax } from "./document.ts";
import type { AgentDefinition } from "./facts.ts";
import type { Problem } from "./problems.ts";
import { shown, writeProblem } from "./problems.ts";
import type { SchemaChecker } from "./schema-checker.ts";
import { isRecord } from "./values.ts";

/** What a final answer must be, by the definition: told to the model, and held against what it answers. */

type Output = AgentDefinition["spec"]["output"];

/** Names of members are the model's own, of any length. */
const problemLengthMax = 300;

/** What the model is told of it; undefined where any text will do. */
export function instructionOf({ format, requiredFields, schema }: Output): string | undefined {
  if (format === "text") return undefined;
  const form =
    schema === undefined
      ? `one JSON object with the members ${(requiredFields ?? []).map((name) => JSON.stringify(name)).join(", ")}`
      : "one JSON document that satisfies this JSON Schema";
  const more = schema === undefined ? "" : `\n${canonicalJson(schema)}`;
  return `Your final answer must be ${form}. It is read by a program: write nothing before or after it, no prose and no code fence.${more}`;
}

/**
 * Why an answer is not what the definition demands, for people; undefined where it is. The checker must be given where
 * the output names a schema: an answer that nobody holds to it is at fault.
 */
export function faultOfOutput(
  output: Output,
  text: string,
  schemas: SchemaChecker | undefined,
): string | undefined {
  if (output.format === "text") return undefined;
  const problems = problemsOfAnswer(output, text, schemas);
  if (problems.length === 0) return undefined;
  const words = problems.map((problem) => writeProblem(problem).slice(0, problemLengthMax));
  return `the answer does not keep to the definition's output: ${words.join("; ")}`;
}

function problemsOfAnswer(
  { requiredFields, schema }: Output,
  text: string,
  schemas: SchemaChecker | undefined,
): Problem[] {
  if (text.trim() === "") return [{ path: [], text: "it is empty" }];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const why = text.trimStart().startsWith("```") ? "it stands in a code fence" : String(error);
    return [{ path: [], text: `it is not JSON: ${why.replace(/^SyntaxError: /, "")}` }];
  }
  if (isNestedDeeper(value, nestingMax)) {
    return [{ path: [], text: `it is nested deeper than ${nestingMax} levels` }];
  }
  if (schema !== undefined) {
    return (
      schemas?.problemsOfValue(schema, value) ?? [{ path: [], text: "its schema cannot be checked here" }]
    );
  }
  if (!isRecord(value)) return [{ path: [], text: `it is no object, but ${shown(value)}` }];
  return (requiredFields ?? [])
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => ({ path: [name], text: "is missing" }));
}

function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isNestedDeeper(member, levels - 1));
}

import * as z from "zod/mini";
import type { Json } from "../../../model/values.ts";

/** Arguments of a tool, declared once: what the model is told about them and how they are checked. */
export interface ToolArguments<T> {
  /** JSON Schema, as the model sees it. */
  readonly parameters: Json;
  /** The arguments, or every problem with its place, in words for the model. */
  parse(
    args: Json,
  ): { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };
}

/** Derives both from one schema, which must be an object that refuses unknown members. */
export function declareArguments<S extends z.ZodMiniObject>(schema: S): ToolArguments<z.output<S>> {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema);
  const known = Object.keys(schema.shape);
  return {
    parameters: JSON.parse(JSON.stringify(parameters)) as Json,
    parse(args) {
      const parsed = schema.safeParse(args);
      if (parsed.success) return { ok: true, value: parsed.data };
      const problems = parsed.error.issues.flatMap((issue) => describeIssue(issue, args, known));
      return { ok: false, message: `The arguments are not valid:\n${problems.join("\n")}` };
    },
  };
}

type Issue = z.core.$ZodIssue;

function describeIssue(issue: Issue, args: Json, known: readonly string[]): string[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => `- ${key}: unknown argument; there are ${known.join(", ")}`);
  }
  const at = issue.path.map(String).join(".") || "(all)";
  return [`- ${at}: ${problemOf(issue, valueAt(args, issue.path))}`];
}

function problemOf(issue: Issue, value: unknown): string {
  if (issue.code === "invalid_type") {
    if (value === undefined) return `is missing; expected ${issue.expected}`;
    return `expected ${issue.expected}, received ${typeName(value)}`;
  }
  if (issue.code === "too_small") return `must be at least ${issue.minimum}`;
  if (issue.code === "too_big") return `must be at most ${issue.maximum}`;
  return "is not valid";
}

function valueAt(args: Json, path: readonly PropertyKey[]): unknown {
  let value: unknown = args;
  for (const key of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "number" && !Number.isInteger(value) ? `number ${value}` : typeof value;
}

import type * as z from "zod/mini";
import { HoldfastError } from "./errors.ts";
import { isRecord } from "./values.ts";

/** What is wrong with something that people or models wrote: everything at once, each with its path, in plain words. */

/** Names and positions, from the root on. */
export type Path = readonly PropertyKey[];

/** One thing that is wrong. */
export interface Problem {
  readonly path: Path;
  /** What it is, as it follows the path and a colon: `must be text, not 7`. */
  readonly text: string;
}

const problemsShownMax = 100;

/** The refusal of `what`, with everything that is wrong with it. Each of `problems` is one line. */
export function refusal(what: string, problems: readonly string[]): HoldfastError {
  const shown = problems.slice(0, problemsShownMax).map((problem) => `\n  ${problem}`);
  const rest = problems.length - shown.length;
  if (rest > 0) shown.push(`\n  and ${rest} more`);
  return new HoldfastError("usage", `${what} cannot be used:${shown.join("")}`);
}

/** A path as people write one: `spec.instructions[2]`, `args["odd key"].n`. */
export function writePath(path: Path): string {
  const written = path.map((key) => {
    if (typeof key === "number") return `[${key}]`;
    return /^[A-Za-z_$][\w$]*$/.test(String(key)) ? `.${String(key)}` : `[${JSON.stringify(String(key))}]`;
  });
  return written.join("").replace(/^\./, "");
}

/** A problem as one line; one of the whole has no path. */
export function writeProblem({ path, text }: Problem): string {
  return path.length === 0 ? text : `${writePath(path)}: ${text}`;
}

/**
 * What a schema finds wrong with `root`, of each thing the narrowest. `besides` words a field that a mapping may not
 * have, where it is no unknown one.
 */
export function problemsOf(
  issues: readonly z.core.$ZodIssue[],
  root: unknown,
  { prefix = [], besides }: { prefix?: Path; besides?: (path: Path) => string | undefined } = {},
): Problem[] {
  const problems = issues.flatMap((issue): Problem[] => {
    const path = [...prefix, ...issue.path];
    if (issue.code === "unrecognized_keys") {
      const text = besides?.(issue.path) ?? "is not a known field";
      return issue.keys.map((key) => ({ path: [...path, key], text }));
    }
    let found = root;
    for (const key of issue.path) found = (found as Record<PropertyKey, unknown> | undefined)?.[key];
    if (found === undefined) return [{ path, text: "is missing" }];
    const isEmpty = found === "" || (Array.isArray(found) && found.length === 0);
    return [{ path, text: isEmpty ? "must not be empty" : `${demandOf(issue)}, not ${shown(found)}` }];
  });
  return [...new Map(problems.map((problem) => [writePath(problem.path), problem])).values()];
}

const kindNames: Readonly<Record<string, string>> = {
  string: "text",
  int: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "a mapping",
  record: "a mapping",
};

function demandOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type") return `must be ${kindNames[issue.expected] ?? issue.expected}`;
  if (issue.code === "invalid_value") return `must be ${oneOf(issue.values.map(String))}`;
  if (issue.code === "too_small") return `must be at least ${issue.minimum}`;
  return issue.code === "too_big" ? `must be at most ${issue.maximum}` : issue.message;
}

/** Alternatives in a sentence: `a, b or c`. */
function oneOf(words: readonly string[]): string {
  const [last = "", ...before] = words.toReversed();
  return before.length === 0 ? last : `${before.toReversed().join(", ")} or ${last}`;
}

const shownLengthMax = 60;

/** A value as a message names it: short, and what holds others only by its kind. */
export function shown(value: unknown, mapping = "a mapping"): string {
  if (Array.isArray(value)) return "a list";
  if (isRecord(value)) return mapping;
  const text = JSON.stringify(value);
  return text.length > shownLengthMax ? `${text.slice(0, shownLengthMax)}…` : text;
}

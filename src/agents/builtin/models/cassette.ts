import { LineCounter, parseDocument } from "yaml";
import type * as z from "zod/mini";
import type { Cassette, CassetteTurn } from "../../../model/cassette.ts";
import { CassetteFile, cassetteDepthMax, schemaOfTurn } from "../../../model/cassette.ts";
import { contradictionsOf } from "../../../model/cassette-rules.ts";
import { HoldfastError } from "../../../model/errors.ts";
import { isRecord } from "./json.ts";

/** Recorded answers of a model, in a file that people write too: YAML or JSON, read strictly. */

type Path = readonly PropertyKey[];
interface Problem {
  readonly path: Path;
  readonly text: string;
}

const problemsShownMax = 100;
const aliasesMax = 100;

/**
 * Reads a cassette. Throws `usage` that lists everything that is wrong with it at once, each with its place; what it
 * does not know it refuses, for a misspelt field would silently change what a run does.
 */
export function parseCassette(bytes: Uint8Array, name: string): Cassette {
  const problems: Problem[] = [];
  const value = plainValue(readDocument(textOf(bytes, name), name), [], problems);
  if (!isRecord(value)) throw refusal(name, ["it is not a mapping with the fields cassette and turns"]);
  const file = CassetteFile.safeParse(value);
  if (!file.success) problems.push(...problemsOf(file.error.issues, value, []));
  const turns: CassetteTurn[] = [];
  const listed = Array.isArray(value["turns"]) ? value["turns"] : [];
  listed.forEach((turn, index) => {
    const result = schemaOfTurn(turn).safeParse(turn);
    if (result.success) turns.push(result.data);
    else problems.push(...problemsOf(result.error.issues, turn, ["turns", index]));
  });
  listed.forEach((turn, index) => {
    for (const { path, text } of contradictionsOf(turn)) {
      problems.push({ path: ["turns", index, ...path], text });
    }
  });
  if (problems.length > 0)
    throw refusal(
      name,
      problems.map(({ path, text }) => `${writePath(path)}: ${text}`),
    );
  return { turns };
}

function refusal(name: string, problems: readonly string[]): HoldfastError {
  const shown = problems.slice(0, problemsShownMax).map((problem) => `\n  ${problem}`);
  const rest = problems.length - shown.length;
  if (rest > 0) shown.push(`\n  and ${rest} more`);
  return new HoldfastError("usage", `The cassette ${name} cannot be used:${shown.join("")}`);
}

function textOf(bytes: Uint8Array, name: string): string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new HoldfastError("usage", `The cassette ${name} is not UTF-8 text.`, { cause });
  }
  if (text.trim() === "") throw refusal(name, ["it is empty"]);
  return text;
}

/** Where the parser's own words speak of its options. */
const faultWords: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: "this field was given before",
  MULTIPLE_DOCS: "a second document begins here",
  NON_STRING_KEY: "a field's name must be text",
};

/** JSON is YAML too. Whole numbers come as bigint, so that none is rounded before it is looked at. */
function readDocument(text: string, name: string): unknown {
  const options = { intAsBigInt: true, stringKeys: true, prettyErrors: false };
  const lines = new LineCounter();
  const document = parseDocument(text, { ...options, lineCounter: lines });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    if (faults.some((fault) => fault.code === "RESOURCE_EXHAUSTION")) {
      throw refusal(name, [`it is nested deeper than ${cassetteDepthMax} levels`]);
    }
    const described = faults.map(({ pos, code, message }) => {
      const { line, col } = lines.linePos(pos[0]);
      return `line ${line}, column ${col}: ${faultWords[code] ?? message}`;
    });
    throw refusal(name, described);
  }
  try {
    return document.toJS({ maxAliasCount: aliasesMax });
  } catch (cause) {
    // An alias of nothing, or aliases of aliases that would fill the memory.
    throw refusal(name, [cause instanceof Error ? cause.message : String(cause)]);
  }
}

/** The value as JSON can say it exactly; what JSON cannot say is a problem, not a rounding. */
function plainValue(value: unknown, path: Path, problems: Problem[]): unknown {
  if (path.length > cassetteDepthMax) {
    problems.push({ path: path.slice(0, 4), text: `is nested deeper than ${cassetteDepthMax} levels` });
    return null;
  }
  if (typeof value === "bigint" || typeof value === "number") return plainNumber(value, path, problems);
  if (Array.isArray(value)) return value.map((item, index) => plainValue(item, [...path, index], problems));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([key, item]) => [key, plainValue(item, [...path, key], problems)]));
}

function plainNumber(value: bigint | number, path: Path, problems: Problem[]): number {
  const number = Number(value);
  if (!Number.isFinite(number)) problems.push({ path, text: "is no number that JSON has" });
  else if (typeof value === "bigint" && !Number.isSafeInteger(number)) {
    problems.push({ path, text: `${value} cannot be kept exactly; give the arguments as argsText` });
  }
  return number;
}

function problemsOf(issues: readonly z.core.$ZodIssue[], root: unknown, prefix: Path): Problem[] {
  return issues.flatMap((issue) => {
    const path = [...prefix, ...issue.path];
    if (issue.code === "unrecognized_keys") {
      const isBesideError = issue.path.length === 0 && isRecord(root) && "error" in root;
      const text = isBesideError ? "cannot stand beside error" : "is not a known field";
      return issue.keys.map((key) => ({ path: [...path, key], text }));
    }
    let found = root;
    for (const key of issue.path) found = (found as Record<PropertyKey, unknown> | undefined)?.[key];
    if (found === undefined) return [{ path, text: "is missing" }];
    return [{ path, text: found === "" ? "must not be empty" : `${demandOf(issue)}, not ${shown(found)}` }];
  });
}

const kindNames: Readonly<Record<string, string>> = {
  string: "text",
  int: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "a mapping",
};

function demandOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type") return `must be ${kindNames[issue.expected] ?? issue.expected}`;
  if (issue.code === "invalid_value") return `must be ${issue.values.map(String).join(" or ")}`;
  if (issue.code === "too_small") return `must be at least ${issue.minimum}`;
  return issue.code === "too_big" ? `must be at most ${issue.maximum}` : issue.message;
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (isRecord(value)) return "a mapping";
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function writePath(path: Path): string {
  const written = path.map((key) => {
    if (typeof key === "number") return `[${key}]`;
    return /^[A-Za-z_]\w*$/.test(String(key)) ? `.${String(key)}` : `[${JSON.stringify(String(key))}]`;
  });
  return written.join("").replace(/^\./, "");
}

import { isDiskError, isStreamError, isSystemError } from "../host/index.ts";
import type { ErrorCode, ErrorDetails } from "../model/errors.ts";
import { errorTable, isHoldfastError } from "../model/errors.ts";
import { printedSchema } from "../model/printed-line.ts";
import type { Call } from "./call.ts";
import type { LightOutside } from "./outside.ts";
import { documentOf } from "./document.ts";
import { Screen } from "./screen.ts";
import { widthOf } from "./text/width.ts";
import { wrapText } from "./text/wrap.ts";

/** How a command that failed says so, in every form. */

/** What is told of an error. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string;
  readonly candidates?: readonly string[];
  /** For `not_resumable`: why, as a code. */
  readonly reason?: string;
}

/** What is told of anything that was thrown. */
export function failureOf(error: unknown, call: Pick<Call<LightOutside>, "program">): Failure {
  // What no verb expected of the disk is still the disk's fault and not ours; so is a part of the program that exists and
  // that the system does not open.
  if (isDiskError(error) || isStreamError(error) || isSystemError(error)) {
    return { code: "io_error", message: error.message };
  }
  if (!isHoldfastError(error)) return { code: "internal", message: `internal: ${messageOf(error)}` };
  const { hint, candidates, reason }: ErrorDetails = error.details;
  return {
    code: error.code,
    message: error.message,
    ...(hint !== undefined && { hint: withProgram(hint, call.program) }),
    ...(candidates !== undefined && { candidates }),
    ...(reason !== undefined && { reason }),
  };
}

/**
 * Tells a failure and resolves to the exit code, when everything is written that can be. JSON Lines end with the line
 * that says how the run ended, where there is one (`isOver`): what fails after it is told to people alone.
 */
export async function reportFailure(
  call: Pick<Call<LightOutside>, "outside" | "form" | "kind">,
  failure: Failure,
  { isOver = false }: { readonly isOver?: boolean } = {},
): Promise<number> {
  const { form, kind, outside } = call;
  if (form === "json") {
    const isTold = await wrote(
      outside.stdout.write(`${JSON.stringify(documentOf(kind, { error: failure }))}\n`),
    );
    // Standard output may be what failed: then at least people are told.
    if (!isTold) await wrote(writeForPeople(call, failure));
  } else {
    await wrote(writeForPeople(call, failure));
    if (form === "jsonl" && !isOver) await wrote(outside.stdout.write(`${errorLine(failure)}\n`));
  }
  return errorTable[failure.code].exit;
}

/** Resolves to false where the stream takes nothing. Nobody is left to be told of that; the exit code still says that it failed. */
export async function wrote(writing: Promise<void>): Promise<boolean> {
  try {
    await writing;
    return true;
  } catch (error) {
    if (isStreamError(error)) return false;
    throw error;
  }
}

/** The stack of an unexpected error, where somebody looks for a fault. */
export async function reportStack(call: Pick<Call<LightOutside>, "outside">, error: unknown): Promise<void> {
  if (!call.outside.debug || !(error instanceof Error) || isHoldfastError(error)) return;
  const screen = new Screen(call.outside.stderr, false);
  screen.line(error.stack ?? String(error));
  await wrote(screen.flushed());
}

async function writeForPeople(call: Pick<Call<LightOutside>, "outside">, failure: Failure): Promise<void> {
  const screen = new Screen(call.outside.stderr, call.outside.mayColour);
  const { message, hint, candidates = [] } = failure;
  const [first = "", ...more] = message.split("\n");
  screen.line(["bad", "holdfast: "], first);
  for (const line of more.flatMap((one) => itemLines(screen, one))) screen.line(line);
  for (const candidate of candidates) screen.line(`  ${candidate}`);
  for (const line of hintLines(screen.columns - 2, hint ?? "")) screen.line(["dim", `  ${line}`]);
  await screen.flushed();
}

/** Sentences are broken between words; a command stays in one line, to be copied. The message does too, to be found. */
export function hintLines(columns: number, hint: string): string[] {
  return hint
    .split("\n")
    .flatMap((line) => {
      const [, before = "", command = "", after = ""] =
        /^(.*?)(holdfast (?:\\'|'[^']*'|[^'])*?)?( — .*)?$/.exec(line) ?? [];
      if (command === "") return wrapText(line, columns);
      if (widthOf(line) <= columns) return [line];
      return [...wrapText(before.trimEnd(), columns), `  ${command}`, ...wrapText(after.trim(), columns)];
    })
    .filter((line) => line !== "");
}

/** What a message lists, below its first line: broken between words for people; whole where it is searched. */
function itemLines(screen: Screen, item: string): string[] {
  if (!screen.isTerminal || widthOf(item) <= screen.columns) return [item];
  const indent = " ".repeat(item.length - item.trimStart().length);
  const [first = "", ...more] = wrapText(item.trimStart(), screen.columns - indent.length - 2);
  return [indent + first, ...more.map((line) => `${indent}  ${line}`)];
}

function errorLine(failure: Failure): string {
  return JSON.stringify({ schema: printedSchema, type: "error", ...failure });
}

/**
 * Commands in hints are to work as they stand, so they take the global flags of this call along. What stands between
 * quotes is somebody's own text.
 */
export function withProgram(hint: string, program: string): string {
  const quotedOrCommand =
    /(?<=[ =])'[^']*'(?:\\''[^']*')*|\bholdfast (?=(?:agent|run|resume|send|queue|session|store|demo)\b)/g;
  return hint.replaceAll(quotedOrCommand, (found) => (found.startsWith("'") ? found : `${program} `));
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text === "" ? "an error without a message" : text;
}

import type { AnswerTurn, CassettePart } from "./cassette.ts";
import { stopReasons } from "./cassette.ts";
import type { Json, Usage } from "./values.ts";
import { isRecord } from "./values.ts";

/**
 * An answer as a turn of a cassette, and back. What a person can read is chosen where it says the same: the short form
 * for an answer that is reasoning, text and calls in that order, and a mapping for arguments that it keeps exactly.
 */

/** An answer as it was given. */
export interface PlainAnswer {
  /** Each call with its arguments as text. */
  readonly parts: readonly CassettePart[];
  readonly usage?: Usage | undefined;
  readonly stopReason: string;
  readonly firstTokenMs?: number | undefined;
  readonly perTokenMs?: number | undefined;
}

/** Deeper arguments are no easier to read as a mapping. */
const argsDepthMax = 64;

/** The turn that plays as the answer was given. A reason to stop that no version knows is `other`. */
export function turnOfAnswer(answer: PlainAnswer): AnswerTurn {
  const { parts, usage, firstTokenMs, perTokenMs } = answer;
  const said = shortForm(parts) ?? { parts: parts.map((part) => withReadableArgs(part)) };
  const stopReason = stopReasons.find((one) => one === answer.stopReason) ?? "other";
  return {
    ...said,
    ...(usage !== undefined && { usage }),
    ...(stopReason !== stopReasonOf(said) && { stopReason }),
    ...(firstTokenMs !== undefined && { firstTokenMs }),
    ...(perTokenMs !== undefined && { perTokenMs }),
  };
}

/** The parts of an answer, those of the short form in their one order. */
export function partsOfTurn({ parts, reasoning, text, calls = [] }: AnswerTurn): readonly CassettePart[] {
  if (parts !== undefined) return parts;
  return [...(reasoning ? [{ reasoning }] : []), ...(text ? [{ text }] : []), ...calls];
}

/** Why the model stopped: what the turn says, else what its parts do. */
export function stopReasonOf(turn: AnswerTurn): string {
  if (turn.stopReason !== undefined) return turn.stopReason;
  return partsOfTurn(turn).some((part) => part.tool !== undefined) ? "tool-calls" : "stop";
}

/** The arguments of a call as text. */
export function argsTextOf({ args, argsText }: Pick<CassettePart, "args" | "argsText">): string {
  return argsText ?? JSON.stringify(args ?? {});
}

/** What is streamed at a time: each word with the space after it, so that together they are the text. */
export function wordsOf(text: string): string[] {
  return text.match(/\s*\S+\s*|\s+/g) ?? [];
}

/** The answer without `parts`; undefined where only they can say it. */
function shortForm(parts: readonly CassettePart[]): AnswerTurn | undefined {
  const rest = [...parts];
  const turn: AnswerTurn = {};
  if (isPlain(rest[0], "reasoning")) turn.reasoning = rest.shift()?.reasoning;
  if (isPlain(rest[0], "text")) turn.text = rest.shift()?.text;
  if (!rest.every((part) => isPlain(part, "tool"))) return undefined;
  const calls = rest.map((part) => withReadableArgs({ ...part, tool: part.tool ?? "" }));
  return { ...turn, ...(calls.length > 0 && { calls }) };
}

/** True for a part of that kind that is not empty, and that no provider added anything to. */
function isPlain(part: CassettePart | undefined, kind: "text" | "reasoning" | "tool"): boolean {
  const { signature, providerMetadataText: metadata } = part ?? {};
  return (part?.[kind] ?? "") !== "" && signature === undefined && metadata === undefined;
}

/** The call with a mapping in place of its arguments' text, where that says exactly the same. */
function withReadableArgs<P extends CassettePart>(part: P): P {
  const { argsText, ...rest } = part;
  if (argsText === "{}") return rest as P;
  const args = argsText === undefined ? undefined : mappingOf(argsText);
  return args === undefined ? part : { ...(rest as P), args };
}

function mappingOf(text: string): { [key: string]: Json } | undefined {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const survives = isRecord(value) && isKept(value, 0) && JSON.stringify(value) === text;
  return survives ? (value as { [key: string]: Json }) : undefined;
}

/** True where the readers of a cassette take the value, and as it is. */
function isKept(value: Json, depth: number): boolean {
  if (typeof value === "number") return !Number.isInteger(value) || Number.isSafeInteger(value);
  if (typeof value !== "object" || value === null) return true;
  return depth < argsDepthMax && Object.values(value).every((item) => isKept(item, depth + 1));
}

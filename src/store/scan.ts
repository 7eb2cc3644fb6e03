import type { DiskFile } from "../host/index.ts";
import type { ChainHead, SumHistory, Verdict } from "./chain.ts";
import { advance, judge } from "./chain.ts";
import type { Envelope } from "./line.ts";
import { formatVersion, lineBytesMax, raisesEpoch, readEnvelope } from "./line.ts";

/**
 * One decoder for all: runs over the lines of a file in order and judges each. What stands after the last accepted or
 * void line (R, the remainder) is classified here, by the rule that tail recovery goes by.
 *
 * S1 A line includes its 0x0A; lines are split on 0x0A and nothing else.
 * S2 Only a remainder that nobody can have acknowledged may be completed or cut; anything else is damage.
 */

/** A line that verifies, as bytes that are only valid during the visit. */
export interface ScannedLine {
  readonly envelope: Envelope;
  readonly bytes: Uint8Array;
  /** Where it starts in the file. */
  readonly offset: number;
  /** Its number in the file from 1, void lines counted. */
  readonly number: number;
}

/** Where a file stops being the history that it claims to be. */
export interface Damage {
  /** Line number from 1. */
  readonly line: number;
  /** Byte offset of that line. */
  readonly offset: number;
  readonly reason: string;
  /** Set where the line was written by a newer version: the format it names. */
  readonly version?: number;
}

/** What stands after the last accepted or void line. */
export type Remainder =
  | { readonly state: "none" }
  /** A whole line that only lacks its newline: kept, and completed by whoever wants to append. */
  | { readonly state: "complete"; readonly bytes: Uint8Array }
  /** A piece that was never acknowledged: saved and cut by whoever wants to append. */
  | { readonly state: "torn"; readonly bytes: Uint8Array }
  | { readonly state: "damaged"; readonly damage: Damage };

/** Where a scan stands: extend it by scanning on. */
export interface ScanState {
  /** Whose lines these must be. */
  readonly session: string;
  /** True for a queue: nothing at all is an empty queue, while a log without line 0 is damage. */
  readonly mayBeEmpty: boolean;
  head: ChainHead;
  readonly sums: SumHistory;
  /** Bytes up to the end of the last accepted or void line. */
  end: number;
  /** Lines up to there. */
  lines: number;
}

/** Takes each accepted and void line; a returned text is a reason why the line is damage after all. */
export type Visit = (line: ScannedLine, verdict: Exclude<Verdict, "damage">) => string | undefined;

const chunkBytes = 2 * 1024 * 1024;

/**
 * Scans from `state.end` to byte `until` (the file's end where absent), moving `state` along. Resolves to what is left.
 * `visit` sees a line after it was judged and before the state moves past it.
 */
export async function scanLines(
  file: DiskFile,
  state: ScanState,
  visit: Visit,
  until: number = Number.MAX_SAFE_INTEGER,
): Promise<Remainder> {
  let buffer = Buffer.allocUnsafe(chunkBytes);
  let filled = 0;
  for (;;) {
    const room = Math.min(buffer.length - filled, until - state.end - filled);
    const count =
      room === 0 ? 0 : await file.read(buffer.subarray(filled, filled + room), state.end + filled);
    filled += count;
    const { used, stopped } = judgeLines(buffer.subarray(0, filled), state, visit);
    if (stopped !== undefined) return await classifyStop(file, state, stopped, until);
    buffer.copyWithin(0, used, filled);
    filled -= used;
    if (filled > lineBytesMax)
      return await classifyStop(file, state, "is longer than any line may be", until);
    if (count === 0) return filled === 0 ? { state: "none" } : classify(buffer.subarray(0, filled), state);
    if (filled === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
  }
}

/** Judges the whole lines at the start of `bytes`. `stopped` is why the line after them cannot be passed. */
function judgeLines(
  bytes: Uint8Array,
  state: ScanState,
  visit: Visit,
): { used: number; stopped?: Damage | string } {
  let used = 0;
  for (;;) {
    const newline = bytes.indexOf(0x0a, used);
    if (newline === -1) return { used };
    const line = bytes.subarray(used, newline + 1);
    const envelope = readEnvelope(line);
    if (envelope === undefined) return { used, stopped: "does not verify" };
    const foreign = refuse(envelope, state);
    if (foreign !== undefined) return { used, stopped: foreign };
    const raises = raisesEpoch(line, envelope);
    const verdict = judge(state.head, state.sums, envelope, raises);
    if (verdict === "damage") return { used, stopped: damageHere(state, misfit(state, envelope, raises)) };
    const reason = visit({ envelope, bytes: line, offset: state.end, number: state.lines + 1 }, verdict);
    if (reason !== undefined) return { used, stopped: damageHere(state, reason) };
    if (verdict === "accepted") {
      state.head = advance(envelope);
      state.sums.push(envelope.sum);
    }
    used += line.length;
    state.end += line.length;
    state.lines++;
  }
}

/** A line that verifies and still is none of this file, whatever its place in the chain. */
function refuse(envelope: Envelope, state: ScanState): Damage | undefined {
  if (envelope.v !== formatVersion) {
    return {
      ...damageHere(state, `format ${envelope.v} is newer than ${formatVersion}`),
      version: envelope.v,
    };
  }
  return envelope.ses === state.session ? undefined : damageHere(state, `belongs to session ${envelope.ses}`);
}

function misfit(state: ScanState, line: Envelope, raises: boolean): string {
  if (line.seq !== state.head.seq + 1) return `seq ${line.seq} where ${state.head.seq + 1} was expected`;
  if (line.prev !== state.head.sum) return `prev ${line.prev} where ${state.head.sum} was expected`;
  return raises
    ? `epoch ${line.epoch} does not rise above ${state.head.epoch}`
    : `epoch ${line.epoch} where ${state.head.epoch} was expected`;
}

function damageHere(state: ScanState, reason: string): Damage {
  return { line: state.lines + 1, offset: state.end, reason };
}

async function classifyStop(
  file: DiskFile,
  state: ScanState,
  stopped: Damage | string,
  until: number,
): Promise<Remainder> {
  if (typeof stopped !== "string") return { state: "damaged", damage: stopped };
  const bytes = Buffer.allocUnsafe(Math.min(lineBytesMax + 1, until - state.end));
  let filled = 0;
  while (filled < bytes.length) {
    const count = await file.read(bytes.subarray(filled), state.end + filled);
    if (count === 0) break;
    filled += count;
  }
  if (filled > lineBytesMax) return { state: "damaged", damage: damageHere(state, stopped) };
  return classify(bytes.subarray(0, filled), state);
}

/** Classifies everything from the last good line to the end of the file. */
function classify(remainder: Uint8Array, state: ScanState): Remainder {
  const bytes = Buffer.from(remainder);
  if (state.head.seq === -1 && !state.mayBeEmpty) {
    return { state: "damaged", damage: damageHere(state, "line 0 does not verify") };
  }
  if (!bytes.includes(0x0a)) {
    const unfinished = classifyUnfinished(bytes, state);
    if (unfinished !== undefined) return unfinished;
  }
  for (let start = 0; start < bytes.length; start = bytes.indexOf(0x0a, start) + 1) {
    const newline = bytes.indexOf(0x0a, start);
    if (newline === -1) break;
    if (readEnvelope(bytes.subarray(start, newline + 1)) !== undefined) {
      return { state: "damaged", damage: damageHere(state, "does not verify, and a whole line follows it") };
    }
  }
  return { state: "torn", bytes };
}

/** A whole line that lacks its newline; undefined where the piece is no such line. */
function classifyUnfinished(bytes: Uint8Array, state: ScanState): Remainder | undefined {
  const line = Buffer.concat([bytes, Buffer.of(0x0a)]);
  const envelope = readEnvelope(line);
  if (envelope === undefined) return undefined;
  const foreign = refuse(envelope, state);
  if (foreign !== undefined) return { state: "damaged", damage: foreign };
  const raises = raisesEpoch(line, envelope);
  if (judge(state.head, state.sums, envelope, raises) !== "damage") return { state: "complete", bytes };
  return { state: "damaged", damage: damageHere(state, misfit(state, envelope, raises)) };
}

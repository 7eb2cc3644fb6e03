import type { DiskFile } from "../host/index.ts";
import { equalBytes, readFully } from "../host/index.ts";
import { isId } from "../model/ids.ts";
import type { ChainHead, Verdict } from "./chain.ts";
import { advance, emptyHead, judge, SumHistory } from "./chain.ts";
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

/** Who sees the lines of a file that its chain does not refuse. */
export interface LineVisitor {
  /** Takes the line in; a returned text is a reason why it is damage after all, and then nothing was taken in. */
  take(line: ScannedLine, verdict: Exclude<Verdict, "damage">): string | undefined;
  /** Why a line that would be accepted, were its newline there, is damage after all. Takes nothing in. */
  faultOf(line: ScannedLine): string | undefined;
}

/** Twice the longest line, so that a whole line always fits beside the start of the next. */
const chunkBytes = 2 * lineBytesMax;
const spareBytes = 4096;
const lineStart = '{"v":';

/** The state before line 0 of a session's file that follows `before`. */
export function startScan(session: string, before: string, mayBeEmpty = false): ScanState {
  return { session, mayBeEmpty, head: emptyHead(before), sums: new SumHistory(before), end: 0, lines: 0 };
}

/**
 * Scans from `state.end` to byte `until` (the file's end where absent), moving `state` along. Resolves to what is left.
 * `visitor` sees a line after it was judged and before the state moves past it.
 */
export async function scanLines(
  file: DiskFile,
  state: ScanState,
  visitor: LineVisitor,
  until: number = Number.MAX_SAFE_INTEGER,
): Promise<Remainder> {
  for (;;) {
    const stopped = await scanToStop(file, state, visitor, until);
    if (stopped === undefined) return { state: "none" };
    if (typeof stopped !== "string") return { state: "damaged", damage: stopped };
    const remainder = await readRemainder(file, state.end, until);
    // What does not verify may be a write in flight, so it is read twice before it is judged.
    if (!(await isStill(file, state.end, remainder, until)) || startsWithLine(remainder)) continue;
    return classifyRemainder(remainder, state, { visitor, stopped });
  }
}

/**
 * Judges line after line. Resolves to undefined at a clean end, to the damage at a line that verifies, or to why what
 * comes next is no line.
 */
async function scanToStop(
  file: DiskFile,
  state: ScanState,
  visitor: LineVisitor,
  until: number,
): Promise<Damage | string | undefined> {
  // A small file needs a small buffer; one that has grown meanwhile gets a larger one.
  const size = Math.min(until, (await file.stat()).size) - state.end;
  let buffer = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(0, size) + spareBytes));
  let filled = 0;
  for (;;) {
    const room = Math.min(buffer.length - filled, until - state.end - filled);
    const count = room <= 0 ? 0 : await file.read(buffer.subarray(filled, filled + room), state.end + filled);
    filled += count;
    const { used, stopped } = judgeLines(buffer.subarray(0, filled), state, visitor);
    if (stopped !== undefined) return stopped;
    if (count === 0) return filled === 0 ? undefined : "does not verify";
    buffer.copyWithin(0, used, filled);
    filled -= used;
    if (filled > lineBytesMax) return "is longer than any line may be";
    if (filled === buffer.length) buffer = Buffer.concat([buffer], chunkBytes);
  }
}

/** What stands from `start` on, but no more than shows that it is longer than a line. */
export async function readRemainder(file: DiskFile, start: number, until: number): Promise<Buffer> {
  const end = Math.min(until, (await file.stat()).size);
  const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(lineBytesMax + 1, end - start)));
  return bytes.subarray(0, await readFully(file, bytes, start));
}

/** True where the same bytes, and no more, stand there when they are read again. */
export async function isStill(file: DiskFile, start: number, bytes: Buffer, until: number): Promise<boolean> {
  if (!equalBytes(bytes, await readRemainder(file, start, until))) return false;
  const end = Math.min(until, (await file.stat()).size);
  return end === start + bytes.length || bytes.length > lineBytesMax;
}

/** The number, from 1, of the line that starts at byte `end`. */
export async function lineNumberAt(file: DiskFile, end: number): Promise<number> {
  const buffer = Buffer.allocUnsafe(Math.min(end, 1024 * 1024));
  let count = 1;
  for (let position = 0; position < end;) {
    const chunk = buffer.subarray(0, Math.min(buffer.length, end - position));
    const length = await readFully(file, chunk, position);
    if (length === 0) break;
    for (let at = chunk.indexOf(0x0a); at !== -1 && at < length; at = chunk.indexOf(0x0a, at + 1)) count++;
    position += length;
  }
  return count;
}

/** True where a whole line has come meanwhile. */
function startsWithLine(bytes: Buffer): boolean {
  const newline = bytes.indexOf(0x0a);
  return newline !== -1 && readEnvelope(bytes.subarray(0, newline + 1)) !== undefined;
}

/** Judges the whole lines at the start of `bytes`. `stopped` is why the line after them cannot be passed. */
function judgeLines(
  bytes: Uint8Array,
  state: ScanState,
  visitor: LineVisitor,
): { used: number; stopped?: Damage | string } {
  // A base's session is what some line 0 says: it may be no id.
  const likely = isId("ses", state.session) ? state.session : undefined;
  let used = 0;
  for (;;) {
    const newline = bytes.indexOf(0x0a, used);
    if (newline === -1) return { used };
    const line = bytes.subarray(used, newline + 1);
    const envelope = readEnvelope(line, likely);
    if (envelope === undefined) return { used, stopped: "does not verify" };
    const foreign = refuse(envelope, state);
    if (foreign !== undefined) return { used, stopped: foreign };
    const raises = raisesEpoch(line, envelope);
    const verdict = judge(state.head, state.sums, envelope, raises);
    if (verdict === "damage") return { used, stopped: damageHere(state, misfit(state, envelope, raises)) };
    const reason = visitor.take(scannedLine(line, envelope, state), verdict);
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

function scannedLine(bytes: Uint8Array, envelope: Envelope, state: ScanState): ScannedLine {
  return { envelope, bytes, offset: state.end, number: state.lines + 1 };
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

/** Classifies everything from the last good line, at `state.end`, to the end of the file. `stopped` says why it ends. */
export function classifyRemainder(
  bytes: Buffer,
  state: ScanState,
  { visitor, stopped = "does not verify" }: { visitor?: Pick<LineVisitor, "faultOf">; stopped?: string } = {},
): Remainder {
  if (state.head.seq === -1 && !state.mayBeEmpty) {
    return { state: "damaged", damage: damageHere(state, "line 0 does not verify") };
  }
  if (bytes.length > lineBytesMax) return { state: "damaged", damage: damageHere(state, stopped) };
  if (!bytes.includes(0x0a)) {
    const unfinished = classifyUnfinished(bytes, state, visitor);
    if (unfinished !== undefined) return unfinished;
  }
  if (holdsLine(bytes)) {
    return { state: "damaged", damage: damageHere(state, "does not verify, and a whole line follows it") };
  }
  return { state: "torn", bytes };
}

/**
 * True where a whole line that verifies begins anywhere in the bytes, and not only after a 0x0A: where the newline of an
 * acknowledged line rotted, the next acknowledged line stands right behind it.
 */
function holdsLine(bytes: Buffer): boolean {
  for (let start = bytes.indexOf(lineStart); start !== -1; start = bytes.indexOf(lineStart, start + 1)) {
    const newline = bytes.indexOf(0x0a, start);
    if (newline === -1) return false;
    if (readEnvelope(bytes.subarray(start, newline + 1)) !== undefined) return true;
  }
  return false;
}

/**
 * A whole line that lacks its newline; undefined where the piece is no such line. It is judged as if the newline stood
 * there: once it does, nobody takes the line back.
 */
function classifyUnfinished(
  bytes: Uint8Array,
  state: ScanState,
  visitor: Pick<LineVisitor, "faultOf"> | undefined,
): Remainder | undefined {
  const line = withNewline(bytes);
  const envelope = readEnvelope(line);
  if (envelope === undefined) return undefined;
  const foreign = refuse(envelope, state);
  if (foreign !== undefined) return { state: "damaged", damage: foreign };
  const raises = raisesEpoch(line, envelope);
  const verdict = judge(state.head, state.sums, envelope, raises);
  const reason =
    verdict === "damage"
      ? misfit(state, envelope, raises)
      : verdict === "accepted" && visitor?.faultOf(scannedLine(line, envelope, state));
  return typeof reason === "string"
    ? { state: "damaged", damage: damageHere(state, reason) }
    : { state: "complete", bytes };
}

/** Takes in a last line that only lacks its newline as if that stood there; returns why it is damage after all. */
export function takeUnfinished(
  bytes: Uint8Array,
  state: ScanState,
  visitor: LineVisitor,
): Damage | undefined {
  const { stopped } = judgeLines(withNewline(bytes), state, visitor);
  return typeof stopped === "string" ? damageHere(state, stopped) : stopped;
}

/** The line that unfinished bytes become. */
export function withNewline(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([bytes, Buffer.of(0x0a)]);
}

import { readFully } from "../host/index.ts";
import type { DiskFile } from "../host/index.ts";
import type { OpaqueFact, Row } from "../model/facts.ts";
import { BackwardWalk, readWalkRemainder } from "./backward-walk.ts";
import type { ChainHead } from "./chain.ts";
import { advance } from "./chain.ts";
import type { Envelope } from "./line.ts";
import { factsText, formatVersion, lineBytesMax, readEnvelope } from "./line.ts";
import type { HistorySource } from "./read-log.ts";
import { openPart } from "./read-log.ts";
import { isRow } from "./row.ts";
import type { Damage, Remainder } from "./scan.ts";
import { lineNumberAt, scanLines, startScan } from "./scan.ts";

/** What a list needs of a log: its newest row and how it ends. */
export interface LastRow {
  readonly row: Row;
  readonly head: ChainHead;
  /** Wall clock of the last accepted line. */
  readonly at: number;
  /** Revision and number of the visible messages. */
  readonly rev: number;
  readonly msgs: number;
  /** True where the last holder let go in good order: then nobody needs to be probed. */
  readonly released: boolean;
  readonly remainder: Remainder;
}

/** A log whose end does not tell its row. */
export interface DamagedRow {
  readonly damage: Damage & { readonly file: string };
}

/** What is read at once of a log. */
export const lastRowBytes = 16 * 1024;
const attemptsMax = 8;
const newline = 0x0a;

interface LastLine {
  readonly envelope: Envelope;
  readonly facts: readonly OpaqueFact[] | undefined;
  readonly offset: number;
  readonly remainder: Remainder;
}

/**
 * Reads the end of a log and its newest row: one open and one read of a small log, as a rule two of a larger one. What
 * is older than those lines is not looked at, and the facts of the last one are not judged: a list trusts the sums.
 * `buffer` is for {@link lastRowBytes} and nobody else's until this resolves. Rejects with a DiskError where the log
 * cannot be read.
 */
export async function readLastRow(
  source: Pick<HistorySource, "disk" | "own">,
  buffer: Buffer = Buffer.allocUnsafe(lastRowBytes),
): Promise<LastRow | DamagedRow> {
  const { path, session } = source.own;
  const file = await openPart(source.disk, source.own);
  if (file === undefined) {
    return { damage: { file: path, line: 1, offset: 0, reason: "the file is missing" } };
  }
  try {
    const start = buffer.subarray(0, await file.read(buffer, 0));
    // A log that ends with a line and leaves room in the buffer is read whole.
    const whole = start.length < buffer.length && start.at(-1) === newline ? start : undefined;
    const last = (await readLastLine(file, session, whole)) ?? (await scanToLastLine(file, session));
    if (!("envelope" in last)) return { damage: { ...last, file: path } };
    const { envelope, facts, offset, remainder } = last;
    const damageAt = async (at: number, reason: string) => ({
      damage: { file: path, line: await lineNumberAt(file, at), offset: at, reason },
    });
    if (facts === undefined) return await damageAt(offset, "its facts cannot be read");
    const row = facts.at(-1)?.kind === "row" ? facts.at(-1) : await readRowAt(file, envelope, start);
    if (!isRow(row)) return await damageAt(envelope.row, "there is no row");
    const { at, rev, msgs } = envelope;
    // Nobody has held a log of one line yet: a holder's first act is a line of its own.
    const released = envelope.seq === 0 || facts.some((fact) => fact.kind === "lease.released");
    return { row, head: advance(envelope), at, rev, msgs, released, remainder };
  } finally {
    await file.close();
  }
}

/** The last accepted line, from behind; undefined where only a forward reading can tell. `whole`: all that was read. */
async function readLastLine(
  file: DiskFile,
  session: string,
  whole: Buffer | undefined,
): Promise<LastLine | undefined> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const line = await walkToLastLine(file, session, attempt === 0 ? whole : undefined);
    if (line !== "again") return line;
  }
  return undefined;
}

async function walkToLastLine(
  file: DiskFile,
  session: string,
  whole: Buffer | undefined,
): Promise<LastLine | undefined | "again"> {
  const end = whole?.length ?? (await file.stat()).size;
  const walk = new BackwardWalk({ file, session, end, chunkBytes: lastRowBytes, whole });
  const line = await walk.next();
  if (typeof line === "string") return undefined;
  const { envelope, offset } = line;
  const facts = readFacts(line.bytes, envelope);
  for (let next: unknown = line; !walk.isSettled && next !== "start";) {
    next = await walk.next();
    if (next === "undecided") return undefined;
  }
  const remainder = await readWalkRemainder(file, walk, { session, end });
  if (remainder === "undecided") return undefined;
  return remainder === "again" ? remainder : { envelope, facts, offset, remainder };
}

/** The last accepted line, from the start; or the damage on the way. */
async function scanToLastLine(file: DiskFile, session: string): Promise<LastLine | Damage> {
  // What precedes line 0 is named in line 0 alone, and a list does not need to know it.
  const before = (await readLineAt(file, 0))?.envelope.prev;
  if (before === undefined) return { line: 1, offset: 0, reason: "line 0 does not verify" };
  let last: Omit<LastLine, "remainder"> | undefined;
  const remainder = await scanLines(file, startScan(session, before), {
    take: (line, verdict) => {
      const { envelope, offset } = line;
      if (verdict === "accepted") last = { envelope, offset, facts: readFacts(line.bytes, envelope) };
      return undefined;
    },
    faultOf: () => undefined,
  });
  if (remainder.state === "damaged") return remainder.damage;
  return last === undefined ? { line: 1, offset: 0, reason: "line 0 is missing" } : { ...last, remainder };
}

/** The row in the line that the last one points at. `start`: what was read of the file's beginning. */
async function readRowAt(file: DiskFile, last: Envelope, start: Buffer): Promise<OpaqueFact | undefined> {
  const isRead = start.indexOf(newline, last.row) !== -1;
  const line = isRead ? lineIn(start.subarray(last.row)) : await readLineAt(file, last.row);
  if (line === undefined) return undefined;
  const { v, ses, seq } = line.envelope;
  const fits = v === formatVersion && ses === last.ses && seq < last.seq;
  return fits ? readFacts(line.bytes, line.envelope)?.at(-1) : undefined;
}

async function readLineAt(
  file: DiskFile,
  offset: number,
): Promise<{ envelope: Envelope; bytes: Uint8Array } | undefined> {
  for (let size = lastRowBytes; ; size = lineBytesMax) {
    const bytes = Buffer.allocUnsafe(size);
    const count = await readFully(file, bytes, offset);
    const found = bytes.subarray(0, count);
    if (count === size && size < lineBytesMax && !found.includes(newline)) continue;
    return lineIn(found);
  }
}

/** The line at the start of these bytes, where one verifies. */
function lineIn(bytes: Buffer): { envelope: Envelope; bytes: Uint8Array } | undefined {
  const line = bytes.subarray(0, bytes.indexOf(newline) + 1);
  const envelope = readEnvelope(line);
  return envelope === undefined ? undefined : { envelope, bytes: line };
}

/** The facts of a line as JSON has them: a list trusts the sum, and checks nothing but the row that it shows. */
function readFacts(line: Uint8Array, envelope: Envelope): readonly OpaqueFact[] | undefined {
  const text = factsText(line, envelope);
  if (text === undefined) return undefined;
  try {
    const facts: unknown = JSON.parse(text);
    return Array.isArray(facts) && facts.every(isFactLike) ? facts : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isFactLike(value: unknown): value is OpaqueFact {
  return typeof value === "object" && value !== null && typeof (value as OpaqueFact).kind === "string";
}

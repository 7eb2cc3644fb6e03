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

const readBytes = 16 * 1024;
const attemptsMax = 8;

interface LastLine {
  readonly envelope: Envelope;
  readonly facts: readonly OpaqueFact[] | undefined;
  readonly offset: number;
  readonly remainder: Remainder;
}

/**
 * Reads the end of a log and its newest row: one open and, as a rule, one or two reads. What is older than those lines
 * is not looked at. Rejects with a DiskError where the log cannot be read.
 */
export async function readLastRow(
  source: Pick<HistorySource, "disk" | "own">,
): Promise<LastRow | DamagedRow> {
  const { path, session } = source.own;
  const file = await openPart(source.disk, source.own);
  if (file === undefined) {
    return { damage: { file: path, line: 1, offset: 0, reason: "the file is missing" } };
  }
  try {
    const last = (await readLastLine(file, session)) ?? (await scanToLastLine(file, session));
    if (!("envelope" in last)) return { damage: { ...last, file: path } };
    const { envelope, facts, offset, remainder } = last;
    const damageAt = async (at: number, reason: string) => ({
      damage: { file: path, line: await lineNumberAt(file, at), offset: at, reason },
    });
    if (facts === undefined) return await damageAt(offset, "its facts cannot be read");
    const row = facts.at(-1)?.kind === "row" ? facts.at(-1) : await readRowAt(file, envelope);
    if (!isRow(row)) return await damageAt(envelope.row, "there is no row");
    const { at, rev, msgs } = envelope;
    // Nobody has held a log of one line yet: a holder's first act is a line of its own.
    const released = envelope.seq === 0 || facts.some((fact) => fact.kind === "lease.released");
    return { row, head: advance(envelope), at, rev, msgs, released, remainder };
  } finally {
    await file.close();
  }
}

/** The last accepted line, from behind; undefined where only a forward reading can tell. */
async function readLastLine(file: DiskFile, session: string): Promise<LastLine | undefined> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const end = (await file.stat()).size;
    const walk = new BackwardWalk({ file, session, end, chunkBytes: readBytes });
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
    if (remainder !== "again") return { envelope, facts, offset, remainder };
  }
  return undefined;
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

/** The row in the line that the last one points at. */
async function readRowAt(file: DiskFile, last: Envelope): Promise<OpaqueFact | undefined> {
  const line = await readLineAt(file, last.row);
  if (line === undefined) return undefined;
  const { v, ses, seq } = line.envelope;
  const fits = v === formatVersion && ses === last.ses && seq < last.seq;
  return fits ? readFacts(line.bytes, line.envelope)?.at(-1) : undefined;
}

async function readLineAt(
  file: DiskFile,
  offset: number,
): Promise<{ envelope: Envelope; bytes: Uint8Array } | undefined> {
  for (let size = readBytes; ; size = lineBytesMax) {
    const bytes = Buffer.allocUnsafe(size);
    const count = await readFully(file, bytes, offset);
    const newline = bytes.subarray(0, count).indexOf(0x0a);
    if (newline === -1 && count === size && size < lineBytesMax) continue;
    const line = bytes.subarray(0, newline + 1);
    const envelope = readEnvelope(line);
    return envelope === undefined ? undefined : { envelope, bytes: line };
  }
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

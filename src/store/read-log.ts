import type { Disk, DiskFile } from "../host/index.ts";
import { isDiskError } from "../host/index.ts";
import type { Commit } from "../model/commit.ts";
import { HoldfastError } from "../model/errors.ts";
import type { BaseRef, Message } from "../model/facts.ts";
import type { LineCounters } from "./counters.ts";
import { CounterFold } from "./counters.ts";
import { zeroSum } from "./line.ts";
import { commitOf, parseLogFacts } from "./read-facts.ts";
import type { Damage, Remainder, ScanState, Visit } from "./scan.ts";
import { scanLines, startScan } from "./scan.ts";

/**
 * Reads a session's whole history: each base up to its cut, then the log of its own. Every line is parsed, validated,
 * chained and its counters are recomputed. Strict readers throw at the first violation; diagnostic ones stop there.
 */

/** A file of a history: a base up to its cut, or the session's own log. */
export interface LogPart {
  readonly path: string;
  readonly session: string;
  /** The cut of a base. */
  readonly base?: BaseRef;
}

/** A void line, reported and without effect. */
export interface VoidLine {
  readonly file: string;
  readonly line: number;
  readonly offset: number;
  readonly seq: number;
  readonly epoch: number;
}

/** Where a reading stands, so that a writer can go on from it. */
export interface History {
  readonly scan: ScanState;
  readonly counters: CounterFold;
  readonly voids: VoidLine[];
  /** Ids of all messages, bases included: an id that comes twice is refused. */
  readonly messages: Set<string>;
  /** What stands after the last good line of the own log. */
  readonly remainder: Remainder;
}

/** Takes each accepted line in order. `own`: it stands in the session's own log; `offset` is where it starts there. */
export type VisitCommit = (commit: Commit, place: { own: boolean; offset: number }) => void;

/** The facts of line 0 name the bases, which must be read first: so they are read by the caller beforehand. */
export interface HistorySource {
  readonly disk: Disk;
  readonly bases: readonly LogPart[];
  readonly own: LogPart;
}

/** Reads everything up to the first violation. `damage` says where that is; absent, the history is whole. */
export async function readHistory(
  source: HistorySource,
  visit: VisitCommit,
): Promise<{ history: History; damage?: Damage & { file: string } }> {
  const counters = new CounterFold();
  const voids: VoidLine[] = [];
  const messages = new Set<string>();
  let before = zeroSum;
  for (const part of [...source.bases, source.own]) {
    const scan = startScan(part.session, before);
    counters.startFile();
    const visitLine = lineVisitor({ part, counters, voids, messages, visit });
    const { remainder, damage } = await scanPart(source.disk, part, { scan, visit: visitLine });
    const history = { scan, counters, voids, messages, remainder };
    if (damage !== undefined) return { history, damage: { ...damage, file: part.path } };
    if (part === source.own) return { history };
    before = scan.head.sum;
  }
  throw new HoldfastError("internal", "a history has no own log");
}

/** Reads a history that must be whole, but for a remainder that tail recovery may mend. */
export async function readStrictly(source: HistorySource, visit: VisitCommit): Promise<History> {
  const { history, damage } = await readHistory(source, visit);
  if (damage !== undefined) throw damagedLog(damage, source.own.session);
  return history;
}

/** The typed error for damage: file, line, byte offset, what was expected, and the ways out. */
function damagedLog(damage: Damage & { file: string }, session: string): HoldfastError {
  const { file, line, offset, reason } = damage;
  if (damage.version !== undefined) {
    return new HoldfastError("unsupported_version", `${file}: line ${line} was written in ${reason}`, {
      hint: "Use the version of holdfast that wrote it, or a newer one.",
      at: { file, line, offset },
    });
  }
  return new HoldfastError("log_damaged", `${file}: line ${line}, byte ${offset}: ${reason}`, {
    hint: `The session is closed for writing. View what is intact with: holdfast session show ${session}`,
    at: { file, line, offset },
  });
}

/**
 * Scans one file of a history as far as it may be read: a base to its cut. `damage` is also a wrong end, and a missing
 * file. `until` reads it as if it ended there.
 */
export async function scanPart(
  disk: Disk,
  part: LogPart,
  { scan, visit, until }: { scan: ScanState; visit: Visit; until?: number | undefined },
): Promise<{ remainder: Remainder; damage?: Damage }> {
  const file = await openPart(disk, part);
  if (file === undefined) {
    const damage = { line: 1, offset: 0, reason: "the file is missing" };
    return { remainder: { state: "damaged", damage }, damage };
  }
  try {
    let acceptedEnd = 0;
    const visitAndNote: Visit = (line, verdict) => {
      const reason = visit(line, verdict);
      if (verdict === "accepted") acceptedEnd = line.offset + line.bytes.length;
      return reason;
    };
    const remainder = await scanLines(file, scan, visitAndNote, until ?? part.base?.bytes);
    if (remainder.state === "damaged") return { remainder, damage: remainder.damage };
    const damage = until === undefined ? faultOfEnd(part, scan, acceptedEnd) : undefined;
    return damage === undefined ? { remainder } : { remainder, damage };
  } finally {
    await file.close();
  }
}

/** Opens one file of a history to read it; undefined where it is missing. */
export async function openPart(disk: Disk, part: LogPart): Promise<DiskFile | undefined> {
  try {
    return await disk.open(part.path, "read");
  } catch (error) {
    if (isDiskError(error, "ENOENT")) return undefined;
    throw error;
  }
}

function wrongCounter(found: LineCounters, expected: LineCounters): keyof LineCounters | undefined {
  if (found.rec !== expected.rec) return "rec";
  if (found.rev !== expected.rev) return "rev";
  if (found.msgs !== expected.msgs) return "msgs";
  return found.row === expected.row ? undefined : "row";
}

function lineVisitor(context: {
  part: LogPart;
  counters: CounterFold;
  voids: VoidLine[];
  messages: Set<string>;
  visit: VisitCommit;
}): Visit {
  const { part, counters, voids, messages, visit } = context;
  return (line, verdict) => {
    const { envelope, offset } = line;
    if (verdict === "void") {
      const { seq, epoch } = envelope;
      voids.push({ file: part.path, line: line.number, offset, seq, epoch });
      return undefined;
    }
    const parsed = parseLogFacts(line.bytes, envelope);
    if ("fault" in parsed) return parsed.fault;
    const expected = counters.apply({ session: part.session, seq: envelope.seq, offset }, parsed.facts);
    if (expected === undefined) return "a rewind names a line that is not there";
    const wrong = wrongCounter(envelope, expected);
    if (wrong !== undefined) return `${wrong} is ${envelope[wrong]} where ${expected[wrong]} was expected`;
    for (const fact of parsed.facts) {
      if (fact.kind !== "message") continue;
      const { id } = fact as Message;
      if (messages.has(id)) return `message ${id} is there already`;
      messages.add(id);
    }
    visit(commitOf(envelope, parsed.facts), { own: part.base === undefined, offset });
    return undefined;
  };
}

/** A base must end exactly at its cut, with the line it names; an own log must have a line 0. */
function faultOfEnd(part: LogPart, scan: ScanState, acceptedEnd: number): Damage | undefined {
  const here = { line: scan.lines + 1, offset: scan.end };
  if (part.base === undefined)
    return scan.head.seq === -1 ? { ...here, reason: "line 0 is missing" } : undefined;
  const { seq, sum, bytes } = part.base;
  const whole = acceptedEnd === bytes && scan.head.seq === seq && scan.head.sum === sum;
  return whole
    ? undefined
    : { ...here, reason: `a base must end at byte ${bytes} with line ${seq}, sum ${sum}` };
}

import type { Disk, DiskFile } from "../host/index.ts";
import { isDiskError } from "../host/index.ts";
import type { Commit } from "../model/commit.ts";
import { HoldfastError } from "../model/errors.ts";
import type { BaseRef } from "../model/facts.ts";
import type { FileDamage } from "./damage-errors.ts";
import { damagedLog } from "./damage-errors.ts";
import type { LinePlace } from "./file-rules.ts";
import { LogRules, strictVisitor } from "./file-rules.ts";
import { zeroSum } from "./line.ts";
import type { Damage, LineVisitor, Remainder, ScanState } from "./scan.ts";
import { scanLines, startScan, takeUnfinished } from "./scan.ts";

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
  readonly rules: LogRules;
  readonly voids: VoidLine[];
  /** What stands after the last good line of the own log. */
  readonly remainder: Remainder;
}

/** Where a line of a history stands. `own`: in the session's own log, not in a base. */
export interface CommitPlace extends LinePlace {
  readonly own: boolean;
}

/**
 * Takes each accepted line in order. A returned text says why its facts cannot be true after those before it: then the
 * line is damage, with its place.
 */
export type VisitCommit = (commit: Commit, place: CommitPlace) => string | void;

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
): Promise<{ history: History; damage?: FileDamage }> {
  const rules = new LogRules();
  const voids: VoidLine[] = [];
  let before = zeroSum;
  for (const part of [...source.bases, source.own]) {
    const scan = startScan(part.session, before);
    rules.startFile(part.session);
    const visitor = historyVisitor(part, { rules, voids }, visit);
    const { remainder, damage } = await scanPart(source.disk, part, { scan, visitor });
    const history = { scan, rules, voids, remainder };
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

/**
 * Takes in the last line of a history where it only lacks its newline, as if that stood there: whoever completes it has
 * judged it, to its last fact. Throws where it is damage.
 */
export function takeUnfinishedLine(source: HistorySource, history: History, visit: VisitCommit): void {
  const { scan, remainder } = history;
  if (remainder.state !== "complete") return;
  const { own } = source;
  const damage = takeUnfinished(remainder.bytes, scan, historyVisitor(own, history, visit));
  if (damage !== undefined) throw damagedLog({ ...damage, file: own.path }, own.session);
}

function historyVisitor(
  part: LogPart,
  { rules, voids }: Pick<History, "rules" | "voids">,
  visit: VisitCommit,
): LineVisitor {
  const own = part.base === undefined;
  return strictVisitor(rules, {
    accepted: (commit, place) => visit(commit, { own, ...place }) ?? undefined,
    void: ({ number, offset, envelope: { seq, epoch } }) =>
      void voids.push({ file: part.path, line: number, offset, seq, epoch }),
  });
}

/**
 * Scans one file of a history as far as it may be read: a base to its cut. `damage` is also a wrong end, and a missing
 * file. `until` reads it as if it ended there.
 */
export async function scanPart(
  disk: Disk,
  part: LogPart,
  { scan, visitor, until }: { scan: ScanState; visitor: LineVisitor; until?: number | undefined },
): Promise<{ remainder: Remainder; damage?: Damage }> {
  const file = await openPart(disk, part);
  if (file === undefined) {
    const damage = { line: 1, offset: 0, reason: "the file is missing" };
    return { remainder: { state: "damaged", damage }, damage };
  }
  try {
    let acceptedEnd = 0;
    const noting: LineVisitor = {
      ...visitor,
      take: (line, verdict) => {
        const reason = visitor.take(line, verdict);
        if (verdict === "accepted") acceptedEnd = line.offset + line.bytes.length;
        return reason;
      },
    };
    const remainder = await scanLines(file, scan, noting, until ?? part.base?.bytes);
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

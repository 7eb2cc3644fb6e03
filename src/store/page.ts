import type { Commit } from "../model/commit.ts";
import type { ChainHead } from "./chain.ts";
import { advance, emptyHead } from "./chain.ts";
import { zeroSum } from "./line.ts";
import type { Place, PlacedCommit } from "./page-lines.ts";
import type { PageReading, PageVoid } from "./page-reader.ts";
import { PageReader } from "./page-reader.ts";
import type { HistorySource } from "./read-log.ts";
import type { Damage, Remainder } from "./scan.ts";

/**
 * Reads the newest records, or those before a place, without reading what is older.
 *
 * R1 A page holds exactly the lines that a full reading accepts there: it ends only when no void line is open.
 * R2 It is consistent in itself, under its head's sum, and says nothing about bytes before `verifiedFrom`.
 * R3 Where only a forward reading can tell (damage, lines that stand twice), the file is read forward.
 * R4 Memory does not grow with the log: a page keeps at most 20 MiB of lines.
 */

/** Consecutive commits of a history. */
export interface Page {
  /** Oldest first. */
  readonly commits: readonly Commit[];
  /** The head before the first commit, of the file it stands in. */
  readonly before: ChainHead;
  /** The head after the last commit, of the file it stands in. */
  readonly head: ChainHead;
  /** Where the page starts: what `before` of the next older page must be. */
  readonly start: Place;
  /** True where it starts at a model call, at a user's message, or where the history starts. */
  readonly startsAtBoundary: boolean;
  /** The oldest line that was read starts here; nothing is known about what is older. */
  readonly verifiedFrom: Place;
  /** Void lines not older than the page, oldest first. */
  readonly voids: readonly PageVoid[];
  /** What stands after the last line of the session's own log; `none` in an older page. */
  readonly remainder: Remainder;
  /** The first damage that is known: the page shows what precedes it, which is not the whole history. */
  readonly damage?: Damage & { readonly file: string };
  /** True where older commits precede the page. */
  readonly hasMore: boolean;
}

/** Which page to read. */
export interface PageRequest {
  /** Records that the page holds at least, where there are so many; fewer only where their lines are over 16 MiB. */
  readonly recordsMin: number;
  /** The start of the newer page. Absent, the newest page is read. */
  readonly before?: Place;
}

/**
 * Reads one page. Damage is part of it. Rejects `not_found` where the log has no such place (it was cut or replaced
 * since), `io_error` where it changes faster than it can be read, and with a DiskError where it cannot be read.
 */
export async function readPage(source: HistorySource, request: PageRequest): Promise<Page> {
  let end = request.before;
  let damage: Page["damage"];
  for (;;) {
    const reading = await new PageReader(source, request.recordsMin, end).read();
    if (!("damage" in reading)) return assemble(reading, end ?? { part: 0, offset: 0 }, damage);
    const part = source.bases[reading.part] ?? source.own;
    damage = { ...reading.damage, file: part.path };
    // Damage behind the page does not make it longer.
    const {
      part: at,
      damage: { offset },
    } = reading;
    end = end?.part === at && end.offset < offset ? { part: at, offset: end.offset } : { part: at, offset };
  }
}

function assemble(reading: PageReading, end: Place, damage: Page["damage"]): Page {
  const { lines, older, isBoundary } = reading.lines.chosen;
  const [first, last] = [lines[0], lines.at(-1)];
  const start = first === undefined ? { ...end, offset: 0 } : startOf(first);
  const known = {
    commits: lines.map((line) => line.commit),
    before: headBefore(first, older),
    head: last === undefined ? emptyHead() : advance(last.commit),
    start,
    startsAtBoundary: isBoundary,
    verifiedFrom: first === undefined ? start : reading.verifiedFrom,
    voids: reading.voids.filter((one) => !isBefore(one, start)).toSorted(byPlace),
    hasMore: start.part > 0 || start.offset > 0,
  };
  if (damage === undefined) return { ...known, remainder: reading.remainder };
  return { ...known, remainder: { state: "damaged", damage }, damage };
}

function startOf({ part, offset, commit }: PlacedCommit): Place {
  return { part, offset, head: { seq: commit.seq - 1, sum: commit.prev } };
}

function headBefore(first: PlacedCommit | undefined, older: PlacedCommit | undefined): ChainHead {
  if (first === undefined) return emptyHead(zeroSum);
  if (older === undefined || older.part !== first.part) return emptyHead(first.commit.prev);
  return advance(older.commit);
}

function isBefore(place: Pick<Place, "part" | "offset">, other: Place): boolean {
  return place.part < other.part || (place.part === other.part && place.offset < other.offset);
}

function byPlace(one: PageVoid, other: PageVoid): number {
  return one.part - other.part || one.offset - other.offset;
}

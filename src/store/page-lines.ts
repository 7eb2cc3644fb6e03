import { rowsOfFact } from "../model/commit.ts";
import type { Commit } from "../model/commit.ts";
import type { Fact, Message, OpaqueFact } from "../model/facts.ts";
import type { ChainHead } from "./chain.ts";

/** How far back a page looks for a good place to start. */
const boundaryBytesMax = 4 * 1024 * 1024;
/** A page that is larger starts later than was asked for: memory stays bounded whatever the lines hold. */
const pageBytesMax = 16 * 1024 * 1024;

/** A place between two lines of a history. */
export interface Place {
  /** Which file: an index into the bases, or their number for the session's own log. */
  readonly part: number;
  /** Byte offset in that file. */
  readonly offset: number;
  /** The last accepted line before it in that file, where it is known. */
  readonly head?: Pick<ChainHead, "seq" | "sum">;
}

/** An accepted line with its facts, and where it stands. */
export interface PlacedCommit {
  readonly commit: Commit;
  readonly part: number;
  readonly offset: number;
  /** Length of the line. */
  readonly bytes: number;
}

/** Why a line is damage although its chain is whole; `part` where it is not in the file that is being read. */
export interface Fault {
  readonly part?: number;
  readonly offset: number;
  readonly reason: string;
}

/** Collects accepted lines from behind, checks each against its neighbour, and finds where the page starts. */
export class PageLines {
  readonly #recordsMax: number;
  /** Newest first. */
  readonly #lines: PlacedCommit[] = [];
  #bytes = 0;
  /** Records up to the end of the newest line. */
  #recordsEnd = 0;
  /** Index of the line at which enough is collected, and the bytes up to there. */
  #enough: { readonly index: number; readonly bytes: number } | undefined;
  #start: { readonly index: number; readonly isBoundary: boolean } | undefined;

  constructor(recordsMax: number) {
    this.#recordsMax = recordsMax;
  }

  /** True once it is known where the page starts. */
  get hasStart(): boolean {
    return this.#start !== undefined;
  }

  /** True once the line before the page's first one was met, too: it tells the head before the page. */
  get isComplete(): boolean {
    return this.#start !== undefined && this.#start.index < this.#lines.length - 1;
  }

  /** The page's lines, oldest first, and the line before them where it was met. */
  get chosen(): { lines: readonly PlacedCommit[]; older?: PlacedCommit; isBoundary: boolean } {
    const { index, isBoundary } = this.#start ?? { index: this.#lines.length - 1, isBoundary: true };
    const older = this.#lines[index + 1];
    const lines = this.#lines.slice(0, index + 1).reverse();
    return older === undefined ? { lines, isBoundary } : { lines, older, isBoundary };
  }

  /** Takes the line before all others so far. Returns the fault of the one after it, where that does not fit to it. */
  add(line: PlacedCommit): Fault | undefined {
    const newer = this.#lines.at(-1);
    const reason = newer === undefined ? undefined : faultOfCounters(line, newer);
    if (newer !== undefined && reason !== undefined)
      return { part: newer.part, offset: newer.offset, reason };
    if (newer === undefined) this.#recordsEnd = line.commit.rec + rowsOf(line.commit);
    this.#lines.push(line);
    if (this.#start === undefined) this.#lookForStart(line);
    return undefined;
  }

  /** Why this cannot be the line after the newest one. */
  faultOfNext(commit: Commit): string | undefined {
    const [newest] = this.#lines;
    return newest === undefined ? undefined : faultOfCounters(newest, { ...newest, commit });
  }

  /** The file starts here: why its line 0 cannot, where its counters say so. */
  faultAtStart(part: number): string | undefined {
    const oldest = this.#lines.at(-1);
    if (oldest === undefined || oldest.part !== part || oldest.offset !== 0) return undefined;
    const { rec, rev, msgs, row } = oldest.commit;
    if (row !== 0) return `row is ${row} where 0 was expected`;
    if (part > 0 || rec + rev + msgs === 0) return undefined;
    return `rec, rev and msgs are ${rec}, ${rev} and ${msgs} where 0 was expected`;
  }

  #lookForStart(line: PlacedCommit): void {
    this.#bytes += line.bytes;
    const index = this.#lines.length - 1;
    const isEnough = this.#recordsEnd - line.commit.rec >= this.#recordsMax || this.#bytes >= pageBytesMax;
    if (isEnough) this.#enough ??= { index, bytes: this.#bytes };
    const enough = this.#enough;
    if (enough === undefined) return;
    if (this.#bytes - enough.bytes > boundaryBytesMax)
      this.#start = { index: enough.index, isBoundary: false };
    else if (isBoundary(line.commit)) this.#start = { index, isBoundary: true };
  }
}

/** Why `newer` cannot follow `older`, which precedes it; a rewind's target is not known here. */
function faultOfCounters(older: PlacedCommit, newer: PlacedCommit): string | undefined {
  const { rec, row, rev, msgs, facts } = newer.commit;
  const expected: [string, number, number][] = [["rec", rec, older.commit.rec + rowsOf(older.commit)]];
  if (!facts.some((fact) => fact.kind === "rewound")) {
    const added = facts.filter((fact) => fact.kind === "message").length;
    expected.push(["rev", rev, older.commit.rev + added], ["msgs", msgs, older.commit.msgs + added]);
  }
  expected.push(["row", row, rowOffsetAfter(older, newer)]);
  const wrong = expected.find(([, found, wanted]) => found !== wanted);
  return wrong === undefined ? undefined : `${wrong[0]} is ${wrong[1]} where ${wrong[2]} was expected`;
}

function rowOffsetAfter(older: PlacedCommit, newer: PlacedCommit): number {
  if (older.part !== newer.part) return 0;
  return older.commit.facts.at(-1)?.kind === "row" ? older.offset : older.commit.row;
}

function rowsOf(commit: Commit): number {
  return commit.facts.reduce((sum, fact) => sum + rowsOfFact(fact), 0);
}

/** A page that starts here shows no answer without its question. */
function isBoundary(commit: Commit): boolean {
  return commit.facts.some((fact) => fact.kind === "model.requested" || isUserMessage(fact));
}

function isUserMessage(fact: Fact | OpaqueFact): boolean {
  return fact.kind === "message" && (fact as Message).role === "user";
}

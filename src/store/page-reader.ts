import type { DiskFile } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
import { BackwardWalk, readWalkRemainder } from "./backward-walk.ts";
import { readEnvelope, zeroSum } from "./line.ts";
import type { Fault, Place } from "./page-lines.ts";
import { PageLines } from "./page-lines.ts";
import { commitOf, parseLogFacts } from "./read-facts.ts";
import type { HistorySource, LogPart, VoidLine } from "./read-log.ts";
import { openPart, scanPart } from "./read-log.ts";
import type { Damage, Remainder } from "./scan.ts";
import { lineNumberAt, startScan, withNewline } from "./scan.ts";

/** A void line without its number, which counts from a start that was not read. */
export type PageVoid = Omit<VoidLine, "line"> & { readonly part: number };

/** What one reading from behind found. */
export interface PageReading {
  readonly lines: PageLines;
  /** Newest first; also those that are older than the page. */
  readonly voids: PageVoid[];
  remainder: Remainder;
  /** The oldest line that was read. */
  verifiedFrom: Place;
}

/** Where the history is damaged. */
export interface DamagedPart {
  readonly part: number;
  readonly damage: Damage;
}

/** What a forward reading told about a file. */
interface Told {
  readonly voidOffsets: ReadonlySet<number>;
  readonly end: number;
  readonly remainder: Remainder;
}

const firstReadBytes = 64 * 1024;
/** So often a reader of a live log starts again; then the file is replaced faster than it is read. */
const attemptsMax = 8;

/** Reads a page from behind: from the end of the own log or a place on, into the bases where it must. */
export class PageReader {
  readonly #source: HistorySource;
  readonly #parts: readonly LogPart[];
  readonly #recordsMax: number;
  #end: Place;
  /** By part: what a forward reading told. */
  readonly #told = new Map<number, Told>();

  constructor(source: HistorySource, recordsMax: number, end: Place | undefined) {
    this.#source = source;
    this.#parts = [...source.bases, source.own];
    this.#recordsMax = recordsMax;
    this.#end = end ?? { part: source.bases.length, offset: Number.MAX_SAFE_INTEGER };
  }

  /** Resolves to the page's lines, or to where the damage is that keeps them from being read. */
  async read(): Promise<PageReading | DamagedPart> {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const outcome = await this.#readOnce();
      if (outcome !== "again") return outcome;
    }
    throw new HoldfastError("io_error", `${this.#source.own.path} changes faster than it can be read`);
  }

  async #readOnce(): Promise<PageReading | DamagedPart | "again"> {
    const reading: PageReading = {
      lines: new PageLines(this.#recordsMax),
      voids: [],
      remainder: { state: "none" },
      verifiedFrom: this.#end,
    };
    for (let part = this.#end.part; part >= 0; part--) {
      if (part === this.#end.part && this.#end.offset === 0) continue;
      const read = await this.#readPart(part, reading);
      if (read === "done") break;
      if (read !== "start") return read;
    }
    return reading;
  }

  async #readPart(part: number, reading: PageReading): Promise<"start" | "done" | DamagedPart | "again"> {
    const { path } = this.#part(part);
    const file = await openPart(this.#source.disk, this.#part(part));
    if (file === undefined) return { part, damage: { line: 1, offset: 0, reason: "the file is missing" } };
    try {
      const cut = this.#cutOf(part);
      const end = cut?.offset ?? (await file.stat()).size;
      const walk = this.#startWalk(file, part, { end, expected: cut?.head });
      const collected = await this.#collect(walk, part, reading);
      if (collected === "undecided") return await this.#readForward(part);
      if (typeof collected !== "string") {
        // A copy of a line has another offset than its original, so a forward reading judges first.
        if (!this.#told.has(part)) return await this.#readForward(part);
        return await this.#damageAt(file, part, collected);
      }
      const remainder = await this.#judgeRemainder(file, walk, { part, end });
      if (remainder === "undecided") return await this.#readForward(part);
      if (remainder === "again") return "again";
      const fault = faultOfUnfinished(remainder, walk, reading.lines);
      if (fault !== undefined) return await this.#damageAt(file, part, fault);
      if (part === this.#source.bases.length) reading.remainder = remainder;
      reading.voids.push(...walk.voids.map((one) => ({ ...one, part, file: path })));
      return collected;
    } finally {
      await file.close();
    }
  }

  #part(part: number): LogPart {
    const found = this.#parts[part];
    if (found === undefined) throw new HoldfastError("not_found", `there is no file ${part} in this history`);
    return found;
  }

  /** Where the file is cut, and the head that somebody else says it has there; undefined for a whole log. */
  #cutOf(part: number): Pick<Place, "offset" | "head"> | undefined {
    if (this.#isEnd(part)) return this.#end;
    const { base } = this.#part(part);
    return base === undefined ? undefined : { offset: base.bytes, head: base };
  }

  /** True where the page ends inside this file. */
  #isEnd(part: number): boolean {
    return part === this.#end.part && this.#end.offset !== Number.MAX_SAFE_INTEGER;
  }

  /** The sum of what precedes line 0 of a file. */
  #sumBefore(part: number): string {
    return this.#parts[part - 1]?.base?.sum ?? zeroSum;
  }

  #startWalk(
    file: DiskFile,
    part: number,
    { end, expected }: { end: number; expected: Place["head"] },
  ): BackwardWalk {
    return new BackwardWalk({
      file,
      session: this.#part(part).session,
      before: this.#sumBefore(part),
      end,
      expected,
      voidOffsets: this.#told.get(part)?.voidOffsets,
      chunkBytes: firstReadBytes,
    });
  }

  /** Collects until the page has its start and nothing is open, or the file starts. */
  async #collect(
    walk: BackwardWalk,
    part: number,
    reading: PageReading,
  ): Promise<"start" | "done" | "undecided" | Fault> {
    const { lines } = reading;
    for (;;) {
      const line = await walk.next();
      if (line === "undecided") return line;
      if (line === "start") {
        const reason = lines.faultAtStart(part);
        if (reason !== undefined) return { offset: 0, reason };
        return lines.hasStart ? "done" : "start";
      }
      const { envelope, offset, bytes } = line;
      reading.verifiedFrom = { part, offset, head: { seq: envelope.seq - 1, sum: envelope.prev } };
      if (!lines.isComplete) {
        const parsed = parseLogFacts(bytes, envelope);
        if ("fault" in parsed) return { offset, reason: parsed.fault };
        const commit = commitOf(envelope, parsed.facts);
        const fault = lines.add({ commit, part, offset, bytes: bytes.length });
        if (fault !== undefined) return fault;
      }
      if (lines.isComplete && walk.isSettled) return "done";
    }
  }

  async #damageAt(file: DiskFile, part: number, fault: Fault): Promise<DamagedPart> {
    if (fault.part === undefined || fault.part === part) {
      const line = await lineNumberAt(file, fault.offset);
      return { part, damage: { line, offset: fault.offset, reason: fault.reason } };
    }
    // Only line 0 of a file has its neighbour in another one.
    return { part: fault.part, damage: { line: 1, offset: fault.offset, reason: fault.reason } };
  }

  /** What stands after the newest line. At a cut nothing may. */
  async #judgeRemainder(
    file: DiskFile,
    walk: BackwardWalk,
    { part, end }: { part: number; end: number },
  ): Promise<Remainder | "undecided" | "again"> {
    if (this.#cutOf(part) !== undefined) return walk.goodEnd === end ? { state: "none" } : "undecided";
    const told = this.#told.get(part);
    if (told !== undefined && told.end === walk.goodEnd) return told.remainder;
    return await readWalkRemainder(file, walk, { session: this.#part(part).session, end });
  }

  /** R3. Resolves to the damage, or starts again knowing where the void lines stand. */
  async #readForward(part: number): Promise<DamagedPart | "again"> {
    // Told once and still undecided: the file has changed since.
    if (this.#told.delete(part)) return "again";
    const isEnd = this.#isEnd(part);
    const wanted = isEnd ? this.#end.head : undefined;
    const scan = startScan(this.#part(part).session, this.#sumBefore(part));
    const voidOffsets = new Set<number>();
    let wantedEnd = wanted?.seq === -1 ? 0 : undefined;
    const { remainder, damage } = await scanPart(this.#source.disk, this.#part(part), {
      scan,
      visitor: {
        take: ({ offset, envelope, bytes }, verdict) => {
          if (verdict === "void") voidOffsets.add(offset);
          else if (envelope.sum === wanted?.sum) wantedEnd = offset + bytes.length;
          return undefined;
        },
        faultOf: () => undefined,
      },
      // A place whose head is known is looked for in the whole file.
      until: isEnd && wanted === undefined ? this.#end.offset : undefined,
    });
    if (damage !== undefined) return { part, damage };
    if (isEnd)
      this.#end = { ...this.#end, offset: this.#endFound(wanted === undefined ? scan.end : wantedEnd) };
    this.#told.set(part, { voidOffsets, end: scan.end, remainder });
    return "again";
  }

  /**
   * Where the page ends after all: before the copy of a line, at which the newer page started, stands the original.
   * Throws where the newer page was read from a log that said something else.
   */
  #endFound(offset: number | undefined): number {
    const { part, offset: asked, head } = this.#end;
    if (offset !== undefined && (head !== undefined || offset === asked)) return offset;
    const { path } = this.#part(part);
    throw new HoldfastError("not_found", `no line that is known ends at byte ${asked} of ${path}`, {
      hint: "The log was changed since that page was read; start again with the newest page.",
    });
  }
}

/** Why a last line that only lacks its newline cannot follow the newest one, as far as the page can tell. */
function faultOfUnfinished(
  remainder: Remainder,
  { goodEnd = 0, head }: Pick<BackwardWalk, "goodEnd" | "head">,
  lines: PageLines,
): Fault | undefined {
  if (remainder.state !== "complete") return undefined;
  const bytes = withNewline(remainder.bytes);
  const envelope = readEnvelope(bytes);
  // One that continues an older line would be void, and hold whatever it likes.
  if (envelope === undefined || envelope.prev !== head?.sum) return undefined;
  const parsed = parseLogFacts(bytes, envelope);
  const reason = "fault" in parsed ? parsed.fault : lines.faultOfNext(commitOf(envelope, parsed.facts));
  return reason === undefined ? undefined : { offset: goodEnd, reason };
}

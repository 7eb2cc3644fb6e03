import type { Disk, DiskFile } from "../host/index.ts";
import { DiskError, equalBytes, isDiskError } from "../host/index.ts";
import type { Commit } from "../model/commit.ts";
import { HoldfastError } from "../model/errors.ts";
import type { Fact, OpaqueFact } from "../model/facts.ts";
import { advance } from "./chain.ts";
import type { CounterFold, LineCounters } from "./counters.ts";
import type { Envelope } from "./line.ts";
import { encodeLine, readEnvelope } from "./line.ts";
import { commitOf, parseFacts } from "./read-facts.ts";
import type { Remainder, ScannedLine, ScanState } from "./scan.ts";
import { scanLines } from "./scan.ts";

/**
 * The only writer of lines. One append is
 *
 *     catch up → encode → write → sync → look → acknowledged | fenced
 *                  X        X       X      X            (X: the process may die here)
 *
 * A2 Acknowledged means synced: and seen at its place, in the file that the path names, with nothing beside it.
 * P1 No line is written after one that this process did not sync itself, so at most one line is ever unsynced.
 * P2 Every fold that shows an epoch above the writer's ends the writer.
 * P3 After a failed write or sync nothing is appended until the bytes are provably gone; re-reading proves nothing,
 *    since it reads the page cache.
 */

/** Who writes, where, and what must still be true for it to write on. */
export interface AppenderOptions {
  readonly disk: Disk;
  /** Open for append. The appender closes it. */
  readonly file: DiskFile;
  /** Where the reader stopped; moved along by the appender. */
  readonly scan: ScanState;
  /** The counters of a log; a queue has none. */
  readonly counters?: CounterFold;
  /** The lock that makes us the writer. */
  readonly guard: { readonly path: string; readonly inode: string };
  /** The writer's epoch, where it holds the lease: a higher one in the file ends it. */
  epoch?(): number;
  /** Notes durably, before a cut is tried, that bytes from `size` on are unsure; `undefined` takes it back. */
  noteUnsure(size: number | undefined): Promise<void>;
  /** Called for each accepted line, ours too, when it is acknowledged or found. */
  accepted(commit: Commit, offset: number): void;
  /** Under the queue's append lock a remainder is mended or refused; a log's writer has no business with one. */
  mend?(remainder: Remainder): Promise<void>;
}

/** An acknowledged line. */
export interface Appended {
  readonly commit: Commit;
  /** Where it starts. */
  readonly offset: number;
  /** Where it ends. */
  readonly end: number;
}

const noCounters: LineCounters = { rec: 0, rev: 0, msgs: 0, row: 0 };

/** Appends lines to one file, one at a time. */
export class Appender {
  readonly #options: AppenderOptions;
  #turn: Promise<unknown> = Promise.resolve();
  #ended: HoldfastError | undefined;
  /** False until this process has synced all that the file holds. */
  #synced = false;

  constructor(options: AppenderOptions) {
    this.#options = options;
  }

  /** The head, the end and the sums of what is accepted. */
  get scan(): Readonly<ScanState> {
    return this.#options.scan;
  }

  /**
   * Appends one line. Resolves when it is acknowledged. Rejects `fenced` when another writer won (nothing that depends
   * on the line may happen), `disk_full` or `io_error` when it was provably undone, `durability_unknown` when not.
   */
  append(facts: readonly (Fact | OpaqueFact)[], line: { epoch: number; at: number }): Promise<Appended> {
    return this.#enqueue(() => this.#appendNow(facts, line));
  }

  /** Folds what others have added. */
  catchUp(): Promise<void> {
    return this.#enqueue(() => this.#catchUp());
  }

  async close(): Promise<void> {
    await this.#enqueue(() => this.#options.file.close());
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    // The next in line starts after this one, whichever way it ended; its own caller sees its failure.
    this.#turn = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  async #appendNow(
    facts: readonly (Fact | OpaqueFact)[],
    line: { epoch: number; at: number },
  ): Promise<Appended> {
    if (this.#ended !== undefined) throw this.#ended;
    await this.#catchUp();
    const { bytes, envelope } = this.#encode(facts, line);
    await this.#syncOthers();
    const offset = this.#options.scan.end;
    await this.#writeAndSync(bytes, offset);
    const alone = await this.#isAlone(bytes, offset);
    if (alone) {
      const commit = commitOf(envelope, facts);
      this.#accept(commit, offset);
      this.#options.scan.end = offset + bytes.length;
      this.#options.scan.lines++;
      this.#synced = true;
      return { commit, offset, end: offset + bytes.length };
    }
    return await this.#findOurs(envelope.sum);
  }

  #encode(
    facts: readonly (Fact | OpaqueFact)[],
    line: { epoch: number; at: number },
  ): { bytes: Uint8Array; envelope: Envelope } {
    const { scan, counters } = this.#options;
    const seq = scan.head.seq + 1;
    const numbers = counters === undefined ? noCounters : counters.preview(scan.session, seq, facts);
    if (numbers === undefined) throw new HoldfastError("internal", "a rewind names a line that is not there");
    const bytes = encodeLine({ ses: scan.session, seq, ...line, ...numbers, prev: scan.head.sum }, facts);
    const envelope = readEnvelope(bytes);
    if (envelope === undefined) {
      throw new HoldfastError(
        "internal",
        `a line of ${bytes.length} bytes does not verify; nothing was written`,
      );
    }
    const parsed = parseFacts(bytes, envelope);
    if ("fault" in parsed) throw new HoldfastError("internal", `${parsed.fault}; nothing was written`);
    return { bytes, envelope };
  }

  /** P1. A failure here may have lost a line that somebody else wrote and never acknowledged. */
  async #syncOthers(): Promise<void> {
    if (this.#synced) return;
    const { file, scan } = this.#options;
    try {
      await file.sync();
      this.#synced = true;
    } catch (error) {
      await this.#options.noteUnsure(scan.end);
      throw this.#end(durabilityUnknown(scan.session, error));
    }
  }

  async #writeAndSync(bytes: Uint8Array, offset: number): Promise<void> {
    const { file } = this.#options;
    let written: number | undefined;
    try {
      written = await file.write(bytes);
      if (written !== bytes.length) throw new DiskError("SHORT_WRITE", "write", file.path);
      await file.sync();
    } catch (error) {
      throw await this.#undo(bytes, offset, { written, error });
    }
  }

  /** P3. Resolves to the error that the caller gets. */
  async #undo(
    bytes: Uint8Array,
    offset: number,
    failure: { written: number | undefined; error: unknown },
  ): Promise<HoldfastError> {
    const { disk, file, guard, scan } = this.#options;
    await this.#options.noteUnsure(offset);
    try {
      const written = failure.written ?? (await file.stat()).size - offset;
      const ours = bytes.subarray(0, Math.max(0, Math.min(written, bytes.length)));
      if (!(await disk.cutTail({ path: file.path, size: offset, bytes: ours, guard }))) {
        return this.#end(fenced(scan.session, "something else stands where our line was written"));
      }
    } catch (error) {
      return this.#end(durabilityUnknown(scan.session, error));
    }
    await this.#options.noteUnsure(undefined);
    return storageError(failure.error, file.path);
  }

  /** True where the file holds exactly what we knew and our bytes, and the path still names it. */
  async #isAlone(bytes: Uint8Array, offset: number): Promise<boolean> {
    const { disk, file } = this.#options;
    const [now, named] = [await file.stat(), await disk.stat(file.path)];
    if (now.size !== offset + bytes.length || named?.inode !== now.inode) return false;
    const there = new Uint8Array(bytes.length);
    return (await file.read(there, offset)) === bytes.length && equalBytes(there, bytes);
  }

  /** Folds what stands after the known end, and looks for our line in it. */
  async #findOurs(sum: string): Promise<Appended> {
    const { file, scan, disk } = this.#options;
    const found: Appended[] = [];
    await this.#fold((commit, offset, end) => {
      if (commit.sum === sum) found.push({ commit, offset, end });
    });
    const named = await disk.stat(file.path);
    const replaced = named?.inode !== (await file.stat()).inode;
    const [ours] = found;
    if (ours !== undefined && !replaced) return ours;
    throw this.#end(
      fenced(scan.session, replaced ? "the file was replaced" : "another writer continued the log"),
    );
  }

  async #catchUp(): Promise<void> {
    const { disk, file, scan } = this.#options;
    const [now, named] = [await file.stat(), await disk.stat(file.path)];
    if (named?.inode !== now.inode) throw this.#end(fenced(scan.session, "the file was replaced"));
    if (now.size === scan.end) return;
    if (now.size < scan.end) throw this.#end(fenced(scan.session, "the file became shorter"));
    const remainder = await this.#fold(() => undefined);
    if (this.#ended !== undefined) throw this.#ended;
    if (remainder.state === "none") return;
    if (this.#options.mend === undefined) {
      throw this.#end(fenced(scan.session, "something that is no line was written behind the last one"));
    }
    await this.#options.mend(remainder);
    await this.#fold(() => undefined);
  }

  /** Takes in the lines that others wrote. */
  async #fold(each: (commit: Commit, offset: number, end: number) => void): Promise<Remainder> {
    const { file, scan } = this.#options;
    const epoch = this.#options.epoch?.();
    const visit = (line: ScannedLine, verdict: "accepted" | "void"): string | undefined => {
      this.#synced = false;
      if (verdict === "void") return undefined;
      const parsed = parseFacts(line.bytes, line.envelope);
      if ("fault" in parsed) return parsed.fault;
      const commit = commitOf(line.envelope, parsed.facts);
      this.#account(commit, line.offset);
      each(commit, line.offset, line.offset + line.bytes.length);
      return undefined;
    };
    const remainder = await scanLines(file, scan, visit);
    if (epoch !== undefined && scan.head.epoch > epoch) {
      this.#end(fenced(scan.session, `epoch ${scan.head.epoch} has begun, ours was ${epoch}`));
    }
    return remainder;
  }

  #accept(commit: Commit, offset: number): void {
    const { scan } = this.#options;
    scan.head = advance(commit);
    scan.sums.push(commit.sum);
    this.#account(commit, offset);
  }

  #account(commit: Commit, offset: number): void {
    const { counters, scan } = this.#options;
    counters?.apply({ session: scan.session, seq: commit.seq, offset }, commit.facts);
    this.#options.accepted(commit, offset);
  }

  /** Ends the writer; the first reason stays. */
  #end(error: HoldfastError): HoldfastError {
    this.#ended ??= error;
    return this.#ended;
  }
}

function fenced(session: string, why: string): HoldfastError {
  return new HoldfastError("fenced", `session ${session} was taken over: ${why}`, {
    hint: `This process has stopped writing. See who holds it: holdfast session show ${session}`,
  });
}

function durabilityUnknown(session: string, cause: unknown): HoldfastError {
  return new HoldfastError(
    "durability_unknown",
    `a write to session ${session} failed and could not be undone`,
    {
      hint: `Write it anew from what is readable: holdfast session repair ${session}`,
      cause,
    },
  );
}

/** The typed error for a failed effect on a file of the session. */
export function storageError(error: unknown, path: string): HoldfastError {
  if (isDiskError(error, "ENOSPC", "EDQUOT", "SHORT_WRITE", "EFBIG")) {
    return new HoldfastError("disk_full", `no space left to write ${path}`, {
      hint: "Free some space and run the same command again; what was acknowledged is intact.",
      cause: error,
    });
  }
  const code = isDiskError(error) ? error.code : String(error);
  return new HoldfastError("io_error", `cannot write ${path}: ${code}`, { cause: error });
}

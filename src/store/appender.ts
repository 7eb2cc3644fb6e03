import type { Disk, DiskFile } from "../host/index.ts";
import { DiskError, equalBytes, Fifo, isDiskError, readAt } from "../host/index.ts";
import type { Commit } from "../model/commit.ts";
import { HoldfastError } from "../model/errors.ts";
import type { Fact, OpaqueFact } from "../model/facts.ts";
import { advance, judge } from "./chain.ts";
import { damagedLog } from "./damage-errors.ts";
import type { FileRules, LinePlace } from "./file-rules.ts";
import { judgeByRules, strictVisitor } from "./file-rules.ts";
import { encodeLine, raisesEpoch, readEnvelope } from "./line.ts";
import type { Remainder, ScanState } from "./scan.ts";
import { scanLines } from "./scan.ts";
import { takeBack, type UnsureBytes } from "./take-back.ts";
import { durabilityUnknown, fenced, onStorage, storageError, unseen } from "./write-errors.ts";

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
 * P4 A writer that cannot tell whether its line is there ends: whoever comes next finds it, and nobody repeats it.
 * P5 Nothing is written that a strict reader would refuse.
 */

/** Who writes, where, and what must still be true for it to write on. */
export interface AppenderOptions {
  readonly disk: Disk;
  /** Open for append. The appender closes it. */
  readonly file: DiskFile;
  /** Where the reader stopped; moved along by the appender. */
  readonly scan: ScanState;
  /** What a strict reader asks of the file's lines; moved along by the appender. */
  readonly rules: FileRules;
  /** The lock that makes us the writer. */
  readonly guard: { readonly path: string; readonly inode: string };
  readonly unsure: UnsureBytes;
  /** The writer's epoch, where it holds the lease: a higher one in the file ends it. */
  readonly epoch?: () => number;
  /**
   * Called once for each accepted line, ours too, when it is acknowledged or found. A returned text says why its facts
   * cannot be true after those before it: that ends the writer.
   */
  readonly accepted: (commit: Commit, place: LinePlace) => string | undefined;
  /**
   * Set for a file that others append to as well, under a lock that we hold only now and then: mends or refuses what
   * stands behind the last line. A log has one appender, who has no business with a remainder that it did not leave.
   */
  readonly mend?: (remainder: Remainder) => Promise<void>;
  /** Finds what makes these facts superfluous, or rejects where they contradict it. Nothing is written then. */
  readonly find?: (facts: readonly (Fact | OpaqueFact)[]) => Promise<Appended | undefined>;
}

/** An acknowledged line, and where it stands. */
export interface Appended extends LinePlace {
  readonly commit: Commit;
}

interface EncodedLine {
  readonly bytes: Uint8Array;
  readonly commit: Commit;
}

/** Appends lines to one file, one at a time. */
export class Appender {
  readonly #options: AppenderOptions;
  readonly #turns = new Fifo();
  #ended: HoldfastError | undefined;
  #closed = false;
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
   * on the line may happen); `disk_full` or `io_error` when nothing of it is left, or when this writer has ended and
   * the next one will find the line; `durability_unknown` when it could not be undone.
   */
  append(facts: readonly (Fact | OpaqueFact)[], line: { epoch: number; at: number }): Promise<Appended> {
    return this.#turns.run(async () => {
      await this.#catchUp();
      return (await this.#options.find?.(facts)) ?? (await this.#appendNow(facts, line));
    });
  }

  /** Why this writer has ended; undefined while it may append. */
  get ended(): HoldfastError | undefined {
    return this.#ended;
  }

  /** Folds what others have added. Rejects when the writer has ended. */
  catchUp(): Promise<void> {
    return this.#turns.run(() => this.#catchUp());
  }

  /** Ends the writer when what was asked before is done. */
  close(): Promise<void> {
    return this.#turns.run(async () => {
      const { file, scan, unsure } = this.#options;
      if (this.#ended === undefined) await settleQuietly(unsure);
      this.#end(new HoldfastError("internal", `session ${scan.session} was let go by this process`));
      if (this.#closed) return;
      this.#closed = true;
      await onStorage(file.path, () => file.close());
    });
  }

  async #appendNow(
    facts: readonly (Fact | OpaqueFact)[],
    envelope: { epoch: number; at: number },
  ): Promise<Appended> {
    const { file } = this.#options;
    const line = this.#encode(facts, envelope);
    // P3. A note that outlives its bytes would close the session for whoever comes next.
    await onStorage(file.path, () => this.#options.unsure.settle());
    await this.#syncOthers();
    const offset = this.#options.scan.end;
    await this.#writeAndSync(line.bytes, offset);
    try {
      if (await this.#isAlone(line.bytes, offset)) return this.#acknowledge(line, offset);
      return await this.#findOurs(line.commit.sum);
    } catch (error) {
      throw isDiskError(error) ? this.#end(unseen(file.path, error)) : error;
    }
  }

  /** P5. The writer decodes and judges its own bytes before it writes them. */
  #encode(facts: readonly (Fact | OpaqueFact)[], line: { epoch: number; at: number }): EncodedLine {
    const { scan, rules } = this.#options;
    const seq = scan.head.seq + 1;
    const numbers = rules.countersOf(seq, facts);
    if (numbers === undefined) throw unwritable("a rewind names a line that is not there");
    const bytes = encodeLine({ ses: scan.session, seq, ...line, ...numbers, prev: scan.head.sum }, facts);
    const envelope = readEnvelope(bytes);
    if (envelope === undefined) throw unwritable(`a line of ${bytes.length} bytes does not verify`);
    const judged = judgeByRules(rules, bytes, envelope);
    if ("fault" in judged) throw unwritable(judged.fault);
    const raises = raisesEpoch(bytes, envelope);
    if (judge(scan.head, scan.sums, envelope, raises) !== "accepted") {
      // Two who take the lease at once, if locks fail them, count to the same epoch: the first one has it.
      if (raises) throw this.#end(fenced(scan.session, `epoch ${scan.head.epoch} has begun already`));
      throw unwritable(`epoch ${line.epoch} is not ${scan.head.epoch}`);
    }
    return { bytes, commit: judged.commit };
  }

  /** P1. A failure here may have lost a line that somebody else wrote: it may be shown already, so it cannot be cut. */
  async #syncOthers(): Promise<void> {
    if (this.#synced) return;
    const { file, scan, unsure } = this.#options;
    try {
      await file.sync();
      this.#synced = true;
    } catch (error) {
      await unsure.note(scan.end);
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
    size: number,
    failure: { written: number | undefined; error: unknown },
  ): Promise<HoldfastError> {
    const { disk, file, guard, scan, unsure } = this.#options;
    await unsure.note(size);
    let written: number;
    try {
      written = failure.written ?? (await file.stat()).size - size;
    } catch (error) {
      return this.#end(durabilityUnknown(scan.session, error));
    }
    const ours = bytes.subarray(0, Math.max(0, Math.min(written, bytes.length)));
    const taken = await takeBack({ disk, path: file.path, size, bytes: ours, guard });
    switch (taken.state) {
      case "gone":
        await unsure.gone();
        return storageError(failure.error, file.path);
      case "foreign":
        return this.#end(fenced(scan.session, "something else stands where our line was written"));
      case "unsure":
        return this.#end(durabilityUnknown(scan.session, taken.cause));
    }
  }

  /** True where the file holds exactly what we knew and our bytes, and the path still names it. */
  async #isAlone(bytes: Uint8Array, offset: number): Promise<boolean> {
    const { size, replaced } = await this.#look();
    if (replaced || size !== offset + bytes.length) return false;
    return equalBytes(await readAt(this.#options.file, offset, bytes.length), bytes);
  }

  #acknowledge({ bytes, commit }: EncodedLine, offset: number): Appended {
    const { file, scan, rules } = this.#options;
    const end = offset + bytes.length;
    scan.head = advance(commit);
    scan.sums.push(commit.sum);
    scan.end = end;
    scan.lines++;
    rules.take({ seq: commit.seq, offset }, commit.facts);
    this.#synced = true;
    const reason = this.#options.accepted(commit, { offset, end });
    if (reason !== undefined) {
      const damage = { file: file.path, line: scan.lines, offset, reason };
      throw this.#end(damagedLog(damage, scan.session));
    }
    return { commit, offset, end };
  }

  /** Folds what stands after the known end, and looks for our line in it. */
  async #findOurs(sum: string): Promise<Appended> {
    const { scan, mend } = this.#options;
    const found: Appended[] = [];
    await this.#fold((appended) => {
      if (appended.commit.sum === sum) found.push(appended);
    });
    if ((await this.#look()).replaced) throw this.#end(fenced(scan.session, "the file was replaced"));
    const [ours] = found;
    if (ours !== undefined) return ours;
    const overtaken = fenced(scan.session, "another writer was faster");
    // Where others may write, being overtaken costs this one line; where nobody may, it means that we are not the one.
    throw mend === undefined ? this.#end(overtaken) : (this.#ended ?? overtaken);
  }

  async #catchUp(): Promise<void> {
    if (this.#ended !== undefined) throw this.#ended;
    const { file } = this.#options;
    await onStorage(file.path, () => this.#takeInOthers());
    if (this.#ended !== undefined) throw this.#ended;
  }

  async #takeInOthers(): Promise<void> {
    const { disk, guard, scan, mend } = this.#options;
    const { size, replaced } = await this.#look();
    if (replaced) throw this.#end(fenced(scan.session, "the file was replaced"));
    if ((await disk.stat(guard.path))?.inode !== guard.inode) {
      throw this.#end(fenced(scan.session, "its lock file was replaced"));
    }
    if (size === scan.end) return;
    if (size < scan.end) throw this.#end(fenced(scan.session, "the file became shorter"));
    const remainder = await this.#fold(() => undefined);
    if (this.#ended !== undefined || remainder.state === "none") return;
    if (mend === undefined) {
      throw this.#end(fenced(scan.session, "something that is no line was written behind the last one"));
    }
    await mend(remainder);
    await this.#fold(() => undefined);
  }

  async #look(): Promise<{ size: number; replaced: boolean }> {
    const { disk, file } = this.#options;
    const [open, named] = [await file.stat(), await disk.stat(file.path)];
    return { size: open.size, replaced: named?.inode !== open.inode };
  }

  /** Takes in the lines that others wrote. */
  async #fold(each: (appended: Appended) => void): Promise<Remainder> {
    const { file, scan, rules, accepted } = this.#options;
    const epoch = this.#options.epoch?.();
    const visitor = strictVisitor(rules, {
      accepted: (commit, place) => {
        this.#synced = false;
        const fault = accepted(commit, place);
        if (fault === undefined) each({ commit, ...place });
        return fault;
      },
      void: () => {
        this.#synced = false;
      },
    });
    const remainder = await scanLines(file, scan, visitor);
    if (epoch !== undefined && scan.head.epoch > epoch) {
      this.#end(fenced(scan.session, `epoch ${scan.head.epoch} has begun, ours was ${epoch}`));
    }
    return remainder;
  }

  /** Ends the writer; the first reason stays. */
  #end(error: HoldfastError): HoldfastError {
    this.#ended ??= error;
    return this.#ended;
  }
}

/** The last try of this writer; whoever comes next is told what stands then. */
async function settleQuietly(unsure: UnsureBytes): Promise<void> {
  try {
    await unsure.settle();
  } catch (error) {
    if (!isDiskError(error)) throw error;
  }
}

function unwritable(why: string): HoldfastError {
  return new HoldfastError("internal", `${why}; nothing was written`);
}

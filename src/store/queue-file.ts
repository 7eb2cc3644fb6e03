import { dirname } from "node:path";
import type { DiskFile, HeldLock, Host } from "../host/index.ts";
import { isDiskError } from "../host/index.ts";
import type { Commit } from "../model/commit.ts";
import { HoldfastError } from "../model/errors.ts";
import type { EpochRaised, Fact, Repaired } from "../model/facts.ts";
import type { Appended } from "./appender.ts";
import { Appender, storageError } from "./appender.ts";
import { emptyHead, SumHistory } from "./chain.ts";
import type { HeadKeeper } from "./head-keeper.ts";
import { takeAppendLock } from "./lease.ts";
import { zeroSum } from "./line.ts";
import { commitOf, parseFacts } from "./read-facts.ts";
import type { Damage, Remainder, ScannedLine, ScanState } from "./scan.ts";
import { scanLines } from "./scan.ts";
import type { SessionFolder } from "./session-folder.ts";
import { recoverTail } from "./tail-recovery.ts";

/**
 * The queue: appended under its own lock by anybody, in lines of the same format with a chain of their own. A line of
 * somebody who does not hold the session carries the epoch of the queue's last line; only a holder raises it, in the
 * first line of its epoch. An absent queue is an empty one.
 */

/** Takes each accepted line of the queue in order. */
export type VisitQueue = (commit: Commit) => void;

/** What may be done under the append lock. */
export interface QueueTransaction {
  /** Appends one line. Resolves when it is acknowledged. */
  append(facts: readonly Fact[]): Promise<Appended>;
}

interface OpenQueue {
  readonly appender: Appender;
  /** Inode of the lock under which it was opened. */
  readonly lock: string;
  /** What the next line must say about the tail. */
  repaired?: Repaired;
}

/** The queue's writer of one process. */
export class QueueFile {
  readonly #host: Host;
  readonly #folder: SessionFolder;
  readonly #keeper: HeadKeeper;
  readonly #recoveryDirectory: string;
  readonly #visit: VisitQueue;
  /** The holder's epoch and the fact that raises it; absent for anybody else. */
  readonly #holder: { epoch: number; raised: EpochRaised } | undefined;
  #open: OpenQueue | undefined;
  readonly #seen: ScanState;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: {
    host: Host;
    folder: SessionFolder;
    keeper: HeadKeeper;
    recoveryDirectory: string;
    visit: VisitQueue;
    holder?: { epoch: number; raised: EpochRaised };
  }) {
    this.#host = options.host;
    this.#folder = options.folder;
    this.#keeper = options.keeper;
    this.#recoveryDirectory = options.recoveryDirectory;
    this.#visit = options.visit;
    this.#holder = options.holder;
    this.#seen = emptyQueue(options.folder.id);
  }

  /**
   * Runs `work` under the append lock, after all that others appended was visited. One at a time in this process.
   * Rejects `busy` after 2 s, `deleted`, `queue_damaged`, `durability_unknown` or a storage error.
   */
  transact<T>(work: (transaction: QueueTransaction) => Promise<T>): Promise<T> {
    const result = this.#turn.then(() => this.#transactNow(work));
    // The next in line starts after this one, whichever way it ended; its own caller sees its failure.
    this.#turn = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  async close(): Promise<void> {
    await this.#open?.appender.close();
    this.#open = undefined;
  }

  async #transactNow<T>(work: (transaction: QueueTransaction) => Promise<T>): Promise<T> {
    const lock = await takeAppendLock(this.#host, this.#folder);
    try {
      await this.#keeper.refuseUnsure(await this.#keeper.read(), "queue");
      await this.#catchUp(lock);
      return await work({ append: (facts) => this.#append(lock, facts) });
    } finally {
      await lock.release();
    }
  }

  async #append(lock: HeldLock, facts: readonly Fact[]): Promise<Appended> {
    const open = this.#open ?? (await this.#create(lock));
    const { epoch } = open.appender.scan.head;
    const raises = this.#holder !== undefined && this.#holder.epoch > epoch;
    const before: Fact[] = raises && this.#holder !== undefined ? [this.#holder.raised] : [];
    if (open.repaired !== undefined) before.push(open.repaired);
    const line = { epoch: raises ? (this.#holder?.epoch ?? epoch) : epoch, at: this.#host.clock.now() };
    const appended = await open.appender.append([...before, ...facts], line);
    delete open.repaired;
    return appended;
  }

  /** Opens the file where it is not open under this very lock, and takes in what others appended. */
  async #catchUp(lock: HeldLock): Promise<void> {
    if (this.#open !== undefined) {
      if (this.#open.lock === lock.inode) return await this.#open.appender.catchUp();
      throw new HoldfastError("fenced", `the folder of session ${this.#folder.id} was replaced`);
    }
    let file: DiskFile;
    try {
      file = await this.#host.disk.open(this.#folder.queue, "append");
    } catch (error) {
      if (isDiskError(error, "ENOENT")) return;
      throw storageError(error, this.#folder.queue);
    }
    await this.#adopt(lock, file);
  }

  async #create(lock: HeldLock): Promise<OpenQueue> {
    const { disk } = this.#host;
    try {
      const file = await disk.open(this.#folder.queue, "create_append");
      await disk.syncDirectory(dirname(this.#folder.queue));
      return await this.#adopt(lock, file);
    } catch (error) {
      if (error instanceof HoldfastError) throw error;
      throw storageError(error, this.#folder.queue);
    }
  }

  async #adopt(lock: HeldLock, file: DiskFile): Promise<OpenQueue> {
    const { path, inode } = lock;
    const holder = this.#holder;
    const appender: Appender = new Appender({
      disk: this.#host.disk,
      file,
      scan: this.#seen,
      guard: { path, inode },
      ...(holder && { epoch: () => holder.epoch }),
      noteUnsure: (size) => this.#keeper.note("queue", size),
      accepted: (commit) => this.#visit(commit),
      mend: (remainder) => this.#mend(remainder, { path, inode }),
    });
    this.#open = { appender, lock: inode };
    await appender.catchUp();
    return this.#open;
  }

  async #mend(remainder: Remainder, guard: { path: string; inode: string }): Promise<void> {
    if (remainder.state === "damaged")
      throw damagedQueue(this.#folder.id, this.#folder.queue, remainder.damage);
    const repaired = await recoverTail({
      disk: this.#host.disk,
      ids: this.#host.ids,
      session: this.#folder.id,
      path: this.#folder.queue,
      end: this.#seen.end,
      remainder,
      guard,
      recoveryDirectory: this.#recoveryDirectory,
    });
    if (repaired !== undefined && this.#open !== undefined) this.#open.repaired = repaired;
  }
}

function emptyQueue(session: string): ScanState {
  return { session, mayBeEmpty: true, head: emptyHead(), sums: new SumHistory(zeroSum), end: 0, lines: 0 };
}

/** The typed error for a damaged queue. */
export function damagedQueue(session: string, path: string, damage: Damage): HoldfastError {
  const { line, offset, reason } = damage;
  return new HoldfastError("queue_damaged", `${path}: line ${line}, byte ${offset}: ${reason}`, {
    hint: `What is intact can be read: holdfast session show ${session}`,
    at: { file: path, line, offset },
  });
}

/** Reads the queue without a lock: what stands there up to the first thing that is no line. */
export async function readQueue(
  host: Host,
  folder: SessionFolder,
  visit: VisitQueue,
): Promise<{ scan: ScanState; remainder: Remainder }> {
  const scan = emptyQueue(folder.id);
  let file: DiskFile;
  try {
    file = await host.disk.open(folder.queue, "read");
  } catch (error) {
    if (isDiskError(error, "ENOENT")) return { scan, remainder: { state: "none" } };
    throw error;
  }
  const visitLine = (line: ScannedLine, verdict: "accepted" | "void"): string | undefined => {
    if (verdict === "void") return undefined;
    const parsed = parseFacts(line.bytes, line.envelope);
    if ("fault" in parsed) return parsed.fault;
    visit(commitOf(line.envelope, parsed.facts));
    return undefined;
  };
  try {
    return { scan, remainder: await scanLines(file, scan, visitLine) };
  } finally {
    await file.close();
  }
}

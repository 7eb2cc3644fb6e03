import { dirname } from "node:path";
import type { HeldLock, Host } from "../host/index.ts";
import { isDiskError } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
import type { EpochRaised, Fact, Repaired } from "../model/facts.ts";
import type { Appended } from "./appender.ts";
import { Appender } from "./appender.ts";
import { damagedQueue } from "./damage-errors.ts";
import { queueRules } from "./file-rules.ts";
import type { HeadKeeper } from "./head-keeper.ts";
import { appendForMs, deleted, isDeleted, takeAppendLock } from "./lease.ts";
import { emptyQueue, type VisitQueue } from "./read-queue.ts";
import type { Remainder, ScanState } from "./scan.ts";
import type { SessionFolder } from "./session-folder.ts";
import { recoverTail } from "./tail-recovery.ts";
import type { AppendTurns } from "./turns.ts";
import { onStorage } from "./write-errors.ts";

/**
 * The queue: appended under its own lock by anybody, in lines of the same format with a chain of their own. A line of
 * somebody who does not hold the session carries the epoch of the queue's last line; only a holder raises it, in the
 * first line of its epoch. An absent queue is an empty one.
 */

/** What may be done under the append lock. Ends when the work given to {@link QueueFile.transact} has ended. */
export interface QueueTransaction {
  /** True where the session is being deleted: then nothing may be appended. */
  readonly deleted: boolean;
  /** Appends one line. Resolves when it is acknowledged; rejects like {@link Appender.append}. */
  append(facts: readonly Fact[]): Promise<Appended>;
}

interface OpenQueue {
  readonly appender: Appender;
  /** Inode of the lock under which it was opened. */
  readonly lock: string;
}

/** The queue's writer of one process. */
export class QueueFile {
  readonly #host: Host;
  readonly #folder: SessionFolder;
  readonly #keeper: HeadKeeper;
  readonly #recoveryDirectory: string;
  readonly #turns: AppendTurns;
  readonly #visit: VisitQueue;
  /** The holder's epoch and the fact that raises it; absent for anybody else. */
  readonly #holder: { epoch: number; raised: EpochRaised } | undefined;
  readonly #seen: ScanState;
  #open: OpenQueue | undefined;
  #closed = false;
  /** What the next line must say about the tail. */
  #repaired: Repaired | undefined;

  constructor(options: {
    host: Host;
    folder: SessionFolder;
    keeper: HeadKeeper;
    recoveryDirectory: string;
    turns: AppendTurns;
    visit: VisitQueue;
    holder?: { epoch: number; raised: EpochRaised };
  }) {
    this.#host = options.host;
    this.#folder = options.folder;
    this.#keeper = options.keeper;
    this.#recoveryDirectory = options.recoveryDirectory;
    this.#turns = options.turns;
    this.#visit = options.visit;
    this.#holder = options.holder;
    this.#seen = emptyQueue(options.folder.id);
  }

  /**
   * Runs `work` under the append lock, after all that others appended was visited. One at a time in this process.
   * Rejects `busy` after 2 s, `queue_damaged`, `durability_unknown`, `fenced` or a storage error; `deleted` where the
   * session is being deleted, unless `evenDeleted`.
   */
  transact<T>(
    work: (transaction: QueueTransaction) => Promise<T>,
    options: { evenDeleted?: boolean } = {},
  ): Promise<T> {
    const untilMs = this.#host.clock.monotonicMs() + appendForMs;
    return this.#turns.run(this.#folder.queue, async () => {
      const lock = await takeAppendLock(this.#host, this.#folder, untilMs);
      try {
        return await this.#transactNow(lock, work, options.evenDeleted ?? false);
      } finally {
        await lock.release();
      }
    });
  }

  /** True where others may have appended since this writer looked. Takes no lock. */
  async hasGrown(): Promise<boolean> {
    const stat = await onStorage(this.#folder.queue, () => this.#host.disk.stat(this.#folder.queue));
    return stat !== undefined && stat.size !== this.#seen.end;
  }

  /** Calls `changed` when somebody may have appended, soon after it; returns how to end that. */
  watch(changed: () => void): () => void {
    return this.#host.disk.watch(this.#folder.root, changed);
  }

  /** Ends the writer; waits for what it is doing. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#turns.run(this.#folder.queue, async () => this.#open?.appender.close());
  }

  async #transactNow<T>(
    lock: HeldLock,
    work: (transaction: QueueTransaction) => Promise<T>,
    evenDeleted: boolean,
  ): Promise<T> {
    if (this.#closed) throw letGo(this.#folder.id);
    const isGone = await isDeleted(this.#host, this.#folder);
    if (isGone && !evenDeleted) throw deleted(this.#folder);
    const { queue, head } = this.#folder;
    await onStorage(head, async () => this.#keeper.refuseUnsure(await this.#keeper.read(), "queue"));
    await onStorage(queue, () => this.#catchUp(lock));
    let over = false;
    const append = async (facts: readonly Fact[]): Promise<Appended> => {
      if (over) throw letGo(this.#folder.id);
      if (isGone) throw deleted(this.#folder);
      return await onStorage(queue, () => this.#append(lock, facts));
    };
    try {
      return await work({ deleted: isGone, append });
    } finally {
      over = true;
    }
  }

  async #append(lock: HeldLock, facts: readonly Fact[]): Promise<Appended> {
    const open = this.#open ?? (await this.#create(lock));
    const { epoch, seq } = open.appender.scan.head;
    // Whoever made the file, or the session with it, may have died before their names were durable.
    if (seq <= 0) await this.#syncNames();
    const raised = this.#holder !== undefined && this.#holder.epoch > epoch ? this.#holder : undefined;
    const before: Fact[] = raised === undefined ? [] : [raised.raised];
    if (this.#repaired !== undefined) before.push(this.#repaired);
    const line = { epoch: raised?.epoch ?? epoch, at: this.#host.clock.now() };
    const appended = await open.appender.append([...before, ...facts], line);
    this.#repaired = undefined;
    return appended;
  }

  /** Opens the file where it is not open under this very lock, and takes in what others appended. */
  async #catchUp(lock: HeldLock): Promise<void> {
    if (this.#open !== undefined) {
      if (this.#open.lock === lock.inode) return await this.#open.appender.catchUp();
      throw new HoldfastError("fenced", `the folder of session ${this.#folder.id} was replaced`);
    }
    try {
      await this.#adopt(lock, "append");
    } catch (error) {
      if (!isDiskError(error, "ENOENT")) throw error;
    }
  }

  async #create(lock: HeldLock): Promise<OpenQueue> {
    try {
      return await this.#adopt(lock, "create_append");
    } catch (error) {
      // Somebody made it whom the lock did not keep out.
      if (isDiskError(error, "EEXIST")) return await this.#adopt(lock, "append");
      throw error;
    }
  }

  async #syncNames(): Promise<void> {
    const { disk } = this.#host;
    await disk.syncDirectory(this.#folder.root);
    await disk.syncDirectory(dirname(this.#folder.root));
  }

  async #adopt(lock: HeldLock, mode: "append" | "create_append"): Promise<OpenQueue> {
    const file = await this.#host.disk.open(this.#folder.queue, mode);
    const { path, inode } = lock;
    const holder = this.#holder;
    const appender: Appender = new Appender({
      disk: this.#host.disk,
      file,
      scan: this.#seen,
      rules: queueRules,
      guard: { path, inode },
      unsure: this.#keeper.unsureBytes("queue"),
      ...(holder && { epoch: () => holder.epoch }),
      accepted: (commit) => this.#visit(commit) ?? undefined,
      mend: (remainder) => this.#mend(remainder, { path, inode }),
    });
    const open = { appender, lock: inode };
    this.#open = open;
    await appender.catchUp();
    return open;
  }

  async #mend(remainder: Remainder, guard: { path: string; inode: string }): Promise<void> {
    if (remainder.state === "damaged")
      throw damagedQueue({ ...remainder.damage, file: this.#folder.queue }, this.#folder.id);
    this.#repaired = await recoverTail({
      host: this.#host,
      session: this.#folder.id,
      file: "queue",
      path: this.#folder.queue,
      end: this.#seen.end,
      remainder,
      guard,
      unsure: this.#keeper.unsureBytes("queue"),
      recoveryDirectory: this.#recoveryDirectory,
    });
  }
}

function letGo(session: string): HoldfastError {
  return new HoldfastError("internal", `the queue of session ${session} was let go by this process`);
}

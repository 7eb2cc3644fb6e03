import { join } from "node:path";
import type { Host } from "../host/index.ts";
import { isDiskError } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
import type { Fact, SessionCreated } from "../model/facts.ts";
import { Blobs } from "./blobs.ts";
import type { NewSession } from "./create-session.ts";
import { createSession } from "./create-session.ts";
import type { FileDamage } from "./damage-errors.ts";
import { damagedQueue } from "./damage-errors.ts";
import { HeadKeeper } from "./head-keeper.ts";
import type { HeldSession, TakeOptions } from "./held-session.ts";
import { holdSession } from "./held-session.ts";
import { refuseDeleted, requireFolder } from "./lease.ts";
import type { OpenOptions, SessionPlace } from "./opening.ts";
import { readJudged } from "./opening.ts";
import type { QueueTransaction } from "./queue-file.ts";
import { QueueFile } from "./queue-file.ts";
import { readFirstFacts } from "./read-first-line.ts";
import type { History, HistorySource, VisitCommit } from "./read-log.ts";
import { readHistory, readStrictly } from "./read-log.ts";
import type { VisitQueue } from "./read-queue.ts";
import { readQueue } from "./read-queue.ts";
import type { FileRepair } from "./repair.ts";
import { repairSession } from "./repair.ts";
import type { SessionFolder } from "./session-folder.ts";
import { folderOf } from "./session-folder.ts";
import { SessionIndex } from "./session-index.ts";
import type { StoreIdentity } from "./state-directory.ts";
import { adoptStore, checkIdentity, openIdentity } from "./state-directory.ts";
import { AppendTurns } from "./turns.ts";
import { onStorage } from "./write-errors.ts";

/** Sessions on disk. Reading writes nothing and needs no identity; whoever writes asks for it first. */
export class Store extends SessionIndex {
  readonly #host: Host;
  readonly #singleWriter: boolean;
  readonly #turns: AppendTurns;
  /** One a session, for as long as this process: what it knows of failed writes must not be forgotten. */
  readonly #keepers = new Map<string, HeadKeeper>();
  #identity: Promise<StoreIdentity> | undefined;

  constructor(host: Host, options: { directory: string; singleWriter: boolean }) {
    super(host, options.directory);
    this.#host = host;
    this.#singleWriter = options.singleWriter;
    this.#turns = new AppendTurns(host.clock);
  }

  /**
   * The store's identity, made where the directory is new. Rejects `store_copied`, `unsafe_storage` or a storage error.
   * Whatever writes asks for it first; a failure is asked for again the next time.
   */
  async identity(): Promise<StoreIdentity> {
    this.#identity ??= openIdentity(this.#host, this.directory, { singleWriter: this.#singleWriter });
    try {
      return await this.#identity;
    } catch (error) {
      this.#identity = undefined;
      throw error;
    }
  }

  /** Rejects where the directory may not be written, as {@link Store.identity} does; writes nothing. */
  async checkIdentity(): Promise<void> {
    await checkIdentity(this.#host, this.directory, { singleWriter: this.#singleWriter });
  }

  /** Gives a copied state directory an identity of its own. */
  adopt(): Promise<{ from: string; to: string }> {
    this.#identity = undefined;
    return adoptStore(this.#host, this.directory, { singleWriter: this.#singleWriter });
  }

  /** Makes a session visible, whole; resolves to its id. */
  async create(session: NewSession): Promise<string> {
    await this.identity();
    return await createSession(this.#host, this.directory, session);
  }

  /** The one session that a selector names: a whole id, or the beginning or the end of exactly one. */
  async find(selector: string): Promise<string> {
    const ids = await this.ids();
    if (ids.includes(selector)) return selector;
    const fits = (id: string) =>
      id.startsWith(selector) || id.startsWith(`ses_${selector}`) || id.endsWith(selector);
    const candidates = selector === "" ? [] : ids.filter(fits);
    const [only] = candidates;
    if (only !== undefined && candidates.length === 1) return only;
    if (only === undefined) {
      throw new HoldfastError(
        "not_found",
        `there is no session ${JSON.stringify(selector)} in ${this.directory}`,
        {
          hint: "See which there are with: holdfast session list",
        },
      );
    }
    const some = candidates.slice(0, 10);
    throw new HoldfastError("ambiguous", `${JSON.stringify(selector)} fits ${candidates.length} sessions`, {
      hint: "Give more of the id.",
      candidates: some,
    });
  }

  /** Takes the lease of a session. Rejects `not_found`, and as {@link Store.identity} and {@link holdSession} do. */
  async hold(id: string, options: TakeOptions): Promise<HeldSession> {
    return await holdSession(await this.#place(id), options);
  }

  /** Reads a whole history; throws at the first violation. */
  async readStrictly(id: string, visit: VisitCommit): Promise<History> {
    return await readStrictly(await this.source(id), visit);
  }

  /**
   * Reads a whole history and judges it as whoever takes the session would, but takes no lock and writes nothing. Rejects
   * `not_found`, `deleted`, damage of the log, `durability_unknown` of either file, `rolled_back` or a storage error.
   */
  async readAsHolder(
    id: string,
    visit: VisitCommit,
    { acceptRollback }: Pick<TakeOptions, "acceptRollback"> = { acceptRollback: false },
  ): Promise<void> {
    const host = this.#host;
    const folder = this.#folder(id);
    await requireFolder(host, folder);
    await refuseDeleted(host, folder);
    const keeper = this.#keeper(folder);
    await onStorage(folder.root, async () => {
      const head = await keeper.read();
      for (const file of ["log", "queue"] as const) await keeper.refuseUnsure(head, file);
      const place = { host, folder, keeper, source: () => sourceOf(host, folder) };
      await readJudged(place, { visit, acceptRollback });
    });
  }

  /** Reads what is intact; `damage` says where that ends. */
  async readHistory(id: string, visit: VisitCommit): Promise<{ history: History; damage?: FileDamage }> {
    return await readHistory(await this.source(id), visit);
  }

  /**
   * Makes durable what a reading of a session's log has seen, so that it may leave the process; changes no byte. Of use
   * only where nobody holds the session: a holder may take back a line of its own that it could not sync.
   */
  async settleLog(id: string): Promise<void> {
    const { log } = this.#folder(id);
    await onStorage(log, async () => {
      const file = await this.#host.disk.open(log, "read");
      try {
        await file.sync();
      } catch (error) {
        // Where nothing can be written, nothing waits to be.
        if (!isDiskError(error, "EROFS", "EINVAL")) throw error;
      } finally {
        await file.close();
      }
    });
  }

  /** Reads the queue without its lock. */
  async readQueue(id: string, visit: VisitQueue): Promise<void> {
    const folder = this.#folder(id);
    const { remainder } = await readQueue(this.#host, folder, visit);
    if (remainder.state === "damaged") throw damagedQueue({ ...remainder.damage, file: folder.queue }, id);
  }

  /**
   * Appends to the queue as somebody who does not hold the session. Rejects `not_found`, `deleted` and whatever
   * {@link QueueFile.transact} does. `work` must not come back to this queue: it would wait for itself.
   */
  async appendToQueue<T>(
    id: string,
    visit: VisitQueue,
    work: (transaction: QueueTransaction) => Promise<T>,
  ): Promise<T> {
    const folder = this.#folder(id);
    await this.#identityFor(folder);
    const queue = new QueueFile({
      host: this.#host,
      folder,
      keeper: this.#keeper(folder),
      recoveryDirectory: this.#recoveryDirectory,
      turns: this.#turns,
      visit,
    });
    try {
      return await queue.transact(work);
    } finally {
      await queue.close();
    }
  }

  /** Repairs what can be proven, of a session that nobody runs; see {@link repairSession}. */
  async repair(id: string, options: OpenOptions): Promise<FileRepair[]> {
    return await repairSession(await this.#place(id), options);
  }

  /** The blobs that a session can name. */
  blobs(id: string): Blobs {
    return this.#blobs(this.#folder(id));
  }

  /** Where `recovery/` keeps a saved piece. */
  recoveryPath(name: string): string {
    return join(this.#recoveryDirectory, name);
  }

  /** The files of a session's history, its bases found in line 0. */
  async source(id: string): Promise<HistorySource> {
    return await sourceOf(this.#host, this.#folder(id));
  }

  get #recoveryDirectory(): string {
    return join(this.directory, "recovery");
  }

  #keeper(folder: SessionFolder): HeadKeeper {
    const found = this.#keepers.get(folder.id) ?? new HeadKeeper(this.#host, folder);
    this.#keepers.set(folder.id, found);
    return found;
  }

  #folder(id: string): SessionFolder {
    return folderOf(this.directory, id);
  }

  /** A session that is not there must not make a store; one in a copied store must not be written. */
  async #identityFor(folder: SessionFolder): Promise<StoreIdentity> {
    await requireFolder(this.#host, folder);
    return await this.identity();
  }

  #blobs(folder: SessionFolder): Blobs {
    return new Blobs({ disk: this.#host.disk, ids: this.#host.ids, own: folder.blobs });
  }

  async #place(id: string): Promise<SessionPlace> {
    const folder = this.#folder(id);
    return {
      host: this.#host,
      identity: await this.#identityFor(folder),
      folder,
      recoveryDirectory: this.#recoveryDirectory,
      keeper: this.#keeper(folder),
      turns: this.#turns,
      blobs: this.#blobs(folder),
      source: () => sourceOf(this.#host, folder),
    };
  }
}

async function sourceOf(host: Host, folder: SessionFolder): Promise<HistorySource> {
  const first: readonly Fact[] = await readFirstFacts(host.disk, folder.log);
  const created = first.find((fact): fact is SessionCreated => fact.kind === "session.created");
  const bases = (created?.bases ?? []).map((base, index) => ({
    path: folder.base(index),
    session: base.session,
    base,
  }));
  return { disk: host.disk, bases, own: { path: folder.log, session: folder.id } };
}

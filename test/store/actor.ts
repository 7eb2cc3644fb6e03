import type { Host } from "../../src/host/index.ts";
import { isHoldfastError } from "../../src/model/errors.ts";
import type { Fact, Message, Row } from "../../src/model/facts.ts";
import type { Appended, HeldSession, QueueTransaction } from "../../src/store/index.ts";
import type { StoreIdentity } from "../../src/store/state-directory.ts";
import { Store } from "../../src/store/index.ts";
import type { VisitCommit } from "../../src/store/read-log.ts";
import type { FileRepair } from "../../src/store/repair.ts";
import { admitted, message, newSession } from "./builders.ts";

/** What was tried and what was acknowledged, by text, for one file of one session. */
export interface FileRecord {
  readonly tried: Set<string>;
  /** In order. */
  readonly acknowledged: string[];
}

/** What somebody outside knows: the judge of every test. */
export class Oracle {
  readonly sessions = new Set<string>();
  readonly logs = new Map<string, FileRecord>();
  readonly queues = new Map<string, FileRecord>();
  /** True where somebody was told that it is unknown what is on disk, and will ask for a repair. */
  mayRepair = false;
  /** True where somebody knows that the store is a copy, and will adopt it. */
  mayAdopt = false;
  /** True where locks were broken, so that a line may stand there which nobody was told of. */
  mayHoldVoids = false;

  log(session: string): FileRecord {
    return recordOf(this.logs, session);
  }

  queue(session: string): FileRecord {
    return recordOf(this.queues, session);
  }

  copy(): Oracle {
    const copy = new Oracle();
    copy.mayRepair = this.mayRepair;
    copy.mayAdopt = this.mayAdopt;
    copy.mayHoldVoids = this.mayHoldVoids;
    this.sessions.forEach((session) => copy.sessions.add(session));
    for (const name of ["logs", "queues"] as const) {
      for (const [session, { tried, acknowledged }] of this[name]) {
        copy[name].set(session, { tried: new Set(tried), acknowledged: [...acknowledged] });
      }
    }
    return copy;
  }
}

function recordOf(records: Map<string, FileRecord>, session: string): FileRecord {
  const found = records.get(session) ?? { tried: new Set(), acknowledged: [] };
  records.set(session, found);
  return found;
}

/** How an actor takes a session, where it matters. */
export interface HoldOptions {
  readonly acceptRollback?: boolean;
  readonly accept?: () => Promise<void>;
  readonly visit?: VisitCommit;
  readonly row?: (facts: readonly Fact[]) => Row | undefined;
}

/** Somebody who does things to sessions in one process, and tells the oracle. */
export class Actor {
  readonly host: Host;
  readonly store: Store;
  readonly oracle: Oracle;
  readonly #die: () => void;
  #held: HeldSession | undefined;
  session = "";
  isDead = false;
  /** Texts of messages and of deliveries, as the holder of the session has seen them. */
  readonly seen: string[] = [];
  readonly seenQueue: string[] = [];

  constructor(host: Host, place: { directory: string; oracle: Oracle; die?: () => void }) {
    this.host = host;
    this.store = new Store(host, { directory: place.directory, singleWriter: false });
    this.oracle = place.oracle;
    this.#die = place.die ?? (() => undefined);
  }

  get isHolder(): boolean {
    return this.#held !== undefined;
  }

  get held(): HeldSession {
    if (this.#held === undefined) throw new Error("this actor holds nothing");
    return this.#held;
  }

  /** Ends the process where it stands. */
  die(): void {
    this.isDead = true;
    this.#die();
  }

  async create(blobs: readonly Uint8Array[] = []): Promise<string> {
    this.session = await this.store.create(newSession("a session", blobs));
    this.oracle.sessions.add(this.session);
    return this.session;
  }

  async hold(session = this.session, options: HoldOptions = {}): Promise<HeldSession> {
    this.session = session;
    await this.#identity();
    this.#held = await this.store.hold(session, {
      version: "0.1.0",
      acceptRollback: options.acceptRollback ?? false,
      ...(options.row !== undefined && { row: options.row }),
      ...(options.accept !== undefined && { accept: options.accept }),
      visit: (commit, place) => {
        this.seen.push(...textsOf(commit.facts));
        return options.visit?.(commit, place);
      },
      visitQueue: ({ facts }) => void this.seenQueue.push(...textsOf(facts)),
    });
    return this.#held;
  }

  /** Repairs the session first where somebody was told that it is unknown what is on disk. */
  async holdRepaired(session: string): Promise<HeldSession> {
    try {
      await this.hold(session);
      await this.held.queue.transact(async () => undefined);
    } catch (error) {
      if (!this.oracle.mayRepair || !isHoldfastError(error, "durability_unknown")) throw error;
      await this.abandon();
      await this.repair(session);
      await this.hold(session);
      await this.held.queue.transact(async () => undefined);
    }
    return this.held;
  }

  /** Repairs a session. */
  async repair(session: string, options: Pick<HoldOptions, "visit"> = {}): Promise<FileRepair[]> {
    return await this.store.repair(session, {
      version: "0.1.0",
      visit: options.visit ?? (() => undefined),
      visitQueue: () => undefined,
    });
  }

  async #identity(): Promise<StoreIdentity> {
    try {
      return await this.store.identity();
    } catch (error) {
      if (!this.oracle.mayAdopt || !isHoldfastError(error, "store_copied")) throw error;
      await this.store.adopt();
      return await this.store.identity();
    }
  }

  /** Appends a message to the log; with `extra` bytes it comes with a blob. */
  async say(text: string, extra?: Uint8Array): Promise<Appended> {
    const record = this.oracle.log(this.session);
    record.tried.add(text);
    const said: Message = message(text);
    if (extra !== undefined) {
      const blob = await this.held.blobs.put(extra);
      said.parts.push({ type: "image", blob, mediaType: "image/png" });
    }
    const appended = await this.held.append([said]);
    if (!record.acknowledged.includes(text)) record.acknowledged.push(text);
    return appended;
  }

  /** Admits a delivery as the holder, or as anybody. */
  async admit(text: string, session = this.session): Promise<Appended> {
    const record = this.oracle.queue(session);
    record.tried.add(text);
    const work = (transaction: QueueTransaction) => transaction.append([admitted(text)]);
    if (this.#held === undefined) await this.#identity();
    const appended =
      this.#held === undefined
        ? await this.store.appendToQueue(
            session,
            ({ facts }) => void this.seenQueue.push(...textsOf(facts)),
            work,
          )
        : await this.held.queue.transact(work);
    record.acknowledged.push(text);
    return appended;
  }

  async release(mayLetGo = true): Promise<boolean> {
    const released = await this.held.release(() => mayLetGo);
    if (released) this.#held = undefined;
    return released;
  }

  async abandon(): Promise<void> {
    await this.#held?.abandon();
    this.#held = undefined;
  }
}

/** The texts of messages and deliveries in these facts. */
export function textsOf(facts: readonly { readonly kind: string }[]): string[] {
  return facts.flatMap((fact) => {
    if (fact.kind === "delivery.admitted") return [(fact as unknown as { text: string }).text];
    if (fact.kind !== "message") return [];
    const [part] = (fact as Message).parts;
    return part?.type === "text" && part.text !== undefined ? [part.text] : [];
  });
}

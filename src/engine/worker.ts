import type { Agent, OperationPlace } from "../model/agent.ts";
import type { Commit } from "../model/commit.ts";
import type { QueueState } from "../model/delivery.ts";
import { applyToQueue, emptyQueueState } from "../model/delivery.ts";
import { HoldfastError } from "../model/errors.ts";
import type { Fact, Row } from "../model/facts.ts";
import type { SessionState } from "../model/fold.ts";
import { applyCommit, beginSession } from "../model/fold.ts";
import type { IdPrefix } from "../model/ids.ts";
import { makeId } from "../model/ids.ts";
import type { Redactor } from "../model/redact.ts";
import { evolveRow } from "../model/row.ts";
import type { HeldSession } from "../store/index.ts";
import type { EngineContext, Observer } from "./context.ts";
import { PayloadWriter } from "./payloads.ts";

/**
 * The process that holds a session: its log and queue, folded, and the one way to add to them.
 *
 * A4 Only a worker appends to the log. W1 What was committed is folded and shown, in that order, before `commit`
 * resolves. W2 A line that changes a member of the list row carries the new row.
 */

/** How a session is taken. */
export interface WorkerOptions {
  readonly acceptRollback: boolean;
  readonly observer: Observer;
  /** Asked with the folded history before anything is written; rejects to leave every byte as it is. */
  accept?(state: SessionState): Promise<void>;
}

/** A held session, folded. */
export class Worker {
  readonly context: EngineContext;
  readonly observer: Observer;
  readonly state: SessionState;
  readonly queue: QueueState;
  readonly held: HeldSession;
  readonly #redactor: Redactor;
  /** Arguments with secrets in them, which the log has only redacted: known to this process alone. */
  readonly exactArgs = new Map<string, string>();
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(parts: {
    context: EngineContext;
    observer: Observer;
    state: SessionState;
    queue: QueueState;
    held: HeldSession;
    redactor: Redactor;
  }) {
    this.context = parts.context;
    this.observer = parts.observer;
    this.state = parts.state;
    this.queue = parts.queue;
    this.held = parts.held;
    this.#redactor = parts.redactor;
  }

  /** Takes the lease of a session and folds it. Rejects as {@link Store.hold} and as `accept` do. */
  static async take(context: EngineContext, session: string, options: WorkerOptions): Promise<Worker> {
    const redactor = await context.openRedactor();
    const fold = new SessionFold(session);
    const queue = emptyQueueState();
    const held = await context.store.hold(session, {
      version: context.version,
      acceptRollback: options.acceptRollback,
      accept: async () => await options.accept?.(fold.state),
      visit: (commit) => fold.take(commit),
      row: (facts) => rowAfter(fold.state.row, facts),
      visitQueue: (commit) => applyToQueue(queue, commit),
    });
    const { observer } = options;
    const worker = new Worker({ context, observer, state: fold.state, queue, held, redactor });
    // Taking the append lock once folds the queue.
    await worker.orAbandon(() => held.queue.transact(async () => undefined));
    if (fold.last !== undefined) await observer.commit(fold.last);
    return worker;
  }

  /** Makes facts durable as one line; see {@link HeldSession.append}. One at a time, in the order of the calls. */
  commit(facts: readonly Fact[]): Promise<Commit> {
    const result = this.#turn.then(() => this.#commitNow(facts));
    // The next in line starts after this one, whichever way it ended; its own caller sees its failure.
    this.#turn = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  /** Does something with the session and, where that fails, lets go of it as a death would. */
  async orAbandon<T>(something: () => Promise<T>): Promise<T> {
    try {
      return await something();
    } catch (error) {
      // The failure that led here is the one to be told.
      await this.held.abandon().catch(() => undefined);
      throw error;
    }
  }

  /** The text with every known secret masked. */
  redact(text: string): string {
    return this.#redactor.text(text);
  }

  /** Stores the payloads of one line; `membersBytes` as in {@link PayloadWriter}. */
  payloads(membersBytes = 0): PayloadWriter {
    const redact = (text: string) => this.redact(text);
    return new PayloadWriter({ blobs: this.held.blobs, redact }, membersBytes);
  }

  /** A new id of ours. */
  id(prefix: IdPrefix): string {
    const { clock, ids } = this.context.host;
    return makeId(prefix, clock.now(), ids.random(10));
  }

  /** Where an operation takes place. */
  place(run: string, operation: string): OperationPlace {
    const { store } = this.context;
    return {
      session: this.state.id,
      run,
      operation,
      workspace: this.state.created.workspace.root,
      spool: this.held.spool(operation),
      trash: this.held.trash,
      supervisor: `${store.directory}\0${this.state.id}`,
    };
  }

  async #commitNow(facts: readonly Fact[]): Promise<Commit> {
    const row = rowAfter(this.state.row, facts);
    const { commit } = await this.held.append(row === undefined ? facts : [...facts, row]);
    await this.observer.commit(commit);
    return commit;
  }
}

/** W2 The row after these facts; undefined where none of its members changes. */
export function rowAfter(row: Row, facts: readonly Fact[]): Row | undefined {
  const after = facts.reduce<Row>(evolveRow, row);
  return after === row || JSON.stringify(after) === JSON.stringify(row) ? undefined : after;
}

/** Folds a history as it is read. */
export class SessionFold {
  readonly #session: string;
  #state: SessionState | undefined;
  /** The last line taken. */
  last: Commit | undefined;

  constructor(session: string) {
    this.#session = session;
  }

  take(commit: Commit): void {
    if (commit.seq === 0) this.#state = beginSession(this.#session, commit, this.#state);
    else applyCommit(this.state, commit);
    this.last = commit;
  }

  /** True where a line 0 was read. */
  get hasBegun(): boolean {
    return this.#state !== undefined;
  }

  get state(): SessionState {
    if (this.#state === undefined)
      throw new HoldfastError("log_damaged", `session ${this.#session} has no line 0`);
    return this.#state;
  }
}

/** A worker together with the agent that answers. */
export interface Crew {
  readonly worker: Worker;
  readonly agent: Agent;
  /** The workspace's rules, read once a stay: a system text that changes in mid-run costs the provider's cache. */
  readonly rules: string;
}

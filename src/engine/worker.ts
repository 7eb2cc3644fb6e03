import type { Agent, OperationPlace } from "../model/agent.ts";
import type { Commit } from "../model/commit.ts";
import { faultOr } from "../model/corruption.ts";
import type { QueueState } from "../model/delivery.ts";
import { applyToQueue, emptyQueueState } from "../model/delivery.ts";
import { HoldfastError } from "../model/errors.ts";
import type { Fact, Row } from "../model/facts.ts";
import type { SessionState } from "../model/fold.ts";
import { applyCommit, beginSession, faultOfLine } from "../model/fold.ts";
import type { IdPrefix } from "../model/ids.ts";
import { makeId } from "../model/ids.ts";
import type { Redactor } from "../model/redact.ts";
import { evolveRow } from "../model/row.ts";
import type { Stop } from "../model/stop.ts";
import type { HeldSession } from "../store/index.ts";
import type { Approver } from "./approver.ts";
import type { Brakes } from "./brakes.ts";
import type { EngineContext, Observer } from "./context.ts";
import { PayloadWriter } from "./payloads.ts";
import { Pulse, unlessAborted } from "./pulse.ts";
import { StopSwitch } from "./stop-switch.ts";

/**
 * The process that holds a session: its log and queue, folded, and the one way to add to them.
 *
 * A4 Only a worker appends to the log.
 * W1 What was committed is folded and shown, in that order, before `commit` resolves; where the work shall stop, without
 *    waiting for who is slow to look.
 * W2 A line that changes a member of the list row carries the new row.
 * W3 Once the process shall leave nothing is committed.
 */

/** How a session is taken. */
export interface WorkerOptions {
  readonly acceptRollback: boolean;
  readonly observer: Observer;
  /** Aborted when nothing may be begun or committed any more. */
  readonly signal?: AbortSignal;
  /** By which the work can be stopped in good order. */
  readonly stops?: StopSwitch;
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
  /** Aborted when the process shall leave at once; then nothing is begun any more. */
  readonly signal: AbortSignal;
  /** By which a person or a signal ends the work in good order. */
  readonly stops: StopSwitch;
  /** Why a run shall stop, by its id, where somebody asked this process for it. */
  readonly wanted = new Map<string, Stop>();
  /** The run that is driven, with its brakes. */
  driven: { readonly run: string; readonly brakes: Brakes } | undefined;
  /** Beats after each line that was committed. */
  readonly commits = new Pulse();
  /** Arguments with secrets in them, which the log has only redacted: known to this process alone. */
  readonly exactArgs = new Map<string, string>();
  readonly #redactor: Redactor;
  readonly #closed: string;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(parts: {
    context: EngineContext;
    observer: Observer;
    state: SessionState;
    queue: QueueState;
    held: HeldSession;
    redactor: Redactor;
    signal: AbortSignal;
    stops: StopSwitch;
    closed: string;
  }) {
    this.context = parts.context;
    this.observer = parts.observer;
    this.state = parts.state;
    this.queue = parts.queue;
    this.held = parts.held;
    this.#redactor = parts.redactor;
    this.signal = parts.signal;
    this.stops = parts.stops;
    this.#closed = parts.closed;
  }

  /** Takes the lease of a session and folds it. Rejects as {@link Store.hold} and as `accept` do. */
  static async take(context: EngineContext, session: string, options: WorkerOptions): Promise<Worker> {
    const { observer, signal = new AbortController().signal, stops = new StopSwitch() } = options;
    refuseAborted(signal, session);
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
    const closed = await context.host.disk.realPath(context.store.directory);
    const parts = { context, observer, state: fold.state, queue, held, redactor, signal, stops, closed };
    const worker = new Worker(parts);
    // Taking the append lock once folds the queue.
    await worker.orAbandon(() => held.queue.transact(async () => undefined));
    if (fold.last !== undefined) await observer.commit(fold.last);
    return worker;
  }

  /** Rejects `interrupted` once the process shall leave: asked before anything is begun. */
  refuseInterrupted(): void {
    refuseAborted(this.signal, this.state.id);
  }

  /** Rejects where nothing can be recorded any more, and so nothing that comes can be taken. */
  refuseEnded(): void {
    const { ended } = this.held;
    if (ended !== undefined) throw ended;
  }

  /**
   * Makes facts durable as one line; see {@link HeldSession.append}. One at a time, in the order of the calls. Rejects
   * `interrupted` once the process shall leave.
   */
  commit(facts: readonly Fact[]): Promise<Commit> {
    return this.#inTurn(() => this.#commitNow(facts));
  }

  /** Commits what `say` says of the state as it then is; nothing, where that is nothing. */
  async commitIf(say: () => readonly Fact[]): Promise<void> {
    await this.#inTurn(async () => {
      const facts = say();
      if (facts.length > 0) await this.#commitNow(facts);
    });
  }

  /** Appends to the queue what is to be said of it as it then stands; nothing, where that is nothing. */
  async appendToQueue(facts: readonly Fact[] | (() => readonly Fact[])): Promise<void> {
    this.refuseInterrupted();
    await this.held.queue.transact(async (queue) => {
      const said = typeof facts === "function" ? facts() : facts;
      if (said.length > 0) await queue.append(said);
    });
  }

  /** Does something with the session and, where that fails, lets go of it as a death would. */
  async orAbandon<T>(something: () => Promise<T>): Promise<T> {
    try {
      return await something();
    } catch (error) {
      await this.abandon();
      throw error;
    }
  }

  /** Lets go as a death would; never rejects, for what led here is what is to be told. */
  async abandon(): Promise<void> {
    await Promise.allSettled([this.held.abandon()]);
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
      closed: this.#closed,
      spool: this.held.spool(operation),
      trash: this.held.trash,
      supervisor: `${store.directory}\0${this.state.id}`,
    };
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    // The next in line starts after this one, whichever way it ended; its own caller sees its failure.
    this.#turn = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  async #commitNow(facts: readonly Fact[]): Promise<Commit> {
    this.refuseInterrupted();
    const line = { facts, at: this.context.host.clock.now(), epoch: this.held.epoch };
    const fault = faultOfLine(this.state, line);
    if (fault !== undefined) throw new HoldfastError("internal", `a line was not written: ${fault}`);
    const row = rowAfter(this.state.row, facts);
    const { commit } = await this.held.append(row === undefined ? facts : [...facts, row]);
    this.commits.beat();
    await this.#show(commit);
    return commit;
  }

  /** Once the work shall stop nobody waits for its onlooker: one who stopped looking would keep it for ever. */
  async #show(commit: Commit): Promise<void> {
    const shown = this.observer.commit(commit);
    if (shown === undefined) return;
    const { calls } = this.driven?.brakes ?? {};
    await unlessAborted(shown, [this.stops.thrown, ...(calls === undefined ? [] : [calls])]);
  }
}

function refuseAborted(signal: AbortSignal, session: string): void {
  if (!signal.aborted) return;
  throw new HoldfastError("interrupted", `interrupted; session ${session} is kept`, {
    hint: `Go on with: holdfast resume ${session}`,
  });
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

  /** Takes the next line in; returns why it cannot be true, where it cannot, and then stays before it. */
  take(commit: Commit): string | undefined {
    if (commit.seq === 0) {
      const begun = faultOr(() => beginSession(this.#session, commit, this.#state));
      if (typeof begun === "string") return begun;
      this.#state = begun;
    } else {
      const fault = applyCommit(this.state, commit);
      if (fault !== undefined) return fault;
    }
    this.last = commit;
    return undefined;
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
export interface Staff {
  readonly worker: Worker;
  readonly agent: Agent;
  /** The workspace's rules, read once a stay: a system text that changes in mid-run costs the provider's cache. */
  readonly rules: string;
  /** Who is asked what a policy leaves to a person. */
  readonly approver: Approver;
  /** Milliseconds that tools have once the run shall stop. */
  readonly graceMs: number;
}

/** Those who drive one run. */
export interface Crew extends Staff {
  readonly brakes: Brakes;
}

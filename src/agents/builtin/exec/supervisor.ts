import type { Clock, Connection, Listener } from "../../../host/index.ts";
import type { StartClaim } from "./claim.ts";
import { Command, type CommandLimits } from "./command.ts";
import { WorkerMessage, type Start, type SupervisorMessage } from "./messages.ts";
import { takeStart, type RefusedStart, type SupervisorHost, type TakenStart } from "./start.ts";

/**
 * The supervisor: one process a session, the only parent and signaller of its commands. It outlives the worker that
 * started it, so that a command's end is on record whoever asks for it, and it decides nothing: claims do.
 *
 * V1 One supervisor listens for a session: it holds the lock beside the socket; whoever comes second ends by itself.
 * V2 Even two of them, should that lock be broken, start nothing twice: the claim decides.
 * V3 It ends when no command runs and no worker has been connected for `lingerMs`.
 */
export interface SupervisorOptions extends Partial<CommandLimits> {
  readonly session: string;
  /** Path of the socket. */
  readonly socket: string;
  /** Tells this supervisor from any other. */
  readonly nonce: string;
  /** How long it waits for work; default 30 s. */
  readonly lingerMs?: number;
  /** Told why the end of a command could not be recorded; default nobody. */
  readonly report?: (message: string) => void;
}

const defaults = {
  lingerMs: 30_000,
  graceMs: 2000,
  drainMs: 2000,
  outputBytesMax: 64 * 1024 * 1024,
  report: (_message: string): void => undefined,
};

/** Between two notices that output has grown. */
const noticeMs = 20;

/**
 * Runs a supervisor. Resolves when it is needed no more, or at once where another one listens. When `signal` is aborted
 * it stops every command, records their ends, and resolves.
 */
export async function runSupervisor(
  host: SupervisorHost,
  options: SupervisorOptions,
  signal?: AbortSignal,
): Promise<void> {
  const lock = await host.locks.tryLock(`${options.socket}.lock`);
  if (lock === undefined) return;
  try {
    await new Supervisor(host, { ...defaults, ...options }).run(signal);
  } finally {
    await lock.release();
  }
}

/** A worker at the other end of a connection. */
interface Peer {
  readonly connection: Connection;
  isGreeted: boolean;
}

/** A command between the request and its end. */
interface Running {
  readonly command: Command;
  /** Why it was not started here, or undefined where it was. Never rejects. */
  readonly refused: Promise<RefusedStart | undefined>;
  readonly watchers: Set<Peer>;
}

class Supervisor {
  readonly #host: SupervisorHost;
  readonly #options: SupervisorOptions & typeof defaults;
  readonly #running = new Map<string, Running>();
  readonly #peers = new Set<Peer>();
  /** Commands that have ended while others still hold their pipe. */
  #held: Command[] = [];
  #activity = new AbortController();
  #isShuttingDown = false;

  constructor(host: SupervisorHost, options: SupervisorOptions & typeof defaults) {
    this.#host = host;
    this.#options = options;
  }

  async run(signal?: AbortSignal): Promise<void> {
    const listener = await this.#host.sockets.listen(this.#options.socket, (peer) => this.#accept(peer));
    const shutDown = (): void => this.#shutDown();
    signal?.addEventListener("abort", shutDown);
    if (signal?.aborted === true) shutDown();
    try {
      await this.#untilIdle();
    } finally {
      signal?.removeEventListener("abort", shutDown);
      await this.#close(listener);
    }
  }

  async #untilIdle(): Promise<void> {
    for (;;) {
      if (this.#isShuttingDown && this.#running.size === 0) return;
      this.#activity = new AbortController();
      const { signal } = this.#activity;
      await this.#host.clock.sleep(this.#options.lingerMs, signal);
      if (!signal.aborted && this.#running.size === 0 && this.#peers.size === 0) return;
    }
  }

  async #close(listener: Listener): Promise<void> {
    await listener.close();
    for (const peer of this.#peers) peer.connection.close();
    for (const command of this.#held) command.release();
  }

  #shutDown(): void {
    this.#isShuttingDown = true;
    for (const { command } of this.#running.values()) command.stop("shutdown");
    this.#activity.abort();
  }

  #accept(connection: Connection): void {
    const peer: Peer = { connection, isGreeted: false };
    this.#peers.add(peer);
    this.#activity.abort();
    connection.onMessage(
      (value) => this.#receive(peer, value),
      () => {
        this.#peers.delete(peer);
        for (const { watchers } of this.#running.values()) watchers.delete(peer);
        this.#activity.abort();
      },
    );
  }

  #receive(peer: Peer, value: unknown): void {
    const parsed = WorkerMessage.safeParse(value);
    if (!parsed.success || (parsed.data.type !== "hello" && !peer.isGreeted)) {
      peer.connection.close();
      return;
    }
    const message = parsed.data;
    switch (message.type) {
      case "hello":
        this.#greet(peer, message.session, message.nonce);
        break;
      case "start":
        void this.#start(peer, message);
        break;
      case "watch":
        this.#watch(peer, message.operation);
        break;
      case "cancel":
        this.#running.get(message.operation)?.command.stop("cancel", message.graceMs);
        break;
    }
  }

  #greet(peer: Peer, session: string, nonce: string): void {
    const isForUs = session === this.#options.session;
    peer.isGreeted = isForUs;
    if (isForUs) this.#send(peer, { type: "welcome", session, nonce, supervisor: this.#options.nonce });
    else peer.connection.close();
  }

  async #start(peer: Peer, request: Start): Promise<void> {
    if (this.#isShuttingDown) {
      peer.connection.close();
      return;
    }
    const { operation } = request;
    // A worker that lost its answer asks again; it is told of the start that is under way.
    const running = this.#running.get(operation) ?? this.#begin(request);
    running.watchers.add(peer);
    const refused = await running.refused;
    if (refused === undefined) this.#send(peer, { type: "accepted", operation });
    else this.#send(peer, { type: "refused", operation, reason: refused.reason, message: refused.message });
  }

  #watch(peer: Peer, operation: string): void {
    const running = this.#running.get(operation);
    running?.watchers.add(peer);
    this.#send(
      peer,
      running === undefined
        ? { type: "refused", operation, reason: "not_here", message: "No such command runs here." }
        : { type: "accepted", operation },
    );
  }

  #begin(request: Start): Running {
    const watchers = new Set<Peer>();
    const notify = (): void => {
      for (const peer of watchers) this.#send(peer, { type: "changed", operation: request.operation });
    };
    const command = new Command({
      host: this.#host,
      limits: this.#options,
      request,
      grown: atMostEvery(noticeMs, this.#host.clock, notify),
    });
    const start = takeStart(this.#host, request, this.#claimFor(request));
    const refused = start.then((result) => (result.taken ? undefined : result));
    const running = { command, refused, watchers };
    this.#running.set(request.operation, running);
    void this.#runToEnd(request.operation, command, start).then(notify);
    return running;
  }

  async #runToEnd(
    operation: string,
    command: Command,
    starting: Promise<TakenStart | RefusedStart>,
  ): Promise<void> {
    const start = await starting;
    try {
      if (start.taken) await command.run(start);
    } catch (error) {
      // Nothing is recorded, and `alive` is free: whoever asks finds that the end is unknown.
      this.#options.report(`${operation}: ${String(error)}`);
    }
    this.#running.delete(operation);
    this.#held = [...this.#held, command].filter(({ isHeld }) => isHeld);
    this.#activity.abort();
  }

  #claimFor({ operation, nonce }: Start): StartClaim {
    const { pid, startTime, bootId } = this.#host.processes.self;
    const { socket, nonce: supervisor } = this.#options;
    return { kind: "start", v: 1, operation, nonce, pid, startTime, bootId, socket, supervisor };
  }

  #send(peer: Peer, message: SupervisorMessage): void {
    peer.connection.send(message); // Whoever has gone finds everything in the files.
  }
}

/** Calls `effect` once, `ms` after the first of any number of calls. */
function atMostEvery(ms: number, clock: Clock, effect: () => void): () => void {
  let isWaiting = false;
  return () => {
    if (isWaiting) return;
    isWaiting = true;
    void clock.sleep(ms).then(() => {
      isWaiting = false;
      effect();
    });
  };
}

import { isDiskError, sha256, type Connection, type Host } from "../../../host/index.ts";
import { HoldfastError } from "../../../model/errors.ts";
import { SupervisorMessage, type Start, type WorkerMessage } from "./messages.ts";

/**
 * A worker's way to the session's supervisor: one connection for one operation. Whatever is said here is only said; what
 * is true stands in the spool folder. So a connection may break at any moment without harm.
 */

/** What a worker needs of the outside. */
export type WorkerHost = Pick<Host, "disk" | "locks" | "clock" | "ids" | "processes" | "sockets">;

/** The program that runs a supervisor; it is given `--session`, `--socket` and `--nonce` behind these arguments. */
export interface SupervisorProgram {
  readonly file: string;
  readonly args: readonly string[];
}

/** Where the supervisor of a session listens. */
export interface SupervisorAddress {
  readonly session: string;
  readonly socket: string;
}

/** The answer to a request; undefined where the connection ended before it came. */
export type Answer = Extract<SupervisorMessage, { type: "accepted" | "refused" }> | undefined;

const handshakeMs = 5000;
const startMs = 15_000;
/** A supervisor listens after some 50 ms; who waits longer need not ask so often. */
const retryMs = 8;
const retrySlowlyMs = 100;
const quickTries = 50;
/** One that ends at once is started again: it may have met another that was about to end. */
const startsMax = 10;

/** The address of a session's supervisor, from the place's name of it. */
export async function supervisorAddress(
  host: WorkerHost,
  place: { readonly session: string; readonly supervisor: string },
): Promise<SupervisorAddress> {
  const name = sha256(`${place.supervisor}supervisor`).slice(0, 16);
  return { session: place.session, socket: `${await host.sockets.directory()}/${name}` };
}

/** A connection that has exchanged session and nonce. Made by {@link connectSupervisor} and {@link reachSupervisor}. */
export class SupervisorConnection {
  readonly #connection: Connection;
  readonly #closed = new AbortController();
  #supervisor = "";
  #answer: ((answer: SupervisorMessage | undefined) => void) | undefined;
  #changed: () => void = () => undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
    connection.onMessage(
      (value) => this.#receive(value),
      () => this.#end(),
    );
  }

  /** The supervisor's nonce, as in its claims. */
  get supervisor(): string {
    return this.#supervisor;
  }

  /** False once nobody is there any more. */
  get isOpen(): boolean {
    return !this.#closed.signal.aborted;
  }

  /** Calls `changed` when there is something new in the folder, or the connection has ended. */
  onChange(changed: () => void): void {
    this.#changed = changed;
  }

  /** First exchange; false where the other end is not this session's supervisor. */
  async greet(session: string, nonce: string): Promise<boolean> {
    const answer = await this.#ask({ type: "hello", v: 1, session, nonce });
    if (answer?.type !== "welcome" || answer.session !== session || answer.nonce !== nonce) return false;
    this.#supervisor = answer.supervisor;
    return true;
  }

  /** Asks for the start, or for notices of a command that runs. */
  async request(request: Start | Extract<WorkerMessage, { type: "watch" }>): Promise<Answer> {
    const answer = await this.#ask(request);
    return answer?.type === "accepted" || answer?.type === "refused" ? answer : undefined;
  }

  /** Asks the supervisor to stop the command; false where nobody is there to be asked. */
  cancel(operation: string, graceMs: number): boolean {
    return this.isOpen && this.#connection.send({ type: "cancel", operation, graceMs });
  }

  /** Ends the connection; an answer that is awaited becomes undefined. */
  close(): void {
    this.#connection.close();
    this.#end();
  }

  #ask(message: WorkerMessage): Promise<SupervisorMessage | undefined> {
    return new Promise((resolve) => {
      this.#answer = resolve;
      if (!this.isOpen || !this.#connection.send(message)) this.#settle(undefined);
    });
  }

  #receive(value: unknown): void {
    const parsed = SupervisorMessage.safeParse(value);
    if (!parsed.success) this.close();
    else if (parsed.data.type === "changed") this.#changed();
    else this.#settle(parsed.data);
  }

  #settle(answer: SupervisorMessage | undefined): void {
    this.#answer?.(answer);
    this.#answer = undefined;
  }

  #end(): void {
    this.#closed.abort();
    this.#settle(undefined);
    this.#changed();
  }
}

/** Connects; undefined where nobody listens, or somebody else does. */
export async function connectSupervisor(
  host: WorkerHost,
  address: SupervisorAddress,
): Promise<SupervisorConnection | undefined> {
  let connection: SupervisorConnection;
  try {
    connection = new SupervisorConnection(await host.sockets.connect(address.socket));
  } catch (error) {
    if (isDiskError(error, "ENOENT", "ECONNREFUSED", "ECONNRESET", "EAGAIN")) return undefined;
    throw error;
  }
  const nonce = Buffer.from(host.ids.random(8)).toString("hex");
  const greeted = new AbortController();
  // One that is stopped accepts without an answer: the system does that for it.
  void host.clock.sleep(handshakeMs, greeted.signal).then(() => {
    if (!greeted.signal.aborted) connection.close();
  });
  const isOurs = await connection.greet(address.session, nonce);
  greeted.abort();
  if (isOurs) return connection;
  connection.close();
  return undefined;
}

/**
 * Connects to the session's supervisor, starting one where none listens. Several workers may do so at once: one of the
 * new processes gets the socket, the others end by themselves. Rejects with `agent_failed` where none answers in time, with `canceled` when aborted.
 */
export async function reachSupervisor(
  host: WorkerHost,
  address: SupervisorAddress,
  program: SupervisorProgram,
  signal: AbortSignal,
): Promise<SupervisorConnection> {
  const giveUpMs = host.clock.monotonicMs() + startMs;
  let started: number | undefined;
  let starts = 0;
  for (let tries = 1; ; tries++) {
    const connection = await connectSupervisor(host, address);
    if (connection !== undefined) return connection;
    if (signal.aborted) throw new HoldfastError("canceled", "It was canceled before it started.");
    const isGone = started === undefined || !host.processes.isAlive(started);
    if (host.clock.monotonicMs() > giveUpMs || (isGone && starts === startsMax)) {
      throw new HoldfastError("agent_failed", `The supervisor of ${address.session} does not answer.`, {
        hint: `Nothing was started. What it said is in ${errorFile(address)}.`,
      });
    }
    if (isGone) {
      started = startSupervisor(host, address, program);
      starts++;
    }
    await host.clock.sleep(tries < quickTries ? retryMs : retrySlowlyMs, signal);
  }
}

/** In the root directory, so that it keeps no mount busy, and with an empty environment, so that it holds no secret. */
function startSupervisor(host: WorkerHost, address: SupervisorAddress, program: SupervisorProgram): number {
  const nonce = Buffer.from(host.ids.random(8)).toString("hex");
  const args = ["--session", address.session, "--socket", address.socket, "--nonce", nonce];
  return host.processes.spawnDetached({
    file: program.file,
    args: [...program.args, ...args],
    cwd: "/",
    env: {},
    errorFile: errorFile(address),
  }).pid;
}

function errorFile(address: SupervisorAddress): string {
  return `${address.socket}.errors`;
}

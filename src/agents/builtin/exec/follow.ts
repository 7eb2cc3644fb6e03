import { isDiskError, type Clock, type DiskFile, readAt } from "../../../host/index.ts";
import type { ToolRun } from "../../../model/agent.ts";
import { readClaim } from "./claim.ts";
import { connectSupervisor, type SupervisorConnection, type WorkerHost } from "./connection.ts";
import { spoolFiles } from "./spool.ts";
import { readStatus, type Status } from "./status.ts";

/**
 * Waiting for the end of a command that was claimed by a supervisor, ours or one that a dead worker left. The folder is
 * asked, and only the folder: a valid status is the end; without one, a free `alive` means that nobody will write it.
 */

/** What the waiting came to. */
export type Ending =
  | { state: "ended"; status: Status }
  /** Nobody will, or nobody in time, say how it ended. */
  | { state: "lost"; reason: string };

/** Whom to wait for. */
export interface Following {
  readonly host: WorkerHost;
  readonly run: ToolRun;
  /** The start's nonce, from the evidence. */
  readonly nonce: string;
  /** Only quicker than polling; {@link connectClaimant} finds another where one is needed. */
  readonly connection?: SupervisorConnection | undefined;
}

const pollMs = 100;
const pollConnectedMs = 1000;
/** From the end of the grace to giving up; the supervisor kills what does not stop, long before. */
const stopMs = 10_000;
const readBytesMax = 64 * 1024;

/** Waits for the end, passing live output on from its beginning. Stops the command when the signal is aborted. */
export async function followToEnd(following: Following): Promise<Ending> {
  const { host, run, nonce } = following;
  const { spool, operation } = run.place;
  const bell = new Bell(host.clock);
  const stopper = new Stopper(following);
  const output = new OutputReader(following);
  const ring = (): void => bell.ring();
  following.connection?.onChange(ring);
  run.signal.addEventListener("abort", ring);
  try {
    for (;;) {
      await output.passOn();
      // In this order: a supervisor that ends writes the status before it lets `alive` go.
      const isAlive = await isLocked(host, spool);
      const found = await readStatus(host.disk, spool, { operation, nonce });
      if (found.state === "ended") {
        await output.passOn();
        return found;
      }
      if (!isAlive) return { state: "lost", reason: "Its supervisor is gone and left no record of its end." };
      if (run.signal.aborted && !(await stopper.stop())) {
        return { state: "lost", reason: "The command was told to stop, and it is not known to have ended." };
      }
      await bell.wait(following.connection?.isOpen === true ? pollConnectedMs : pollMs);
    }
  } finally {
    run.signal.removeEventListener("abort", ring);
    await output.close();
    stopper.close();
  }
}

/** A connection to the very supervisor that claimed the command, told to send notices; undefined where it is gone. */
export async function connectClaimant(following: Following): Promise<SupervisorConnection | undefined> {
  const { host, run } = following;
  const { session, operation, spool } = run.place;
  const found = await readClaim(host.disk, spool);
  if (found.state !== "claimed" || found.claim.kind !== "start") return undefined;
  const { socket, supervisor } = found.claim;
  const connection = await connectSupervisor(host, { session, socket });
  if (connection?.supervisor === supervisor) {
    const answer = await connection.request({ type: "watch", operation });
    if (answer?.type === "accepted") return connection;
  }
  connection?.close();
  return undefined;
}

/** True while the supervisor of a folder lives. Never creates the lock file. */
async function isLocked({ locks }: WorkerHost, spool: string): Promise<boolean> {
  try {
    const lock = await locks.tryLock(spoolFiles(spool).alive, { shared: true });
    await lock?.release();
    return lock === undefined;
  } catch (error) {
    if (isDiskError(error, "ENOENT")) return false;
    throw error;
  }
}

/** Wakes one waiter; a ring that nobody waits for is kept. */
class Bell {
  readonly #clock: Clock;
  #rung = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#rung.abort();
  }

  async wait(ms: number): Promise<void> {
    await this.#clock.sleep(ms, this.#rung.signal);
    this.#rung = new AbortController();
  }
}

/** Has the command stopped, through whichever connection there is. */
class Stopper {
  readonly #following: Following;
  #own: SupervisorConnection | undefined;
  #giveUpMs: number | undefined;
  #isAsked = false;

  constructor(following: Following) {
    this.#following = following;
  }

  /** Asks until somebody has heard it; false when the time is over. */
  async stop(): Promise<boolean> {
    const { host, run, connection } = this.#following;
    const nowMs = host.clock.monotonicMs();
    this.#giveUpMs ??= nowMs + run.graceMs + stopMs;
    if (nowMs >= this.#giveUpMs) return false;
    if (this.#isAsked) return true;
    this.#isAsked = connection?.cancel(run.place.operation, run.graceMs) === true;
    if (!this.#isAsked) {
      this.#own = await connectClaimant(this.#following);
      this.#isAsked = this.#own?.cancel(run.place.operation, run.graceMs) === true;
    }
    return true;
  }

  close(): void {
    this.#own?.close();
  }
}

/** Reads `output` as it grows. */
class OutputReader {
  readonly #following: Following;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #file: DiskFile | undefined;
  #position = 0;

  constructor(following: Following) {
    this.#following = following;
  }

  /** Passes on what has come since. */
  async passOn(): Promise<void> {
    const { host, run } = this.#following;
    try {
      this.#file ??= await host.disk.open(spoolFiles(run.place.spool).output, "read");
    } catch (error) {
      if (isDiskError(error, "ENOENT")) return;
      throw error;
    }
    for (;;) {
      const bytes = await readAt(this.#file, this.#position, readBytesMax);
      if (bytes.byteLength === 0) return;
      this.#position += bytes.byteLength;
      const text = this.#decoder.decode(bytes, { stream: true });
      if (text !== "") run.live(text);
    }
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}

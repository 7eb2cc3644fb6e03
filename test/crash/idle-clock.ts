import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../src/host/index.ts";
import { MemoryClock } from "./memory-host.ts";

/** So often time may pass on one machine: more is a loop that nobody leaves. */
const stepsMax = 100_000;

/** So many turns in which nothing happens are the end of everything. */
const quietTurnsMax = 3;

/**
 * Time that passes when nobody has anything else to do: then whoever sleeps the shortest wakes. All else in memory is
 * done within one turn of the event loop, so the same work takes the same time, to the millisecond, each time.
 */
export class IdleClock extends MemoryClock {
  #isArmed = false;
  #hasEnded = false;
  #steps = 0;
  #waiting = 0;
  #quiets = 0;

  constructor({ start }: { readonly start?: number } = {}) {
    super({ passesMsMax: -1, ...(start !== undefined && { start }) });
  }

  /** How often time has passed. */
  get steps(): number {
    return this.#steps;
  }

  /** The clock of the same machine after all have died: the time is the same, and nobody sleeps. */
  copy(): IdleClock {
    return new IdleClock({ start: this.now() });
  }

  override lieDown(ms: number): { readonly over: Promise<void>; readonly wake: () => void } {
    const sleep = super.lieDown(ms);
    this.#arm();
    return sleep;
  }

  /** Time stands still for ever. */
  end(): void {
    this.#hasEnded = true;
  }

  /** Resolves when everybody has done all that there was to do, and nobody sleeps any more. */
  async quiet(): Promise<void> {
    this.#waiting += 1;
    await this.#untilQuiet();
    this.#waiting -= 1;
    this.#quiets += 1;
  }

  /** What the work comes to; rejects where it is not over and nobody does anything any more. */
  async within<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const over = work.finally(() => (isOver = true));
    const stuck = async (): Promise<T> => {
      while (!isOver) {
        const before = this.#quiets;
        await this.#untilQuiet();
        // Whoever waited for the quiet goes on now.
        const isWaitedFor = this.#waiting > 0 || this.#quiets > before;
        if (!isOver && !isWaitedFor) throw new Error("it waits, and nobody does anything any more");
      }
      return await over;
    };
    return await Promise.race([over, stuck()]);
  }

  async #untilQuiet(): Promise<void> {
    for (let turns = 0; turns < quietTurnsMax; turns++) {
      const before = this.#steps;
      await turn();
      if (this.#steps > before || this.#isArmed) turns = -1;
      if (this.#steps >= stepsMax) throw new Error(`it does not end: time has passed ${stepsMax} times`);
    }
  }

  #arm(): void {
    const { nextMs } = this;
    if (this.#isArmed || this.#hasEnded || this.#steps >= stepsMax) return;
    if (nextMs === undefined || nextMs === Infinity) return;
    this.#isArmed = true;
    setImmediate(() => {
      this.#isArmed = false;
      // Asked again: whoever slept may have been woken by somebody else.
      const wakeMs = this.nextMs;
      if (this.#hasEnded || wakeMs === undefined || wakeMs === Infinity) return;
      this.#steps += 1;
      this.advance(wakeMs - this.monotonicMs());
      this.#arm();
    });
  }
}

/** The clock of one process: whoever sleeps when it dies never wakes, and whoever sleeps while it is stopped wakes late. */
export class ProcessClock implements Clock {
  readonly #clock: MemoryClock;
  readonly #wakes = new Set<() => void>();
  readonly #process: { readonly isDead: boolean; readonly stopped: Promise<void> | undefined };

  constructor(
    clock: MemoryClock,
    process: { readonly isDead: boolean; readonly stopped: Promise<void> | undefined },
  ) {
    this.#clock = clock;
    this.#process = process;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (this.#process.isDead) return await never();
    if (signal?.aborted === true) return;
    const { over, wake } = this.#clock.lieDown(ms);
    this.#wakes.add(wake);
    signal?.addEventListener("abort", wake);
    await over;
    this.#wakes.delete(wake);
    signal?.removeEventListener("abort", wake);
    while (this.#process.stopped !== undefined) await this.#process.stopped;
    if (this.#process.isDead) await never();
  }

  /** Called when the process is dead. */
  die(): void {
    for (const wake of this.#wakes) wake();
  }
}

function never(): Promise<void> {
  return new Promise(() => undefined);
}

import type { Clock, Host, Ids, Processes, Sockets } from "../../src/host/index.ts";
import type { MemoryDisk } from "./memory-disk.ts";
import type { MemoryLocks } from "./memory-locks.ts";

/** Time that stands still until somebody sleeps or {@link MemoryClock.advance} is called. */
export class MemoryClock implements Clock {
  #ms = 0;
  readonly #start: number;
  readonly #passesMsMax: number;
  readonly #sleepers = new Set<{ readonly untilMs: number; readonly wake: () => void }>();

  /** `passesMsMax`: a longer sleep is not over at once, but when others have made that much time pass. */
  constructor({ start = 1_764_511_111_111, passesMsMax = Infinity } = {}) {
    this.#start = start;
    this.#passesMsMax = passesMsMax;
  }

  now(): number {
    return this.#start + Math.floor(this.#ms);
  }

  monotonicMs(): number {
    return this.#ms;
  }

  /** Over at once, with the time passed; or, where it is long, when that time has passed. */
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return;
    if (ms <= this.#passesMsMax) return this.advance(ms);
    const { over, wake } = this.lieDown(ms);
    signal?.addEventListener("abort", wake);
    await over;
    signal?.removeEventListener("abort", wake);
  }

  /** A sleep that somebody may end before its time. */
  lieDown(ms: number): { readonly over: Promise<void>; readonly wake: () => void } {
    let rise = (): void => undefined;
    const over = new Promise<void>((resolve) => (rise = resolve));
    const wake = (): void => {
      this.#sleepers.delete(sleeper);
      rise();
    };
    const sleeper = { untilMs: this.#ms + ms, wake };
    this.#sleepers.add(sleeper);
    return { over, wake };
  }

  /** When the next of those who sleep is to wake; undefined where nobody sleeps. */
  protected get nextMs(): number | undefined {
    let next: number | undefined;
    for (const { untilMs } of this.#sleepers) next = Math.min(next ?? Infinity, untilMs);
    return next;
  }

  /** Lets time pass, and wakes whoever slept for that long. */
  advance(ms: number): void {
    this.#ms += Math.max(0, ms);
    for (const { untilMs, wake } of this.#sleepers) if (untilMs <= this.#ms) wake();
  }
}

/** Bytes that look random and are the same for the same seed (a xorshift generator). */
export function seededIds(seed: number): Ids {
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 24) & 0xff;
  };
  return { random: (count) => Uint8Array.from({ length: count }, next) };
}

/** A whole host in memory. Time is driven by hand, chance by the seed; processes, sockets and HTTP refuse. */
export function memoryHost(options: {
  disk: MemoryDisk;
  locks: MemoryLocks;
  seed?: number;
  clock?: MemoryClock;
}): Host & { readonly disk: MemoryDisk; readonly locks: MemoryLocks; readonly clock: MemoryClock } {
  const { disk, locks, seed = 1, clock = new MemoryClock() } = options;
  return {
    disk,
    locks,
    clock,
    ids: seededIds(seed),
    processes: refusingProcesses(seed),
    sockets: refusingSockets,
    fetch: () => Promise.reject(refusal("HTTP")),
  };
}

function refusal(what: string): Error {
  return new Error(`The host in memory has no ${what}; use a real one.`);
}

function refusingProcesses(seed: number): Processes {
  const refuse = (): never => {
    throw refusal("processes");
  };
  return {
    self: { pid: 1000 + seed, startTime: String(seed), bootId: "boot", host: "memory", user: "tester" },
    capture: () => Promise.reject(refusal("processes")),
    spawn: refuse,
    spawnDetached: refuse,
    findByEnvironment: async () => refuse(),
    isAlive: refuse,
    signal: refuse,
  };
}

const refusingSockets: Sockets = {
  directory: () => Promise.reject(refusal("sockets")),
  listen: () => Promise.reject(refusal("sockets")),
  connect: () => Promise.reject(refusal("sockets")),
};

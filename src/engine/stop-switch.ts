import type { Stop } from "../model/stop.ts";
import { graverStop } from "../model/stop.ts";

/** By which a person, a signal or another process stops work that is under way. Thrown once, it stays thrown. */
export class StopSwitch {
  readonly #listeners = new Set<() => void>();
  readonly #thrown = new AbortController();
  #stop: Stop | undefined;

  /** Why the work shall end; undefined where it shall not. */
  get stop(): Stop | undefined {
    return this.#stop;
  }

  /** Aborted when the work shall end. */
  get thrown(): AbortSignal {
    return this.#thrown.signal;
  }

  /** Has the work end; of several reasons the gravest counts. */
  request(stop: Stop): void {
    const before = this.#stop;
    this.#stop = graverStop(before, stop);
    if (this.#stop === before) return;
    this.#thrown.abort();
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` whenever the reason changes, from now on; returns how to end that. */
  onRequest(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

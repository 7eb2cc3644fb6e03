/** Wakes all who wait for something to happen. */
export class Pulse {
  #next = new AbortController();

  /** Aborted when it beats next. */
  get next(): AbortSignal {
    return this.#next.signal;
  }

  /** Wakes whoever waits. */
  beat(): void {
    const beaten = this.#next;
    this.#next = new AbortController();
    beaten.abort();
  }
}

/** Resolves when the signal is aborted. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

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

/** Resolves when the work is done, or as soon as one of the signals is aborted; rejects where the work does so first. */
export async function unlessAborted(work: Promise<void>, signals: readonly AbortSignal[]): Promise<void> {
  let release = (): void => undefined;
  const aborted = new Promise<void>((resolve) => {
    const end = (): void => resolve();
    for (const signal of signals) {
      if (signal.aborted) end();
      else signal.addEventListener("abort", end);
    }
    // A signal may live as long as the process.
    release = () => signals.forEach((signal) => signal.removeEventListener("abort", end));
  });
  try {
    await Promise.race([work, aborted]);
  } finally {
    release();
  }
}

/** Resolves when the signal is aborted. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

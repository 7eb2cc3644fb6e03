import type { Clock } from "../../../host/index.ts";
import { HoldfastError } from "../../../model/errors.ts";

/** Something that must happen in time, again and again. */
interface Alarm {
  readonly called: AbortController;
  /** Parts of its limit that went by since it happened last. */
  idle: number;
}

/** An answer comes in thousands of pieces: a limit is waited for in so many parts, and a piece only counts them anew. */
const parts = 8;

/** Watches one call: what must happen in time either does, or the call is ended. Never too early, and little too late. */
export class CallWatch {
  readonly #clock: Pick<Clock, "sleep">;
  readonly #stop = new AbortController();
  readonly #alarms = new Map<string, Alarm>();
  #overdue: string | undefined;

  constructor(clock: Pick<Clock, "sleep">) {
    this.#clock = clock;
  }

  /** Aborted once something is overdue. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** What was overdue first, as what the provider did; undefined while nothing is. */
  get overdue(): string | undefined {
    return this.#overdue;
  }

  /** From now on the next `expect` or `forget` of the same words must come within `limitMs`. */
  expect(what: string, limitMs: number): void {
    const known = this.#alarms.get(what);
    if (known !== undefined) {
      known.idle = 0;
      return;
    }
    const alarm = { called: new AbortController(), idle: 0 };
    this.#alarms.set(what, alarm);
    void this.#ring(alarm, what, limitMs);
  }

  /** It happened, and is not expected again. */
  forget(what: string): void {
    this.#alarms.get(what)?.called.abort();
    this.#alarms.delete(what);
  }

  /** The call is over: nothing is expected any more. */
  end(): void {
    for (const { called } of this.#alarms.values()) called.abort();
    this.#alarms.clear();
  }

  async #ring(alarm: Alarm, what: string, limitMs: number): Promise<void> {
    const { signal } = alarm.called;
    // The first part may be nearly over when it is counted from.
    while (alarm.idle <= parts) {
      await this.#clock.sleep(limitMs / parts, signal);
      if (signal.aborted) return;
      alarm.idle++;
    }
    this.#overdue ??= `${what} for ${limitMs / 1000} s`;
    this.#stop.abort(new HoldfastError("provider_failed", this.#overdue));
  }
}

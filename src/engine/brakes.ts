import type { Clock } from "../host/index.ts";
import type { Stop } from "../model/stop.ts";
import { graverStop } from "../model/stop.ts";
import type { StopSwitch } from "./stop-switch.ts";

/** How long tools that run have, where nobody says otherwise. */
export const defaultCancelGraceMs = 2000;

/**
 * What a stop does to one run that is under way: a model call and every wait end at once; tools are told to stop at once
 * where the run ends, and after the grace where only the attempt does, so that they may finish.
 */
export class Brakes {
  /** Milliseconds that a tool has to end by itself once it was told to, and before that where the attempt is suspended. */
  readonly graceMs: number;
  readonly #clock: Clock;
  readonly #switch: StopSwitch;
  readonly #calls = new AbortController();
  readonly #effects = new AbortController();
  readonly #released = new AbortController();
  readonly #stopListening: () => void;
  #own: Stop | undefined;
  #isFinishing = false;

  /** `own`: why this very run shall stop, where somebody asked for that already. */
  constructor(options: { clock: Clock; stops: StopSwitch; graceMs: number; own: Stop | undefined }) {
    this.graceMs = options.graceMs;
    this.#clock = options.clock;
    this.#switch = options.stops;
    this.#own = options.own;
    this.#stopListening = options.stops.onRequest(() => this.#brake());
    this.#brake();
  }

  /** Why the run shall stop; undefined where it shall not. */
  get stop(): Stop | undefined {
    const { stop } = this.#switch;
    return stop === undefined ? this.#own : graverStop(this.#own, stop);
  }

  /** Aborted when model calls and waits shall end. */
  get calls(): AbortSignal {
    return this.#calls.signal;
  }

  /** Aborted when effects shall end. */
  get effects(): AbortSignal {
    return this.#effects.signal;
  }

  /** Has this run stop. */
  request(stop: Stop): void {
    this.#own = graverStop(this.#own, stop);
    this.#brake();
  }

  /** Has the run stop when its time is used up. */
  limit(leftMs: number): void {
    void this.#clock.sleep(leftMs, this.#released.signal).then(() => {
      if (!this.#released.signal.aborted) this.request({ kind: "budget" });
    });
  }

  /** Lets go of the switch and of every timer. */
  release(): void {
    this.#stopListening();
    this.#released.abort();
  }

  #brake(): void {
    const { stop } = this;
    if (stop === undefined) return;
    this.#calls.abort();
    if (stop.kind !== "suspend") this.#effects.abort();
    else if (!this.#isFinishing) void this.#letFinish();
  }

  async #letFinish(): Promise<void> {
    this.#isFinishing = true;
    await this.#clock.sleep(this.graceMs, this.#released.signal);
    if (!this.#released.signal.aborted) this.#effects.abort();
  }
}

import type { Clock } from "../../../host/index.ts";

/** Whether a long look may go on. */
export type Going = "on" | "canceled" | "late";

/** Keeps long work polite: asked between its steps, it lets others run and says when to stop. */
export interface Pace {
  step(): Promise<Going>;
}

/** Work without a pause is at most this long: signals and timers arrive only in pauses. */
const stretchMs = 25;

/** Starts a {@link Pace}: `late` after `limitMs`, `canceled` once `signal` is aborted. */
export function startPace(clock: Clock, signal: AbortSignal | undefined, limitMs: number): Pace {
  const started = clock.monotonicMs();
  let pausedAt = started;
  return {
    async step() {
      const now = clock.monotonicMs();
      if (now - pausedAt > stretchMs) {
        await clock.sleep(1);
        pausedAt = clock.monotonicMs();
      }
      if (signal?.aborted === true) return "canceled";
      return now - started > limitMs ? "late" : "on";
    },
  };
}

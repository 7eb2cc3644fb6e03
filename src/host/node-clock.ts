import type { Clock } from "./clock.ts";

/** Beyond this a timer of Node fires at once. */
const timerMsMax = 2 ** 31 - 1;

/** The clocks of this machine. */
export function nodeClock(): Clock {
  return {
    now: () => Date.now(),
    monotonicMs: () => performance.now(),
    async sleep(ms, signal) {
      for (let rest = ms; rest > 0 && signal?.aborted !== true; rest -= timerMsMax) {
        await wait(Math.min(rest, timerMsMax), signal);
      }
    },
  };
}

/** Takes its listener away when the time is over: a signal may live as long as the process. */
function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
  });
}

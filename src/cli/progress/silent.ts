import type { ProgressOutput } from "./output.ts";

/** Tells nothing while it goes on: one document at the end says it all. */
export function silentProgress(): ProgressOutput {
  return {
    observer: { commit: () => undefined, live: () => undefined },
    begun: () => undefined,
    note: () => undefined,
    ask: () => undefined,
    answered: () => undefined,
    stop: () => undefined,
    ended: () => undefined,
    needsLeft: true,
    flushed: () => Promise.resolve(),
  };
}

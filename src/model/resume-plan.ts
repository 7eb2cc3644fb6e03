import type { QueueState } from "./delivery.ts";
import { waitsToBeSaid } from "./delivery.ts";
import type { SessionState } from "./fold.ts";
import { openOperations, openRun, unknownOperations } from "./fold.ts";

/** What a resume does first, in this order. */
export interface ResumePlan {
  /** The run that is finished before anything else; absent where none is open. */
  run?: string;
  /** Operations of it that started and whose end is to be found out. */
  prove: number;
  /** Operations of it that a person must speak about before it goes on. */
  unknown: number;
  /** Messages that are delivered after it, one run each, as long as runs complete. */
  deliver: number;
}

/** Foretells it from facts alone. */
export function planResume(state: SessionState, queue: QueueState): ResumePlan {
  const run = openRun(state);
  const waiting = [...queue.deliveries.values()].filter((one) => waitsToBeSaid(one, state.deliveries));
  return {
    ...(run !== undefined && { run: run.run }),
    prove: openOperations(state).filter(({ at }) => at === "started").length,
    unknown: unknownOperations(state).length,
    deliver: waiting.length,
  };
}

import { nextDelivery } from "../model/delivery.ts";
import { newestRun, openRun } from "../model/fold.ts";
import { deliverNext, settleQueue } from "./deliver.ts";
import type { Ending } from "./drive.ts";
import { drive } from "./drive.ts";
import type { Crew } from "./worker.ts";

/** What a worker's stay came to. `idle`: there was nothing to do. */
export interface WorkResult {
  readonly ending: Ending | "idle";
  /** The last run that was worked on. */
  readonly run?: string;
}

/**
 * Drains a session: finishes the open run, then takes delivery after delivery, as long as runs complete; after any
 * other ending the queue is held. Lets go of the session when nothing is left that it may take.
 */
export async function work(crew: Crew, options: { acceptRollback: boolean }): Promise<WorkResult> {
  const { worker } = crew;
  await settleQueue(worker, options.acceptRollback);
  let result: WorkResult = { ending: "idle" };
  for (;;) {
    const run = openRun(worker.state)?.run ?? (await deliverNext(worker));
    if (run !== undefined) {
      result = { ending: await drive(crew, run), run };
      if (result.ending === "completed") continue;
    }
    const mayLetGo = () => result.ending !== "completed" || nextDelivery(worker.queue) === undefined;
    if (await worker.held.release(mayLetGo)) return result;
  }
}

/** The newest run's id, for a result that did nothing. */
export function lastRun(crew: Crew): string | undefined {
  return newestRun(crew.worker.state)?.run;
}

import { nextDelivery } from "../model/delivery.ts";
import { isHoldfastError } from "../model/errors.ts";
import { openRun } from "../model/fold.ts";
import type { Discrepancy } from "../model/reconcile.ts";
import { deliverNext, settleQueue } from "./deliver.ts";
import type { Ending } from "./drive.ts";
import { drive } from "./drive.ts";
import type { Crew, Worker } from "./worker.ts";

/** What a worker's stay came to. `idle`: there was nothing to do. */
export interface WorkResult {
  readonly ending: Ending | "idle";
  /** The last run that was worked on. */
  readonly run?: string;
}

/**
 * Drains a session: finishes the open run, then takes delivery after delivery, as long as runs complete; after any
 * other ending the queue is held. Lets go of the session when nothing is left that it may take. `accepted`: what a
 * person accepts that log and queue say differently.
 */
export async function work(crew: Crew, accepted: readonly Discrepancy[]): Promise<WorkResult> {
  const { worker } = crew;
  await settleQueue(worker, accepted);
  let result: WorkResult = { ending: "idle" };
  for (;;) {
    const run = openRun(worker.state)?.run ?? (await deliverNext(worker));
    if (run !== undefined) result = { ending: await drive(crew, run), run };
    const mayTakeMore = result.ending === "completed" || result.ending === "idle";
    if (run !== undefined && mayTakeMore) continue;
    // Asked under the append lock: whoever admits after that finds nobody, and wakes the session himself.
    if (await letGo(worker, () => !mayTakeMore || nextDelivery(worker.queue) === undefined)) return result;
  }
}

/** What was done is on record: a disk that has no room for the good-bye takes nothing of it back. */
async function letGo(worker: Worker, mayLetGo: () => boolean): Promise<boolean> {
  try {
    return await worker.held.release(mayLetGo);
  } catch (error) {
    if (!isHoldfastError(error, "disk_full", "io_error")) throw error;
    await worker.held.abandon();
    return true;
  }
}

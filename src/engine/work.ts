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
    const mayLetGo = () => !mayTakeMore || nextDelivery(worker.queue) === undefined;
    if (await letGo(worker, mayLetGo, result)) return result;
  }
}

/**
 * What was done is on record, and whoever goes on finds out how we left: once there is an ending no failure of the
 * good-bye takes it back, be it a full disk, a lock that somebody keeps, or another owner.
 */
async function letGo(worker: Worker, mayLetGo: () => boolean, { ending }: WorkResult): Promise<boolean> {
  try {
    return await worker.held.release(mayLetGo);
  } catch (error) {
    const isTold =
      ending === "idle" ? isHoldfastError(error, "disk_full", "io_error") : isHoldfastError(error);
    if (!isTold) throw error;
    await worker.abandon();
    return true;
  }
}

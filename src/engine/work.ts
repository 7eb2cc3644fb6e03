import { nextDelivery, openRequests } from "../model/delivery.ts";
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
    const mayLetGo = () =>
      openRequests(worker.queue).length === 0 && (!mayTakeMore || nextDelivery(worker.queue) === undefined);
    if (await letGo(worker, mayLetGo, result)) return result;
  }
}

/** Whoever asked for something learns that it is not done here: no verb of this version can be asked for. */
async function answerRequests(worker: Worker): Promise<void> {
  await worker.appendToQueue(() =>
    openRequests(worker.queue).map(({ request, verb }) => ({
      kind: "request.answered",
      request,
      ok: false,
      code: "usage",
      message: `this version does nothing that is called ${JSON.stringify(verb.slice(0, verbLengthMax))}`,
    })),
  );
}

const verbLengthMax = 100;

/**
 * What was done is on record, and whoever goes on finds out how we left: once there is an ending no failure of the
 * good-bye takes it back, be it a full disk, a lock that somebody keeps, or another owner.
 */
async function letGo(worker: Worker, mayLetGo: () => boolean, { ending }: WorkResult): Promise<boolean> {
  try {
    while (!(await worker.held.release(mayLetGo))) {
      if (openRequests(worker.queue).length === 0) return false;
      await answerRequests(worker);
    }
    return true;
  } catch (error) {
    const isTold =
      ending === "idle" ? isHoldfastError(error, "disk_full", "io_error") : isHoldfastError(error);
    if (!isTold) throw error;
    await worker.abandon();
    return true;
  }
}

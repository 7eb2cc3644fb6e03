import { nextDelivery, openRequests } from "../model/delivery.ts";
import { isHoldfastError } from "../model/errors.ts";
import { openRun } from "../model/fold.ts";
import type { Discrepancy } from "../model/reconcile.ts";
import { deliverNext, settleQueue } from "./deliver.ts";
import type { Ending } from "./drive.ts";
import { drive } from "./drive.ts";
import { RequestDesk } from "./request-desk.ts";
import type { Staff, Worker } from "./worker.ts";

/** What a worker's stay came to. `idle`: there was nothing to do. */
export interface WorkResult {
  readonly ending: Ending | "idle";
  /** The last run that was worked on. */
  readonly run?: string;
}

/** What is to be done. */
export interface WorkOptions {
  /** What a person accepts that log and queue say differently. */
  readonly accepted: readonly Discrepancy[];
  /** `requests`: a run is driven only where somebody wants it to end. */
  readonly only?: "requests";
  /** Those who drive a run; asked for at the first one. */
  openStaff(): Promise<Staff>;
}

/**
 * Drains a session: takes what others asked for, finishes the open run, then takes delivery after delivery, as long as
 * runs complete and nobody wants the work to stop; else the queue is held. Lets go of the session when nothing is left
 * that it may take.
 */
export async function work(worker: Worker, options: WorkOptions): Promise<WorkResult> {
  const desk = new RequestDesk(worker);
  try {
    await settleQueue(worker, options.accepted);
    desk.open();
    await desk.serve();
    return await drain(worker, desk, options);
  } finally {
    await desk.close();
  }
}

async function drain(worker: Worker, desk: RequestDesk, options: WorkOptions): Promise<WorkResult> {
  let staff: Staff | undefined;
  let result: WorkResult = { ending: "idle" };
  for (;;) {
    const mayTake = options.only === undefined && mayTakeMore(worker, result);
    const open = openRun(worker.state)?.run;
    const isWanted = open !== undefined && worker.wanted.has(open);
    const run = mayTake || isWanted ? (open ?? (await deliverNext(worker))) : undefined;
    if (run !== undefined) {
      staff ??= await options.openStaff();
      result = { ending: await drive(staff, run), run };
      await desk.answerStops();
      continue;
    }
    // Asked under the append lock: whoever admits after that finds nobody, and wakes the session himself.
    const mayLetGo = () =>
      openRequests(worker.queue).length === 0 && (!mayTake || nextDelivery(worker.queue) === undefined);
    if (await letGo(worker, desk, { mayLetGo, ending: result.ending })) return result;
  }
}

/**
 * Only after a run that completed is the next one taken. Somebody who wants the work to stop wants no other run begun;
 * but a cancel that comes before there is one is meant for the first.
 */
function mayTakeMore({ stops: { stop } }: Worker, { ending }: WorkResult): boolean {
  if (ending === "idle") return stop === undefined || stop.kind === "cancel";
  return ending === "completed" && stop === undefined;
}

/**
 * What was done is on record, and whoever goes on finds out how we left: once there is an ending no failure of the
 * good-bye takes it back, be it a full disk, a lock that somebody keeps, or another owner. False where there is more
 * to do.
 */
async function letGo(
  worker: Worker,
  desk: RequestDesk,
  { mayLetGo, ending }: { readonly mayLetGo: () => boolean; readonly ending: WorkResult["ending"] },
): Promise<boolean> {
  try {
    while (!(await desk.release(mayLetGo))) {
      if (openRequests(worker.queue).length === 0) return false;
      await desk.serve();
      if (worker.wanted.size > 0) return false;
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

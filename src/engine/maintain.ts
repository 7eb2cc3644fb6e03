import { applyToQueue, emptyQueueState } from "../model/delivery.ts";
import { HoldfastError } from "../model/errors.ts";
import type { FileRepair } from "../store/index.ts";
import type { EngineContext } from "./context.ts";
import { rowAfter, SessionFold } from "./worker.ts";

/** Verbs that mend the store. */

/** What `session repair` did. */
export interface RepairReport {
  readonly session: string;
  readonly files: readonly FileRepair[];
  /** Where the original bytes are kept. */
  readonly saved: readonly string[];
}

/**
 * Recovers the tails of a session's log and queue, and clears an unknown durability by writing anew what is readable;
 * records what was done. Rejects `busy`, or `log_damaged` and `queue_damaged` where nothing proves what may be cut.
 */
export async function repairSession(context: EngineContext, selector: string): Promise<RepairReport> {
  const { store } = context;
  const session = await store.find(selector);
  const fold = new SessionFold(session);
  const queue = emptyQueueState();
  const files = await store.repair(session, {
    version: context.version,
    visit: (commit) => fold.take(commit),
    visitQueue: (commit) => applyToQueue(queue, commit),
    row: (facts) => rowAfter(fold.state.row, facts),
  });
  const saved = files.flatMap(({ repaired }) =>
    repaired?.saved === undefined ? [] : store.recoveryPath(repaired.saved),
  );
  return { session, files, saved };
}

/** Gives a copied state directory an identity of its own. */
export async function adoptStore(context: EngineContext): Promise<{ from: string; to: string }> {
  const adopted = await context.store.adopt();
  if (adopted.from === adopted.to) {
    throw new HoldfastError(
      "usage",
      `${context.store.directory} is no copy: it is store ${adopted.to} itself`,
    );
  }
  return adopted;
}

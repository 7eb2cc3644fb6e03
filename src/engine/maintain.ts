import { HoldfastError } from "../model/errors.ts";
import type { Repaired } from "../model/facts.ts";
import type { FileRepair } from "../store/index.ts";
import type { EngineContext, Observer } from "./context.ts";
import { Worker } from "./worker.ts";

/** Verbs that mend the store. */

const silent: Observer = { commit: () => undefined, live: () => undefined };

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
  await store.identity();
  const files = await store.repair(session);
  const factOf = (file: FileRepair["file"]) =>
    files.flatMap((one) => (one.file === file ? (one.repaired ?? []) : []));
  const [log, queue] = [factOf("log"), factOf("queue")];
  if (log.length + queue.length > 0) await recordRepair(context, session, { log, queue });
  const saved = [...log, ...queue].flatMap((fact) =>
    fact.saved === undefined ? [] : store.recoveryPath(fact.saved),
  );
  return { session, files, saved };
}

async function recordRepair(
  context: EngineContext,
  session: string,
  repaired: { log: readonly Repaired[]; queue: readonly Repaired[] },
): Promise<void> {
  const worker = await Worker.take(context, session, {
    acceptRollback: false,
    observer: silent,
    repaired: repaired.log,
  });
  await worker.orAbandon(async () => {
    if (repaired.queue.length > 0) await worker.held.queue.transact((queue) => queue.append(repaired.queue));
    await worker.held.release(() => true);
  });
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

import type { QueueState } from "../model/delivery.ts";
import { applyToQueue, emptyQueueState } from "../model/delivery.ts";
import { isHoldfastError } from "../model/errors.ts";
import type { QueueOutlook } from "../model/queue-hold.ts";
import { judgeQueue } from "../model/queue-hold.ts";
import type { Store } from "../store/index.ts";
import type { EngineContext } from "./context.ts";
import type { ReadSession } from "./read-session.ts";

/** Reading a queue: takes no lock and writes nothing. */

/** The queue as its lines tell it. Rejects `queue_damaged`. */
export async function readQueue(store: Pick<Store, "readQueue">, session: string): Promise<QueueState> {
  const queue = emptyQueueState();
  await store.readQueue(session, (commit) => applyToQueue(queue, commit));
  return queue;
}

/** What waits in the queue of a session that was read, and why; a queue that is damaged is told of, not rejected. */
export async function readOutlook(context: EngineContext, read: ReadSession): Promise<QueueOutlook> {
  const { state, active: live, resume } = read;
  try {
    return judgeQueue({ state, queue: await readQueue(context.store, state.id), live, resume });
  } catch (error) {
    if (!isHoldfastError(error, "queue_damaged", "unsupported_version")) throw error;
    const { message, details } = error;
    const damaged = message.replace(`${details.at?.file}: `, "");
    return { waiting: 0, blocked: [], live, underWay: false, damaged };
  }
}

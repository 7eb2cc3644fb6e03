import { applyToQueue, emptyQueueState } from "../model/delivery.ts";
import { HoldfastError } from "../model/errors.ts";
import { admit } from "./admit.ts";
import type { EngineContext, Observer } from "./context.ts";
import type { SessionRequest } from "./create-session.ts";
import { createSession } from "./create-session.ts";
import type { WorkReport } from "./stay.ts";
import { stayIn } from "./stay.ts";

/** A task for a new session. */
export interface TaskRequest extends SessionRequest {
  readonly task: string;
}

/**
 * Makes a session, admits the task and works on it until the run ends. `begun` is called with the session's id as soon
 * as it is durable; every failure after that is one of a session that exists.
 */
export async function runTask(
  context: EngineContext,
  request: TaskRequest,
  observer: Observer,
  begun: (session: string) => void,
): Promise<WorkReport> {
  refuseBlank(request.task);
  const session = await createSession(context, request);
  begun(session);
  await context.store.readStrictly(session, (line0) => observer.commit(line0));
  const queue = emptyQueueState();
  await context.store.appendToQueue(
    session,
    (commit) => applyToQueue(queue, commit),
    (transaction) => {
      const target = { queue, blobs: context.store.blobs(session), logSeq: 0 };
      return admit(context, target, transaction, { text: request.task, source: "user" });
    },
  );
  return await stayIn(context, session, { acceptRollback: false, observer });
}

/** Rejects a task that asks for nothing: no model answers an empty message. */
export function refuseBlank(task: string): void {
  if (task.trim() === "") throw new HoldfastError("usage", "the task is empty", { hint: "Say what to do." });
}

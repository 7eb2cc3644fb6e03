import type { Commit } from "../model/commit.ts";
import { HoldfastError } from "../model/errors.ts";
import type { EngineContext, Observer } from "./context.ts";
import type { SessionRequest } from "./create-session.ts";
import { createSession } from "./create-session.ts";
import type { WorkControl, WorkReport } from "./stay.ts";
import { controlOf, stayIn } from "./stay.ts";

/** A task for a new session. */
export interface TaskRequest extends SessionRequest, WorkControl {}

/**
 * Makes a session with the task in its queue and works on it until the run ends. `begun` is called with the session's id
 * as soon as both are durable; every failure after that is one of a session that exists and knows its task.
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
  const lines: Commit[] = [];
  await context.store.readStrictly(session, (commit) => void lines.push(commit));
  for (const line of lines) await observer.commit(line);
  return await stayIn(context, session, { ...controlOf(request), acceptRollback: false, observer });
}

/** Rejects a task that asks for nothing: no model answers an empty message. */
export function refuseBlank(task: string): void {
  if (task.trim() === "") throw new HoldfastError("usage", "the task is empty", { hint: "Say what to do." });
}

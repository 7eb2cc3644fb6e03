import { findRun, readSession, resume as resumeSession } from "../../engine/index.ts";
import type { EngineContext, ResumeRequest } from "../../engine/index.ts";
import { isHoldfastError } from "../../model/errors.ts";
import type { OperationView } from "../../model/views.ts";
import type { Call } from "../call.ts";
import { engineOf } from "../call.ts";
import type { ControlFlags } from "../control.ts";
import { controlOf } from "../control.ts";
import type { TaskFlags } from "../task-source.ts";
import { readTask } from "../task-source.ts";
import { doWork } from "../work.ts";
import type { PolicyArguments } from "./policy.ts";
import { policyFlagsOf } from "./policy.ts";

/** The flags of `resume`. */
export interface ResumeFlags extends TaskFlags, PolicyArguments, ControlFlags {
  readonly acceptRollback?: boolean;
}

/** `holdfast resume`: goes on with a session, from what is on disk. */
export async function resume(call: Call, selector: string, flags: ResumeFlags): Promise<number> {
  const control = controlOf(call, flags);
  const request = await resumeRequestOf(call, selector, flags);
  const { task } = request;
  const context = engineOf(call);
  return await doWork(call, context, {
    session: selector,
    earlier: call.form === "text" ? await earlierOperations(context, selector) : [],
    ...(task !== undefined && { task }),
    control,
    start: (parts) => resumeSession(context, { ...request, ...parts.control }, parts.observer),
  });
}

/** What the flags ask for. */
export async function resumeRequestOf(
  call: Call,
  selector: string,
  flags: ResumeFlags,
): Promise<ResumeRequest> {
  const task = await readTask(call.outside, flags);
  const policy = policyFlagsOf(flags);
  return {
    selector,
    acceptRollback: flags.acceptRollback === true,
    ...(task !== undefined && { task }),
    ...(policy !== undefined && { policy }),
  };
}

/** What people are shown of operations that this process did not ask for. What is wrong with the session, `resume` says. */
async function earlierOperations(
  context: EngineContext,
  selector: string,
): Promise<readonly OperationView[]> {
  try {
    const read = await readSession(context, selector);
    return read.state.runs.size === 0 ? [] : findRun(read, undefined).operations;
  } catch (error) {
    if (isHoldfastError(error)) return [];
    throw error;
  }
}

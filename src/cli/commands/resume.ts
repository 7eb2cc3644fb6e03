import { findRun, readDefinition, readSession, resume as resumeSession } from "../../engine/index.ts";
import type { EngineContext } from "../../engine/index.ts";
import { HoldfastError, isHoldfastError } from "../../model/errors.ts";
import type { OperationView } from "../../model/views.ts";
import type { Call } from "../call.ts";
import { engineOf } from "../call.ts";
import type { TaskFlags } from "../task-source.ts";
import { readTask } from "../task-source.ts";
import { doWork } from "../work.ts";
import { againWith } from "./again.ts";
import { definitionFileOf } from "./definition.ts";
import type { PolicyArguments } from "./policy.ts";
import { policyOf } from "./policy.ts";

/** The flags of `resume`. */
export interface ResumeFlags extends TaskFlags, PolicyArguments {
  readonly spec?: string;
  readonly acceptPolicy?: boolean;
  readonly acceptRollback?: boolean;
}

/** `holdfast resume`: goes on with a session, from what is on disk. */
export async function resume(call: Call, selector: string, flags: ResumeFlags): Promise<number> {
  const task = await readTask(call.outside, flags);
  const context = engineOf(call);
  const { spec } = flags;
  const policy = await policyOf(call, context, flags);
  const request = {
    selector,
    ...(spec !== undefined && {
      definition: await readDefinition(context, await definitionFileOf(call, spec)),
    }),
    acceptPolicy: flags.acceptPolicy === true,
    acceptRollback: flags.acceptRollback === true,
    ...(task !== undefined && { task }),
    ...(policy !== undefined && { policy }),
  };
  return await doWork(call, context, {
    session: selector,
    earlier: call.form === "text" ? await earlierOperations(context, selector) : [],
    ...(task !== undefined && { task }),
    start: ({ observer, signal }) =>
      orAccept(call, { selector, flags }, () => resumeSession(context, { ...request, signal }, observer)),
  });
}

/** A policy that differs can be accepted: by this very command, with one flag more. */
async function orAccept<T>(
  call: Call,
  { selector, flags }: { readonly selector: string; readonly flags: ResumeFlags },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isHoldfastError(error, "policy_drift")) throw error;
    const { task, taskFile, stdin, spec, policy, allowShell, allowMcp, passEnv, acceptRollback } = flags;
    const given = { task, taskFile, stdin, spec, policy, allowShell, allowMcp, passEnv, acceptRollback };
    const command = againWith(call, ["resume", selector, "--accept-policy"], given);
    const hint = [`Accept the one that was given with: ${command}`, error.details.hint ?? ""].join("\n");
    throw new HoldfastError(error.code, error.message, { ...error.details, hint });
  }
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

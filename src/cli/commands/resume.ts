import { findRun, readDefinition, readSession, resume as resumeSession } from "../../engine/index.ts";
import type { EngineContext, ResumeRequest } from "../../engine/index.ts";
import { HoldfastError, isHoldfastError } from "../../model/errors.ts";
import type { OperationView } from "../../model/views.ts";
import type { Call } from "../call.ts";
import { engineOf } from "../call.ts";
import type { ControlFlags } from "../control.ts";
import { controlOf } from "../control.ts";
import type { TaskFlags } from "../task-source.ts";
import { readTask } from "../task-source.ts";
import { doWork } from "../work.ts";
import { againWith } from "./again.ts";
import { definitionFileOf } from "./definition.ts";
import type { PolicyArguments } from "./policy.ts";
import { policyOf } from "./policy.ts";

/** The flags of `resume`. */
export interface ResumeFlags extends TaskFlags, PolicyArguments, ControlFlags {
  readonly spec?: string;
  readonly acceptPolicy?: boolean;
  readonly acceptRollback?: boolean;
}

/** `holdfast resume`: goes on with a session, from what is on disk. */
export async function resume(call: Call, selector: string, flags: ResumeFlags): Promise<number> {
  const control = controlOf(call, flags);
  const context = engineOf(call);
  const request = await resumeRequestOf(call, context, { selector, flags });
  const { task } = request;
  return await doWork(call, context, {
    session: selector,
    earlier: call.form === "text" ? await earlierOperations(context, selector) : [],
    ...(task !== undefined && { task }),
    control,
    start: async (parts) => {
      try {
        return await resumeSession(context, { ...request, ...parts.control }, parts.observer);
      } catch (error) {
        if (!isHoldfastError(error, "policy_drift")) throw error;
        const hint = hintOfAcceptance(call, { selector, flags }, error.details.hint);
        throw new HoldfastError(error.code, error.message, { ...error.details, hint });
      }
    },
  });
}

/** A session that goes on, as the command line has it. */
export interface ResumeWords {
  readonly selector: string;
  readonly flags: ResumeFlags;
}

/** What the flags ask for. */
export async function resumeRequestOf(
  call: Call,
  context: EngineContext,
  { selector, flags }: ResumeWords,
): Promise<ResumeRequest> {
  const { spec } = flags;
  const task = await readTask(call.outside, flags);
  const policy = await policyOf(call, context, flags);
  return {
    selector,
    acceptPolicy: flags.acceptPolicy === true,
    acceptRollback: flags.acceptRollback === true,
    ...(task !== undefined && { task }),
    ...(spec !== undefined && {
      definition: await readDefinition(context, await definitionFileOf(call, spec)),
    }),
    ...(policy !== undefined && { policy }),
  };
}

/** How a policy that differs is accepted: by the very command, with one flag more. `hint`: what else can be done. */
export function hintOfAcceptance(call: Call, words: ResumeWords, hint = ""): string {
  return [`Accept the one that was given with: ${acceptingCommand(call, words)}`, hint].join("\n");
}

/** The command that accepts the policy which its flags give. */
export function acceptingCommand(call: Call, { selector, flags }: ResumeWords): string {
  const { task, taskFile, stdin, spec, policy, allowShell, allowMcp, passEnv, ...others } = flags;
  const { acceptRollback, approvals, cancelGrace } = others;
  const more = { acceptRollback, approvals, cancelGrace };
  const given = { taskFile, stdin, spec, policy, allowShell, allowMcp, passEnv, ...more };
  const words = ["resume", selector, "--accept-policy"];
  // A command in a hint is one line.
  if (task?.includes("\n") === true) return `${againWith(call, words, given)} — and the task again.`;
  return againWith(call, words, { task, ...given });
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

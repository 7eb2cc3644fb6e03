import { resolve } from "node:path";
import type { TaskRequest } from "../../engine/index.ts";
import { runTask } from "../../engine/index.ts";
import type { Call } from "../call.ts";
import { engineOf } from "../call.ts";
import type { ControlFlags } from "../control.ts";
import { controlOf } from "../control.ts";
import type { TaskFlags } from "../task-source.ts";
import { requireTask } from "../task-source.ts";
import { doWork } from "../work.ts";
import type { PolicyArguments } from "./policy.ts";
import { policyFlagsOf } from "./policy.ts";

/** The flags of `run`. */
export interface RunFlags extends TaskFlags, PolicyArguments, ControlFlags {
  readonly workspace?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly title?: string;
}

/** `holdfast run`: a new session, one task. */
export async function run(call: Call, flags: RunFlags): Promise<number> {
  const { outside } = call;
  const control = controlOf(call, flags);
  const task = await requireTask(outside, flags);
  const { workspace = ".", agent = "builtin", model, title } = flags;
  const request: TaskRequest = {
    workspace: resolve(outside.currentDirectory, workspace),
    agent,
    task,
    policy: policyFlagsOf(flags) ?? {},
    ...(model !== undefined && { model }),
    ...(title !== undefined && { title }),
  };
  const context = engineOf(call);
  return await doWork(call, context, {
    control,
    start: (parts) => runTask(context, { ...request, ...parts.control }, parts.observer, parts.begun),
  });
}

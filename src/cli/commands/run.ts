import { resolve } from "node:path";
import type { TaskRequest } from "../../engine/index.ts";
import { readDefinition, runTask } from "../../engine/index.ts";
import type { Call } from "../call.ts";
import { engineOf } from "../call.ts";
import type { ControlFlags } from "../control.ts";
import { controlOf } from "../control.ts";
import type { TaskFlags } from "../task-source.ts";
import { requireTask } from "../task-source.ts";
import { doWork } from "../work.ts";
import { definitionFileOf } from "./definition.ts";
import type { PolicyArguments } from "./policy.ts";
import { policyOf } from "./policy.ts";

/** The flags of `run`. */
export interface RunFlags extends TaskFlags, PolicyArguments, ControlFlags {
  readonly workspace?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly spec?: string;
  readonly title?: string;
}

/** `holdfast run`: a new session, one task. */
export async function run(call: Call, flags: RunFlags): Promise<number> {
  const { outside } = call;
  const control = controlOf(call, flags);
  const task = await requireTask(outside, flags);
  const { workspace = ".", agent = "builtin", model, spec, title } = flags;
  const context = engineOf(call);
  const request: TaskRequest = {
    workspace: resolve(outside.currentDirectory, workspace),
    agent,
    task,
    ...(spec !== undefined && {
      definition: await readDefinition(context, await definitionFileOf(call, spec)),
    }),
    policy: (await policyOf(call, context, flags)) ?? {},
    ...(model !== undefined && { model }),
    ...(title !== undefined && { title }),
  };
  return await doWork(call, context, {
    control,
    start: (parts) => runTask(context, { ...request, ...parts.control }, parts.observer, parts.begun),
  });
}

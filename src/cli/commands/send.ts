import type { SendReport } from "../../engine/index.ts";
import { send as sendMessage } from "../../engine/index.ts";
import type { Call } from "../call.ts";
import { engineOf, screenOf } from "../call.ts";
import type { TaskFlags } from "../task-source.ts";
import { requireTask } from "../task-source.ts";
import { whyOf, withCommands } from "../text/queue.ts";
import { answer } from "./answer.ts";
import { writeCommand, writeFields } from "./fields.ts";

/** The flags of `send`. */
export interface SendFlags extends TaskFlags {
  readonly key?: string;
}

/** `holdfast send`: leaves a message with a session, and says who will take it. */
export async function send(call: Call, selector: string, flags: SendFlags): Promise<number> {
  const text = await requireTask(call.outside, flags, "as TEXT, with --task-file FILE or --stdin");
  const { key } = flags;
  const request = { selector, text, ...(key !== undefined && { key }) };
  const report = withCommands(await sendMessage(engineOf(call), request), call.program);
  return await answer(call, report, () => {
    const screen = screenOf(call);
    const { session, delivery, next } = report;
    writeFields(screen, [
      ["delivery", delivery],
      ["session", session],
      ["state", stateWords(report)],
    ]);
    if (next !== undefined) writeCommand(screen, "next", next);
    return screen;
  });
}

function stateWords(report: SendReport): string {
  const { state, held, underWay } = report;
  switch (state) {
    case "admitted":
    case "claimed":
      return held === undefined && underWay
        ? "delivered after the run that is under way, when that completes"
        : `waits: ${whyOf(report)}`;
    case "acknowledged":
      return "delivered";
    case "removed":
      return "removed before it was delivered";
    case "blocked":
      return `blocked: ${held?.why ?? ""}`;
  }
}

import type { OperationState } from "../../../src/model/operation.ts";
import type { SessionState } from "../../../src/model/fold.ts";
import type { EngineMachine } from "./engine-machine.ts";

/** What the world shows of an effect: the witness that knows nothing of the log. */

/** A call as the model made it. */
export interface AskedEffect {
  readonly tool: string;
  /** Absent where they are too long to stand in the message. */
  readonly args: Readonly<Record<string, unknown>> | undefined;
}

/** What an operation was to do; by the call in the model's message. */
export function effectOf(state: SessionState, operation: OperationState): AskedEffect {
  for (const { message } of state.messages) {
    for (const part of message.parts) {
      if (part.type !== "tool_call" || part.operation !== operation.origin) continue;
      return { tool: operation.tool, args: part.args as AskedEffect["args"] };
    }
  }
  throw new Error(`no call asked for ${operation.operation}`);
}

/**
 * How often the world shows it: each `write` makes content of its own, each `edit` adds its last character, which
 * nothing else does, each `delete` removes another file. Undefined for what leaves no trace.
 */
export function timesOf(machine: EngineMachine, { tool, args }: AskedEffect): number | undefined {
  if (args === undefined) return undefined;
  const path = `/project/${String(args["path"])}`;
  switch (tool) {
    case "write":
      return machine.text(path) === args["content"] ? 1 : 0;
    case "edit":
      return (machine.text(path)?.split(String(args["new"]).slice(-1)).length ?? 1) - 1;
    case "delete":
      return machine.text(path) === undefined ? 1 : 0;
    default:
      return undefined;
  }
}

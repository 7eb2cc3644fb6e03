import type { OperationState } from "../../../src/model/operation.ts";
import type { SessionState } from "../../../src/model/fold.ts";
import { Finding } from "./finding.ts";

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
  throw new Finding("lost", `no call asked for ${operation.operation}`);
}

/** The content of a file of the workspace; undefined where there is none. */
export type TextOf = (path: string) => string | undefined;

/**
 * How often the world shows it: each `write` makes content of its own, each `edit` adds its last character, which
 * nothing else does, each `delete` removes another file. Undefined for what leaves no trace.
 */
export function timesOf(textOf: TextOf, { tool, args }: AskedEffect): number | undefined {
  if (args === undefined) return undefined;
  const text = textOf(String(args["path"]));
  switch (tool) {
    case "write":
      return text === args["content"] ? 1 : 0;
    case "edit":
      return (text?.split(String(args["new"]).slice(-1)).length ?? 1) - 1;
    case "delete":
      return text === undefined ? 1 : 0;
    default:
      return undefined;
  }
}

import type { Json, Outcome } from "../../model/values.ts";
import type { Span, Tone } from "../screen.ts";
import { oneLine } from "../text/clean.ts";
import { fitEnd, padEnd, widthOf } from "../text/width.ts";

/** One tool call as one line: a mark, the tool, what it was asked for, and how long it took. */

/** How a call stands. */
export type CallState = Outcome | "unknown";

const marks: Record<CallState, readonly [Tone, string]> = {
  ok: ["good", "✓"],
  error: ["bad", "✗"],
  denied: ["warn", "⊘"],
  canceled: ["warn", "■"],
  not_executed: ["dim", "–"],
  unknown: ["warn", "?"],
};

const toolColumns = 6;
const lineColumnsMax = 100;
const nameColumnsMax = 24;

/** The mark of a state. */
export function markOf(state: CallState): Span {
  return marks[state];
}

/** The members that say most of what a call wants, the first one there is taken. */
const telling = ["command", "pattern", "path", "url", "query"] as const;

/** What a call was asked for, in a few words of one line. */
export function summariseArgs(args: Json | undefined): string {
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    return args === undefined || args === null ? "" : oneLine(JSON.stringify(args));
  }
  for (const name of telling) {
    const value = args[name];
    if (typeof value !== "string") continue;
    const where = name === "pattern" && typeof args["path"] === "string" ? ` in ${args["path"]}` : "";
    return oneLine((value + where).trim().replaceAll(/\s*\n\s*/g, " ⏎ "));
  }
  return Object.keys(args).length === 0 ? "" : oneLine(JSON.stringify(args));
}

/** The line of a call. In a terminal the time stands at the right; elsewhere behind the words. */
export function toolLine(
  call: { readonly mark: Span; readonly tool: string; readonly summary: string; readonly time: string },
  screen: { readonly isTerminal: boolean; readonly columns: number },
): Span[] {
  const tool = padEnd(fitEnd(oneLine(call.tool), nameColumnsMax), toolColumns);
  const time = call.time === "" ? "" : `  ${call.time}`;
  const columns = Math.min(screen.columns - 1, lineColumnsMax);
  const room = columns - 2 - widthOf(tool) - 1 - widthOf(time);
  const summary = fitEnd(call.summary, Math.max(8, room));
  if (!screen.isTerminal) return [call.mark, ` ${tool} ${summary}`, ["dim", time]];
  const filled = time === "" ? summary : padEnd(summary, room);
  return [call.mark, " ", ["bold", tool], ` ${filled}`, ["dim", time]];
}

import type { OperationView, RunView } from "../../model/views.ts";
import { markOf, summariseArgs } from "../progress/tool-line.ts";
import type { Span } from "../screen.ts";
import { oneLine } from "./clean.ts";
import { survivorLines } from "./evidence.ts";
import { resolveCommands } from "./resolve-commands.ts";
import { formatTime } from "./units.ts";
import { wrapText } from "./wrap.ts";

/** The lines about operations whose outcome is unknown: what, since when, why, and the commands that resolve them. */
export function unknownLines(
  run: RunView,
  options: { readonly program: string; readonly columns: number },
): (readonly Span[])[] {
  return run.operations
    .filter((one) => one.state === "unknown")
    .flatMap((one) => aboutUnknown(run, one, options));
}

function aboutUnknown(
  run: RunView,
  operation: OperationView,
  { program, columns }: { readonly program: string; readonly columns: number },
): (readonly Span[])[] {
  const { id, tool, args, startedAt, reason } = operation;
  const commands = resolveCommands(program, { session: run.session, run: run.run, id });
  const since = startedAt === undefined ? "" : `, started ${formatTime(startedAt)}`;
  const survivors = survivorNotes(operation, columns);
  const not =
    survivors.length === 0 ? "If it did not happen:" : "If it did not happen, once nothing of it runs:";
  const answers = [
    ["Look for yourself. If it happened, say so:", commands.happened],
    ["If it happened and failed:", commands.failed],
    [not, commands.not],
  ] as const;
  return [
    [],
    [markOf("unknown"), ` it is not known whether this happened${since}:`],
    ...indented(["bold", oneLine(tool)], ` ${summariseArgs(args)}`, columns),
    ...survivors,
    ...(reason === undefined ? [] : indented("", ["dim", `why: ${oneLine(reason)}`], columns)),
    ...(mayStillBeSaid(run)
      ? answers.flatMap(([words, lines]) => [[`  ${words}`], ...lines.map((text) => [`    ${text}`])])
      : [["  The run is over, so nobody needs to say what happened."]]),
    [],
  ];
}

/** A run that is over, as one that was given up, keeps its doubts as they are. */
function mayStillBeSaid({ status }: RunView): boolean {
  return status !== "completed" && status !== "failed" && status !== "canceled";
}

/** What still runs comes before everything else: what it does may yet happen. */
function survivorNotes(operation: OperationView, columns: number): (readonly Span[])[] {
  const { evidence, unknownAt } = operation;
  const lines = survivorLines(evidence);
  if (lines.length === 0) return [];
  const when = unknownAt === undefined ? "" : ` at ${formatTime(unknownAt)}`;
  return [
    ...indented(["bad", "STILL RUNNING"], `${when}, when it was looked for:`, columns),
    ...lines.flatMap((line) => indented("  ", line, columns)),
    ...indented("", "Wait until it has ended, or end it, before you say what happened.", columns),
  ];
}

/** Broken between words and never cut: a person is to judge by it. */
function indented(head: Span, text: Span, columns: number): (readonly Span[])[] {
  const indent = "    ";
  const [tone, words] = typeof text === "string" ? (["plain", text] as const) : text;
  const first = typeof head === "string" ? head : head[1];
  const lines = wrapText(first + words, columns - indent.length);
  return lines.map((line, index): readonly Span[] =>
    index === 0 ? [indent, head, [tone, line.slice(first.length)]] : [indent, [tone, line]],
  );
}

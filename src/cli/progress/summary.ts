import type { OperationView, RunStatus, RunView } from "../../model/views.ts";
import type { Span, Tone } from "../screen.ts";
import { oneLine } from "../text/clean.ts";
import { formatCount, formatDuration, formatTime, formatUsage } from "../text/units.ts";
import { resolveCommands } from "./resolve-commands.ts";
import { markOf, summariseArgs } from "./tool-line.ts";

/** What is said of a run when the work on it is over, and which command goes on from here. */

const tones: Record<RunStatus, Tone> = {
  queued: "dim",
  running: "accent",
  interrupted: "warn",
  suspended: "warn",
  input_required: "warn",
  completed: "good",
  failed: "bad",
  canceled: "warn",
};

/** How a status is called. */
export function nameOfStatus(status: RunStatus): string {
  return status === "input_required" ? "input required" : status;
}

/** The status in its colour. */
export function statusSpan(status: RunStatus): Span {
  return [tones[status], nameOfStatus(status)];
}

/** The lines of the summary. `tookMs`: how long this process worked on it. */
export function summaryLines(
  run: RunView,
  options: { readonly program: string; readonly tookMs: number },
): (readonly Span[])[] {
  const { program, tookMs } = options;
  const { status, turns, operations, usage, session, error } = run;
  const failed = operations.filter((operation) => operation.outcome === "error").length;
  const tools = formatCount(operations.length, "tool call") + (failed === 0 ? "" : ` (${failed} failed)`);
  const counts = [formatCount(turns, "turn"), tools, formatDuration(tookMs)].join(" · ");
  const why = status === "completed" || error === undefined ? [] : [label("why", error)];
  return [
    [statusSpan(status), ["dim", `  ${counts}`]],
    ...why,
    ...(usage.input === undefined && usage.output === undefined ? [] : [label("tokens", formatUsage(usage))]),
    label("session", session),
    ...unknownLines(run, program),
    label(status === "input_required" ? "then" : "next", nextCommand(run, program)),
  ];
}

/** The lines about operations whose outcome is unknown: what, since when, why, and the commands that resolve them. */
export function unknownLines(run: RunView, program: string): (readonly Span[])[] {
  return run.operations
    .filter((one) => one.state === "unknown")
    .flatMap((one) => aboutUnknown(run, one, program));
}

function aboutUnknown(run: RunView, operation: OperationView, program: string): (readonly Span[])[] {
  const { id, tool, args, startedAt, reason } = operation;
  const commands = resolveCommands(program, { session: run.session, run: run.run, id });
  const since = startedAt === undefined ? "" : `, started ${formatTime(startedAt)}`;
  return [
    [],
    [markOf("unknown"), ` it is not known whether this happened${since}:`],
    ["    ", ["bold", oneLine(tool)], ` ${summariseArgs(args)}`],
    ...(reason === undefined ? [] : [["    ", ["dim", `why: ${oneLine(reason)}`]] as const]),
    ["  Look for yourself. If it happened, say so:"],
    ...commands.happened.map((text) => [`    ${text}`]),
    ["  If it did not:"],
    ...commands.not.map((text) => [`    ${text}`]),
    [],
  ];
}

function nextCommand(run: RunView, program: string): string {
  switch (run.status) {
    case "completed":
    case "failed":
    case "canceled":
      return `${program} resume ${run.session} --task "…"`;
    default:
      return `${program} resume ${run.session}`;
  }
}

function label(name: string, text: string): readonly Span[] {
  return [["dim", `${name.padEnd(11)}`], oneLine(text)];
}

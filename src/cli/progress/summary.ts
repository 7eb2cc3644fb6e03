import type { QueueOutlook } from "../../model/queue-hold.ts";
import type { RunStatus, RunView } from "../../model/views.ts";
import type { Span, Tone } from "../screen.ts";
import { approvalLines } from "../text/approval.ts";
import { oneLine } from "../text/clean.ts";
import { label, labelColumns } from "../text/label.ts";
import { queueWords } from "../text/queue.ts";
import { formatCount, formatDuration, formatUsage } from "../text/units.ts";
import { unknownLines } from "../text/unknown.ts";
import { hasUnknown, wayOnOf } from "../text/way-on.ts";
import { wrapText } from "../text/wrap.ts";

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
  options: {
    readonly program: string;
    readonly tookMs: number;
    readonly columns: number;
    readonly queue?: QueueOutlook | undefined;
  },
): (readonly Span[])[] {
  const { program, tookMs, columns, queue } = options;
  const { status, turns, operations, usage, session, error } = run;
  const failed = operations.filter((operation) => operation.outcome === "error").length;
  const tools = formatCount(operations.length, "tool call") + (failed === 0 ? "" : ` (${failed} failed)`);
  const counts = [formatCount(turns, "turn"), tools, formatDuration(tookMs)].join(" · ");
  const why = status === "completed" || error === undefined ? [] : wrappedLabel("why", error, columns);
  return [
    [statusSpan(status), ["dim", `  ${counts}`]],
    ...why,
    ...(usage.input === undefined && usage.output === undefined
      ? []
      : [labelled("tokens", formatUsage(usage))]),
    labelled("session", session),
    ...(queue === undefined ? [] : queueLines(queue, columns)),
    ...approvalLines(run, { program, columns }),
    ...unknownLines(run, { program, columns }),
    ...nextLines(run, { program, columns, waiting: queue !== undefined && queue.waiting > 0 }),
  ];
}

/** The messages that are still to be said, and why they are not; no line where there are none. */
export function queueLines(queue: QueueOutlook, columns: number): (readonly Span[])[] {
  const words = queueWords(queue);
  return words === undefined ? [] : wrappedLabel("queue", words, columns);
}

/** What goes on from here; where a person is to answer first, what goes on after that. */
function nextLines(
  run: RunView,
  place: { readonly program: string; readonly columns: number; readonly waiting: boolean },
): (readonly Span[])[] {
  const { program, columns, waiting } = place;
  if (hasUnknown(run)) return [labelled("then", `${program} resume ${run.session}`)];
  const way = wayOnOf(run, { program, waiting });
  if (way?.command !== undefined) return [labelled("next", way.command)];
  return way === undefined ? [] : wrappedLabel("next", way.words, columns);
}

function wrappedLabel(name: string, text: string, columns: number): (readonly Span[])[] {
  return wrapText(oneLine(text), columns - labelColumns).map((line, index) =>
    labelled(index === 0 ? name : "", line),
  );
}

function labelled(name: string, text: string): readonly Span[] {
  return [label(name), oneLine(text)];
}

import type { EngineContext, ReadSession } from "../../engine/index.ts";
import { findRun, matches, readSession } from "../../engine/index.ts";
import { HoldfastError } from "../../model/errors.ts";
import { newestRun } from "../../model/fold.ts";
import type { BlobRef } from "../../model/values.ts";
import type { OperationView, RunView } from "../../model/views.ts";
import type { Call } from "../call.ts";
import { engineOf, screenOf } from "../call.ts";
import { statusSpan } from "../progress/summary.ts";
import type { Screen } from "../screen.ts";
import { approvalLines } from "../text/approval.ts";
import { oneLine } from "../text/clean.ts";
import { formatDuration, formatTime, formatUsage } from "../text/units.ts";
import { unknownLines } from "../text/unknown.ts";
import { hasUnknown, wayOnLines } from "../text/way-on.ts";
import { answer } from "./answer.ts";
import { writeFields, writeIndented } from "./fields.ts";
import { readPayloads } from "./payloads.ts";
import { writeOperation, writeOperationTable } from "./show-operations.ts";

/** What `run show` shows: the newest run where none is named, all its operations where none is. */
export interface RunSelection {
  readonly session: string;
  readonly run?: string | undefined;
  readonly operation?: string | undefined;
  /** True where nothing is to be cut. */
  readonly full: boolean;
}

/** `holdfast run show`: one run with its operations, and what a person must know to resolve those that are unknown. */
export async function runShow(call: Call, selection: RunSelection): Promise<number> {
  const context = engineOf(call);
  const read = await readSession(context, selection.session);
  const named = selectOperation(findRun(read, selection.run), selection.operation);
  const full = selection.full || selection.operation !== undefined;
  return await answer(call, named, async () => {
    const view = await withPayloads(context, read, named);
    const screen = screenOf(call);
    const { columns } = screen;
    if (selection.operation === undefined) {
      writeRun(screen, view, { damage: read.damage, full });
      if (view.operations.length > 0) {
        screen.line();
        writeOperationTable(screen, view.operations);
      }
    }
    const where = { program: call.program, columns };
    for (const line of [...approvalLines(view, where), ...unknownLines(view, where)]) screen.line(...line);
    for (const operation of view.operations) writeOperation(screen, operation, { full });
    if (selection.operation === undefined && isNewest(read, view) && !hasUnknown(view)) {
      const damaged = read.damage === undefined ? undefined : ("log" as const);
      const place = { active: read.active, damaged, columns };
      for (const line of wayOnLines(view, { program: call.program, ...place })) screen.line(...line);
    }
    return screen;
  });
}

/** The run with the one operation that is named. Throws `not_found` or `ambiguous`. */
function selectOperation(view: RunView, selector: string | undefined): RunView {
  if (selector === undefined) return view;
  const operations = view.operations.filter(({ id }) => matches(id, selector));
  if (operations.length === 1) return { ...view, operations };
  if (operations.length > 1) {
    throw new HoldfastError("ambiguous", `${selector} fits ${operations.length} operations of ${view.run}`, {
      candidates: operations.map(({ id }) => id),
    });
  }
  throw new HoldfastError(
    "not_found",
    `${view.run} of session ${view.session} has no operation ${selector}`,
    {
      hint: `See which there are with: holdfast run show ${view.session} ${view.run}`,
    },
  );
}

/** The view with the texts in it that it names as blobs, as far as a page for people shows them. */
async function withPayloads(context: EngineContext, read: ReadSession, view: RunView): Promise<RunView> {
  const args = new Map<string, BlobRef>();
  for (const part of read.state.messages.flatMap(({ message }) => message.parts)) {
    if (part.type === "tool_call" && part.argsBlob !== undefined) args.set(part.operation, part.argsBlob);
  }
  const { taskBlob } = view;
  const outputs = view.operations.map(({ outputBlob }) => outputBlob);
  const payloads = await readPayloads(context, view.session, [taskBlob, ...args.values(), ...outputs]);
  const operations = view.operations.map((operation): OperationView => {
    const blob = args.get(operation.id);
    const shown = blob === undefined ? undefined : payloads.value(blob);
    const { outputBlob } = operation;
    return {
      ...operation,
      ...(shown !== undefined && { args: shown }),
      ...(outputBlob !== undefined && { output: payloads.text(outputBlob) }),
    };
  });
  return { ...view, ...(taskBlob !== undefined && { task: payloads.text(taskBlob) }), operations };
}

/** Only the newest run says how its session goes on. */
function isNewest(read: ReadSession, view: RunView): boolean {
  return newestRun(read.state)?.run === view.run;
}

function writeRun(
  screen: Screen,
  view: RunView,
  { damage, full }: { readonly damage: ReadSession["damage"]; readonly full: boolean },
): void {
  const { createdAt, endedAt, error, text, task } = view;
  const rowsMax = full ? Number.POSITIVE_INFINITY : taskRowsMax;
  screen.line(["bold", view.run], ["dim", `  of ${view.session}`]);
  writeFields(screen, [
    ["status", statusSpan(view.status)],
    ["attempts", String(view.attempts)],
    ["started", formatTime(createdAt)],
    ...(endedAt === undefined
      ? []
      : [["ended", `${formatTime(endedAt)}, after ${formatDuration(endedAt - createdAt)}`] as const]),
    ["turns", String(view.turns)],
    ["tokens", formatUsage(view.usage)],
    ...(error === undefined ? [] : [["why", oneLine(error)] as const]),
    ...(damage === undefined ? [] : [["damaged", ["bad", damageWords(damage)]] as const]),
  ]);
  if (task !== undefined) {
    screen.line(["dim", "  task:"]);
    writeIndented(screen, task, { rowsMax, rest: "all of it with --full" });
  }
  if (text === undefined || text === "") return;
  screen.line(["dim", "  answer:"]);
  writeIndented(screen, text, { rowsMax: full ? rowsMax : answerRowsMax, rest: "all of it with --full" });
}

const taskRowsMax = 10;
const answerRowsMax = 40;

function damageWords({ line, offset, reason }: NonNullable<ReadSession["damage"]>): string {
  return oneLine(`line ${line}, byte ${offset}: ${reason}; the run is shown as far as the log is intact`);
}

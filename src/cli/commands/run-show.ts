import type { EngineContext, ReadSession } from "../../engine/index.ts";
import { findRun, readSession } from "../../engine/index.ts";
import { newestRun } from "../../model/fold.ts";
import type { BlobRef } from "../../model/values.ts";
import type { OperationView, RunView } from "../../model/views.ts";
import type { Call } from "../call.ts";
import { engineOf, screenOf } from "../call.ts";
import { statusSpan } from "../progress/summary.ts";
import type { CallState } from "../progress/tool-line.ts";
import { markOf, summariseArgs } from "../progress/tool-line.ts";
import type { Screen } from "../screen.ts";
import type { Cell } from "../table.ts";
import { writeTable } from "../table.ts";
import { oneLine } from "../text/clean.ts";
import { evidenceSentences } from "../text/evidence.ts";
import { treeLines } from "../text/tree.ts";
import { unknownLines } from "../text/unknown.ts";
import { formatDuration, formatTime, formatUsage } from "../text/units.ts";
import { hasUnknown, wayOnLines } from "../text/way-on.ts";
import { answer } from "./answer.ts";
import { readPayloads } from "./payloads.ts";
import { writeFields, writeIndented } from "./fields.ts";

/** `holdfast run show`: one run with its operations, and what a person must know to resolve those that are unknown. */
export async function runShow(call: Call, selector: string, run: string | undefined): Promise<number> {
  const context = engineOf(call);
  const read = await readSession(context, selector);
  const named = findRun(read, run);
  return await answer(call, named, async () => {
    const view = await withPayloads(context, read, named);
    const screen = screenOf(call);
    writeRun(screen, view, read.damage);
    if (view.operations.length > 0) writeOperations(screen, view);
    for (const line of unknownLines(view, { program: call.program, columns: screen.columns }))
      screen.line(...line);
    writeEvidence(screen, view);
    if (isNewest(read, view) && !hasUnknown(view)) {
      const place = { active: read.active, damaged: read.damage !== undefined, columns: screen.columns };
      for (const line of wayOnLines(view, { program: call.program, ...place })) screen.line(...line);
    }
    return screen;
  });
}

/** The view with the texts in it that it names as blobs, as far as a page for people shows them. */
async function withPayloads(context: EngineContext, read: ReadSession, view: RunView): Promise<RunView> {
  const args = new Map<string, BlobRef>();
  for (const part of read.state.messages.flatMap(({ message }) => message.parts)) {
    if (part.type === "tool_call" && part.argsBlob !== undefined) args.set(part.operation, part.argsBlob);
  }
  const outputs = view.operations.filter(({ resolution }) => resolution !== undefined);
  const blobs = [...args.values(), ...outputs.map(({ outputBlob }) => outputBlob)];
  const payloads = await readPayloads(context, view.session, blobs);
  const operations = view.operations.map((operation): OperationView => {
    const blob = args.get(operation.id);
    const shown = blob === undefined ? undefined : payloads.value(blob);
    const { resolution, outputBlob } = operation;
    const isShown = resolution !== undefined && outputBlob !== undefined;
    return {
      ...operation,
      ...(shown !== undefined && { args: shown }),
      ...(isShown && { output: payloads.text(outputBlob) }),
    };
  });
  return { ...view, operations };
}

/** Only the newest run says how its session goes on. */
function isNewest(read: ReadSession, view: RunView): boolean {
  return newestRun(read.state)?.run === view.run;
}

function writeRun(screen: Screen, view: RunView, damage: ReadSession["damage"]): void {
  const { createdAt, endedAt, error, text } = view;
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
  if (text === undefined || text === "") return;
  screen.line();
  writeIndented(screen, text);
}

function damageWords({ line, offset, reason }: NonNullable<ReadSession["damage"]>): string {
  return oneLine(`line ${line}, byte ${offset}: ${reason}; the run is shown as far as the log is intact`);
}

function writeOperations(screen: Screen, view: RunView): void {
  screen.line();
  const columns = [
    { title: "" },
    { title: "OPERATION" },
    { title: "TOOL" },
    { title: "ENDED" },
    { title: "TOOK" },
    { title: "ASKED FOR", widthMin: 10 },
  ];
  writeTable(screen, { columns, rows: view.operations.map((one) => rowOf(one)), shrinkOrder: [5] });
}

function rowOf(operation: OperationView): Cell[] {
  const { id, tool, state, outcome, startedAt, endedAt, resolution } = operation;
  const shown: CallState | undefined = state === "unknown" ? "unknown" : outcome;
  const mark = shown === undefined ? "" : markOf(shown);
  const took = startedAt === undefined || endedAt === undefined ? "" : formatDuration(endedAt - startedAt);
  const ended = outcome === undefined ? state : outcome + (resolution === undefined ? "" : " (resolved)");
  return [
    typeof mark === "string" ? { text: mark } : { tone: mark[0], text: mark[1] },
    { text: id },
    { text: oneLine(tool) },
    { text: ended.replace("_", " ") },
    { text: took },
    { text: summariseArgs(operation.args) },
  ];
}

/** All that was found about what cannot be known, and what people said about what could not be. */
function writeEvidence(screen: Screen, view: RunView): void {
  for (const operation of view.operations) {
    const { id, state, evidence, unknownAt, resolution, output = "" } = operation;
    if (state === "unknown" && evidence !== undefined) {
      screen.line();
      screen.line(`What was found of ${id}:`);
      const sentences = evidenceSentences(evidence, unknownAt);
      if (sentences.length > 0) writeIndented(screen, sentences.join("\n"), "  ");
      screen.line(["dim", "  in detail:"]);
      writeIndented(screen, treeLines(evidence).join("\n"));
    }
    if (resolution === undefined) continue;
    const why = resolution.evidence === undefined ? "" : `: ${oneLine(resolution.evidence)}`;
    screen.line();
    screen.line(`${id} was resolved by ${oneLine(resolution.by)} at ${formatTime(resolution.at)}${why}`);
    if (output !== "") writeIndented(screen, output);
  }
}

import type { MessageView, SessionView } from "../../engine/index.ts";
import { findRun, readSession, viewSession } from "../../engine/index.ts";
import type { Part } from "../../model/facts.ts";
import type { BlobRef } from "../../model/values.ts";
import type { Call } from "../call.ts";
import { engineOf, screenOf } from "../call.ts";
import { markOf, summariseArgs } from "../progress/tool-line.ts";
import type { Screen, Span, Tone } from "../screen.ts";
import { oneLine } from "../text/clean.ts";
import { wayOnLines } from "../text/way-on.ts";
import { fitEnd, widthOf } from "../text/width.ts";
import { formatAge, formatBytes, formatCount, formatTime } from "../text/units.ts";
import { answer } from "./answer.ts";
import type { Payloads } from "./payloads.ts";
import { readPayloads } from "./payloads.ts";
import { writeFields, writeIndented } from "./fields.ts";
import { writeRuns } from "./show-runs.ts";

/** `holdfast session show`: what a session is, its runs and how its conversation ends. */
export async function sessionShow(call: Call, selector: string): Promise<number> {
  const context = engineOf(call);
  const read = await readSession(context, selector);
  const view = viewSession(read);
  return await answer(call, view, async () => {
    const screen = screenOf(call);
    const now = call.outside.host.clock.now();
    const missing = await missingWorkspace(call, view.workspace);
    writeHeader(screen, view, { now, missing });
    if (view.runs.length > 0) {
      screen.line();
      writeRuns(screen, view.runs.slice(0, runsMax), now);
      if (view.runs.length > runsMax) screen.line(["dim", `shown ${runsMax} of ${view.runs.length}`]);
    }
    const shown = view.messages.slice(-messagesMax);
    const blobs = shown.flatMap(({ parts }) => parts.map((part) => blobOf(part as Part)));
    const payloads = await readPayloads(context, view.id, blobs);
    writeMessages(screen, shown, { payloads, count: view.messages.length });
    if (view.runs.length > 0) {
      const { active, damaged } = view;
      const { columns } = screen;
      const place = { program: call.program, active, damaged: damaged !== undefined, missing, columns };
      for (const line of wayOnLines(findRun(read, undefined), place)) screen.line(...line);
    }
    return screen;
  });
}

const runsMax = 10;
const messagesMax = 8;

/** The path of the workspace, where it is not there. */
async function missingWorkspace(call: Call, path: string): Promise<string | undefined> {
  const found = await call.outside.host.disk.stat(path);
  return found?.kind === "directory" ? undefined : path;
}

function writeHeader(
  screen: Screen,
  view: SessionView,
  { now, missing }: { readonly now: number; readonly missing: string | undefined },
): void {
  const { id, title, agent, model, binding, createdAt, updatedAt, damaged, parent } = view;
  screen.line(["bold", fitEnd(oneLine(title), screen.columns) || "(no title)"]);
  const branch = binding.branch === undefined ? "" : ` (branch ${binding.branch})`;
  const states = [
    view.active ? "active" : "not active",
    ...(view.archived ? ["archived"] : []),
    ...(view.pinned ? ["pinned"] : []),
  ];
  const fields: [string, Span][] = [
    ["id", id],
    ["agent", oneLine(model === undefined ? agent : `${agent} · ${model}`)],
    ["workspace", oneLine(view.workspace + branch)],
    ["created", formatTime(createdAt)],
    ["updated", `${formatTime(updatedAt)}, ${formatAge(updatedAt, now)}`],
    ["state", states.join(", ")],
  ];
  if (missing !== undefined) fields.splice(3, 0, ["", ["bad", "the workspace is not there"]]);
  if (parent !== undefined) fields.push(["parent", parent]);
  if (damaged !== undefined) fields.push(["damaged", ["bad", oneLine(damaged)]]);
  writeFields(screen, fields);
}

/** What of a part stands beside the log and is text. */
function blobOf(part: Part): BlobRef | undefined {
  if (part.type === "tool_call") return part.argsBlob;
  if (part.type === "tool_result") return part.outputBlob;
  return part.type === "image" ? undefined : part.blob;
}

function writeMessages(
  screen: Screen,
  shown: readonly MessageView[],
  { payloads, count }: { readonly payloads: Payloads; readonly count: number },
): void {
  screen.line();
  if (count > shown.length) {
    screen.line(["dim", `the last ${shown.length} of ${formatCount(count, "message")}`]);
  }
  for (const message of shown) {
    screen.line([toneOf(message.role), message.role], ["dim", `  ${formatTime(message.at)}  ${message.id}`]);
    for (const part of message.parts) writePart(screen, part as Part, payloads);
  }
}

function toneOf(role: string): Tone {
  return role === "user" ? "accent" : "bold";
}

function writePart(screen: Screen, part: Part, payloads: Payloads): void {
  const textOf = (blob: BlobRef | undefined) => (blob === undefined ? "" : payloads.text(blob));
  switch (part.type) {
    case "tool_call":
      writeCall(screen, part, payloads);
      return;
    case "tool_result":
      screen.line("  ", markOf(part.outcome), ["dim", `  ${part.operation}`]);
      writeIndented(screen, part.output ?? textOf(part.outputBlob));
      return;
    case "image":
      screen.line(["dim", `  (a picture, ${oneLine(part.mediaType)}, ${formatBytes(part.blob.bytes)})`]);
      return;
    case "text":
      writeIndented(screen, part.text ?? textOf(part.blob), "  ");
      return;
    default:
      writeOther(screen, part.type, oneLine(part.text ?? textOf(part.blob)));
  }
}

function writeCall(screen: Screen, part: Extract<Part, { type: "tool_call" }>, payloads: Payloads): void {
  const args = part.args ?? (part.argsBlob === undefined ? undefined : payloads.value(part.argsBlob));
  const operation = `  ${part.operation}`;
  const words = `  → ${oneLine(part.tool)} ${summariseArgs(args)}`;
  screen.line(fitEnd(words, screen.columns - widthOf(operation)), ["dim", operation]);
}

function writeOther(screen: Screen, type: string, text: string): void {
  screen.line(["dim", fitEnd(`  (${type}) ${text}`, screen.columns)]);
}

import type { MessageView, SessionView } from "../../engine/index.ts";
import { readSession, viewSession } from "../../engine/index.ts";
import type { Part } from "../../model/facts.ts";
import type { Call } from "../call.ts";
import { engineOf, screenOf } from "../call.ts";
import { markOf, summariseArgs } from "../progress/tool-line.ts";
import type { Screen, Span, Tone } from "../screen.ts";
import { oneLine } from "../text/clean.ts";
import { formatAge, formatBytes, formatCount, formatTime } from "../text/units.ts";
import { answer } from "./answer.ts";
import { writeFields, writeIndented } from "./fields.ts";
import { writeRuns } from "./show-runs.ts";

/** `holdfast session show`: what a session is, its runs and how its conversation ends. */
export async function sessionShow(call: Call, selector: string): Promise<number> {
  const view = viewSession(await readSession(engineOf(call), selector));
  return await answer(call, view, () => {
    const screen = screenOf(call);
    const now = call.outside.host.clock.now();
    writeHeader(screen, view, now);
    if (view.runs.length > 0) {
      screen.line();
      writeRuns(screen, view.runs.slice(0, runsMax), now);
      if (view.runs.length > runsMax) screen.line(["dim", `shown ${runsMax} of ${view.runs.length}`]);
    }
    writeMessages(screen, view.messages);
    writeNext(screen, call, view);
    return screen;
  });
}

const runsMax = 10;
const messagesMax = 8;

/** What can be done about a run that is not over. */
function writeNext(screen: Screen, call: Call, { id, runs, active }: SessionView): void {
  const status = runs[0]?.status;
  if (active || status === undefined) return;
  const words = ["interrupted", "suspended", "queued"].includes(status)
    ? `resume ${id}`
    : status === "input_required"
      ? `run show ${id}`
      : undefined;
  if (words === undefined) return;
  screen.line();
  screen.line(["dim", "next  "], `${call.program} ${words}`);
}

function writeHeader(screen: Screen, view: SessionView, now: number): void {
  const { id, title, agent, model, binding, createdAt, updatedAt, damaged, parent } = view;
  screen.line(["bold", oneLine(title) || "(no title)"]);
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
  if (parent !== undefined) fields.push(["parent", parent]);
  if (damaged !== undefined) fields.push(["damaged", ["bad", oneLine(damaged)]]);
  writeFields(screen, fields);
}

function writeMessages(screen: Screen, messages: readonly MessageView[]): void {
  const shown = messages.slice(-messagesMax);
  screen.line();
  if (messages.length > shown.length) {
    screen.line(["dim", `the last ${shown.length} of ${formatCount(messages.length, "message")}`]);
  }
  for (const message of shown) {
    screen.line([toneOf(message.role), message.role], ["dim", `  ${formatTime(message.at)}  ${message.id}`]);
    for (const part of message.parts) writePart(screen, part as Part);
  }
}

function toneOf(role: string): Tone {
  return role === "user" ? "accent" : "bold";
}

function writePart(screen: Screen, part: Part): void {
  switch (part.type) {
    case "tool_call":
      screen.line(`  → ${oneLine(part.tool)} ${summariseArgs(part.args)}`, ["dim", `  ${part.operation}`]);
      return;
    case "tool_result":
      screen.line("  ", markOf(part.outcome), ["dim", `  ${part.operation}`]);
      writeIndented(screen, part.output ?? sizeOf(part.outputBlob));
      return;
    case "image":
      screen.line(["dim", `  (a picture, ${oneLine(part.mediaType)}, ${formatBytes(part.blob.bytes)})`]);
      return;
    case "text":
      writeIndented(screen, part.text ?? sizeOf(part.blob), "  ");
      return;
    default:
      screen.line(["dim", `  (${part.type}) `], ["dim", oneLine(part.text ?? sizeOf(part.blob))]);
  }
}

function sizeOf(blob: { readonly bytes: number } | undefined): string {
  return blob === undefined ? "" : `(${formatBytes(blob.bytes)} of text)`;
}

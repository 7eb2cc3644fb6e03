import type { MessageView, ReadSession, SessionView } from "../../engine/index.ts";
import { findRun, readOutlook, readSession, viewSession } from "../../engine/index.ts";
import { defaultDefinition } from "../../model/default-definition.ts";
import { HoldfastError } from "../../model/errors.ts";
import type { Part } from "../../model/facts.ts";
import type { QueueOutlook } from "../../model/queue-hold.ts";
import type { BlobRef } from "../../model/values.ts";
import type { Call } from "../call.ts";
import { engineOf, screenOf } from "../call.ts";
import { markOf, summariseArgs } from "../progress/tool-line.ts";
import type { Screen, Span, Tone } from "../screen.ts";
import { waitsForApproval } from "../text/approval.ts";
import { oneLine } from "../text/clean.ts";
import { policyWords } from "../text/policy.ts";
import { queueWords, withCommands } from "../text/queue.ts";
import { wayOnLines } from "../text/way-on.ts";
import { fitEnd } from "../text/width.ts";
import { formatAge, formatBytes, formatCount, formatTime } from "../text/units.ts";
import { answer } from "./answer.ts";
import type { Payloads } from "./payloads.ts";
import { readPayloads } from "./payloads.ts";
import { writeFields, writeIndented } from "./fields.ts";
import { writeRuns } from "./show-runs.ts";

/** The flags of `session show`. */
export interface SessionShowFlags {
  /** How many of the last messages are shown to people. */
  readonly messages?: string;
}

/** `holdfast session show`: what a session is, its runs and how its conversation ends. */
export async function sessionShow(call: Call, selector: string, flags: SessionShowFlags): Promise<number> {
  const count = flags.messages === undefined ? messagesDefault : parseCount(flags.messages);
  const context = engineOf(call);
  const read = await readSession(context, selector);
  const queue = withCommands(await readOutlook(context, read), call.program);
  const view = viewSession(read, queue);
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
    const shown = count === 0 ? [] : view.messages.slice(-count);
    const blobs = shown.flatMap(({ parts }) => parts.map((part) => blobOf(part as Part)));
    const payloads = await readPayloads(context, view.id, blobs);
    writeMessages(screen, shown, { payloads, count: view.messages.length });
    writeWayOn(screen, { read, queue, program: call.program, missing });
    return screen;
  });
}

function writeWayOn(
  screen: Screen,
  about: {
    readonly read: ReadSession;
    readonly queue: QueueOutlook;
    readonly program: string;
    readonly missing: string | undefined;
  },
): void {
  const { read, queue, program, missing } = about;
  const { state, active, damage } = read;
  const { columns } = screen;
  const waiting = queue.waiting > 0;
  const ofQueue = queue.damaged === undefined ? undefined : "queue";
  const damaged = damage === undefined ? ofQueue : "log";
  const run = state.runs.size > 0 ? findRun(read, undefined) : undefined;
  if (active && run?.operations.some(waitsForApproval) === true) {
    // The process that works on it does not go on by itself.
    screen.line();
    screen.line(["dim", "next  "], `${program} run show ${state.id}`);
  } else if (run !== undefined) {
    const place = { program, active, damaged, missing, columns, waiting } as const;
    for (const line of wayOnLines(run, place)) screen.line(...line);
  } else if (waiting && !active && damaged === undefined && missing === undefined) {
    // Whoever made it died before its task became a run.
    screen.line();
    screen.line(["dim", "next  "], `${program} resume ${state.id}`);
  }
}

const runsMax = 10;
const callRowsMax = 10;
const messagesDefault = 8;

function parseCount(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new HoldfastError("usage", `--messages is a whole number up to 999999, not ${JSON.stringify(text)}`);
}

/** The path of the workspace, where it is not there. */
async function missingWorkspace(call: Call, path: string): Promise<string | undefined> {
  const found = await call.outside.host.disk.stat(path);
  return found?.kind === "directory" ? undefined : path;
}

function writeHeader(
  screen: Screen,
  view: SessionView,
  about: { readonly now: number; readonly missing: string | undefined },
): void {
  const { now, missing } = about;
  const { id, title, agent, model, binding, createdAt, updatedAt, damaged, parent } = view;
  screen.line(["bold", fitEnd(oneLine(title), screen.columns) || "(no title)"]);
  const branch = binding.branch === undefined ? "" : ` (branch ${binding.branch})`;
  const states = [
    view.active ? activeWords(view.holder, now) : "not active",
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
    ["policy", policyWords(view.policy)],
  ];
  const waits = view.queue && queueWords(view.queue);
  if (waits !== undefined) fields.push(["queue", oneLine(waits)]);
  if (missing !== undefined) fields.splice(3, 0, ["", ["bad", "the workspace is not there"]]);
  // The one that nobody gave says nothing.
  if (view.definition.name !== defaultDefinition.metadata.name) {
    fields.splice(2, 0, ["spec", oneLine(view.definition.name)]);
  }
  if (parent !== undefined) fields.push(["parent", parent]);
  if (damaged !== undefined) fields.push(["damaged", ["bad", oneLine(damaged)]]);
  writeFields(screen, fields);
}

function activeWords(holder: SessionView["holder"], now: number): string {
  if (holder === undefined) return "active";
  const { pid, host, since } = holder;
  return `active: process ${pid} on ${oneLine(host)} since ${formatTime(since)}, ${formatAge(since, now)}`;
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
    screen.line([
      "dim",
      `the last ${shown.length} of ${formatCount(count, "message")}; more with --messages COUNT`,
    ]);
  }
  for (const message of shown) {
    const cut: Span[] = message.interrupted === true ? [["warn", "  cut short"]] : [];
    const at = `  ${formatTime(message.at)}  ${message.id}`;
    screen.line([toneOf(message.role), message.role], ["dim", at], ...cut);
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
      writeIndented(screen, part.text ?? textOf(part.blob), { indent: "  " });
      return;
    default:
      writeOther(screen, part.type, oneLine(part.text ?? textOf(part.blob)));
  }
}

/** A call as it was asked: a command of several lines keeps them. */
function writeCall(screen: Screen, part: Extract<Part, { type: "tool_call" }>, payloads: Payloads): void {
  const args = part.args ?? (part.argsBlob === undefined ? undefined : payloads.value(part.argsBlob));
  const command =
    typeof args === "object" && args !== null && !Array.isArray(args) ? args["command"] : undefined;
  const words = typeof command === "string" ? command : summariseArgs(args);
  writeIndented(screen, `→ ${oneLine(part.tool)} ${words}`, { indent: "  ", rowsMax: callRowsMax });
  screen.line(["dim", `    ${part.operation}`]);
}

function writeOther(screen: Screen, type: string, text: string): void {
  screen.line(["dim", fitEnd(`  (${type}) ${text}`, screen.columns)]);
}

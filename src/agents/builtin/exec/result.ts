import { isDiskError, startSha256, type Disk, type DiskFile, readAt } from "../../../host/index.ts";
import type { EffectResult } from "../../../model/agent.ts";
import type { Json, Outcome } from "../../../model/values.ts";
import { headOf, tailOf } from "./excerpt.ts";
import { spoolFiles } from "./spool.ts";
import type { Status } from "./status.ts";

/** What a model, and a person, reads of a command's end. */

/** Of each end of an output; what is between them is left out for the model. */
const modelBytesMax = 16 * 1024;
/** Of each end, where even the whole output is too much to keep. */
const fullBytesMax = 8 * 1024 * 1024;
const readBytesMax = 1024 * 1024;

/** A result whose details are members. */
interface CommandResult extends EffectResult {
  details: Record<string, Json>;
}

/** The result of a command from its status and its output. */
export async function resultOf(disk: Disk, folder: string, status: Status): Promise<CommandResult> {
  const output = await readOutput(disk, folder, status);
  const notes = notesOn(status, output);
  return {
    outcome: outcomeOf(status),
    output: joinNotes(output.excerpt, notes),
    ...(output.full === undefined ? {} : { full: output.full }),
    startedAt: status.startedAt,
    endedAt: status.endedAt,
    durationMs: status.durationMs,
    details: detailsOf(status, output),
  };
}

/** A command that was never to be started for want of a program or a directory is an error of whoever asked for it. */
function outcomeOf({ end, stopped }: Status): Outcome {
  if (stopped === "cancel") return "canceled";
  if (stopped === "shutdown" && end.kind === "not_started") return "not_executed";
  return stopped === undefined && end.kind === "exited" && end.code === 0 ? "ok" : "error";
}

interface Output {
  /** Head and tail, or all of it. */
  readonly excerpt: string;
  /** Present where the excerpt is not all. */
  readonly full?: Uint8Array;
  /** True where the bytes are not those that the status names. */
  readonly isDamaged: boolean;
}

async function readOutput(disk: Disk, folder: string, status: Status): Promise<Output> {
  const size = status.outputBytes;
  let file: DiskFile;
  try {
    file = await disk.open(spoolFiles(folder).output, "read");
  } catch (error) {
    if (isDiskError(error, "ENOENT")) return { excerpt: "", isDamaged: size > 0 };
    throw error;
  }
  try {
    const isDamaged = (await hashOf(file, size)) !== status.outputSha256;
    const short = await readEnds(file, size, modelBytesMax);
    const excerpt = new TextDecoder().decode(short.bytes);
    if (!short.isCut) return { excerpt, isDamaged };
    return { excerpt, full: (await readEnds(file, size, fullBytesMax)).bytes, isDamaged };
  } finally {
    await file.close();
  }
}

async function hashOf(file: DiskFile, size: number): Promise<string> {
  const hash = startSha256();
  for (let position = 0; position < size; position += readBytesMax) {
    hash.update(await readAt(file, position, Math.min(readBytesMax, size - position)));
  }
  return hash.digest();
}

/** The whole file where it is at most twice `bytesMax`, else that much of each end and a line between. */
async function readEnds(
  file: DiskFile,
  size: number,
  bytesMax: number,
): Promise<{ bytes: Uint8Array; isCut: boolean }> {
  if (size <= 2 * bytesMax) return { bytes: await readAt(file, 0, size), isCut: false };
  // A little more than is wanted, so that the cut is seen to be within the text.
  const head = headOf(await readAt(file, 0, bytesMax + 1), bytesMax);
  const tail = tailOf(await readAt(file, size - bytesMax - 1, bytesMax + 1), bytesMax);
  const leftOut = size - head.byteLength - tail.byteLength;
  const lineBreak = head.at(-1) === 0x0a ? "" : "\n";
  const note = new TextEncoder().encode(`${lineBreak}[${leftOut} bytes of output left out]\n`);
  return { bytes: concat([head, note, tail]), isCut: true };
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.byteLength;
  }
  return all;
}

function notesOn(status: Status, output: Output): string[] {
  const notes = [endNote(status)];
  if (status.dropped > 0) notes.push(droppedNote(status));
  if (output.isDamaged) notes.push("the kept output is damaged");
  if (status.survivors.length > 0) {
    const names = status.survivors.map(({ pid, command }) => `${pid} ${command}`).join("; ");
    const more = status.survivorsUnlisted === 0 ? "" : `; and ${status.survivorsUnlisted} more`;
    notes.push(`still running: ${names}${more}`);
  }
  return notes.filter((note) => note !== "");
}

function endNote({ end, stopped, durationMs }: Status): string {
  const after = `after ${Math.round(durationMs)} ms`;
  if (end.kind === "not_started") return `not started: ${end.reason}`;
  const how = end.kind === "signaled" ? `ended by ${end.signal}` : `exit code ${end.code}`;
  switch (stopped) {
    case undefined:
      return end.kind === "exited" && end.code === 0 ? "" : how;
    case "timeout":
      return `timed out ${after}, ${how}`;
    case "cancel":
      return `canceled ${after}, ${how}`;
    case "shutdown":
      return `stopped ${after} since the supervisor was told to end, ${how}`;
  }
}

function droppedNote({ dropped, outputFault }: Status): string {
  const why = outputFault === undefined ? "" : ` (${outputFault})`;
  return `${dropped} bytes of output were not kept${why}`;
}

/** Never empty: a model takes no empty text. */
function joinNotes(text: string, notes: readonly string[]): string {
  const lines = notes.map((note) => `[${note}]`).join("\n");
  if (text === "") return lines === "" ? "[no output]" : lines;
  if (lines === "") return text;
  return `${text}${text.endsWith("\n") ? "" : "\n"}${lines}`;
}

function detailsOf(status: Status, output: Output): Record<string, Json> {
  const { end } = status;
  return {
    ...(end.kind === "exited" ? { exitCode: end.code } : {}),
    ...(end.kind === "signaled" ? { signal: end.signal } : {}),
    ...(end.kind === "not_started" ? { notStarted: end.reason } : {}),
    ...(status.stopped === undefined ? {} : { stopped: status.stopped }),
    timedOut: status.stopped === "timeout",
    outputBytes: status.outputBytes,
    dropped: status.dropped,
    ...(status.outputFault === undefined ? {} : { outputFault: status.outputFault }),
    ...(output.isDamaged ? { outputDamaged: true } : {}),
    survivors: status.survivors,
    ...(status.survivorsUnlisted === 0 ? {} : { survivorsUnlisted: status.survivorsUnlisted }),
  };
}

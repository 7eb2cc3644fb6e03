import { isUtf8, utf8Text } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
import { readNamedFile } from "./named-file.ts";
import type { Outside } from "./outside.ts";

/** Where a task comes from: exactly one source, checked before anything is begun. */

/** What gives a task. */
export interface TaskFlags {
  /** A word behind the command, where it takes one. */
  readonly text?: string;
  readonly task?: string;
  readonly taskFile?: string;
  readonly stdin?: boolean;
}

const taskBytesMax = 16 * 1024 * 1024;
const limitText = "a task is at most 16 MiB";
const taskFileKind = {
  what: "the task file",
  bytesMax: taskBytesMax,
  limit: limitText,
  instead: "a pipe is read with --stdin",
};

/** The task, or undefined where no flag gives one. Rejects `usage` that names the flag or the file. */
export async function readTask(outside: Outside, flags: TaskFlags): Promise<string | undefined> {
  const { text, task, taskFile, stdin } = flags;
  const given = [
    ...(text === undefined ? [] : ["TEXT"]),
    ...(task === undefined ? [] : ["--task"]),
    ...(taskFile === undefined ? [] : ["--task-file"]),
    ...(stdin === true ? ["--stdin"] : []),
  ];
  if (given.length > 1) {
    throw new HoldfastError(
      "usage",
      `a task has one source, and there are ${given.length}: ${given.join(" and ")}`,
      {
        hint: "Leave all but one of them out.",
      },
    );
  }
  if (taskFile !== undefined)
    return checkText(await readNamedFile(outside, taskFile, taskFileKind), `the task file ${taskFile}`);
  if (stdin === true) return checkText(await readStandardInput(outside), "the task on standard input");
  if (task !== undefined) return checkNotEmpty(task, "the task of --task");
  if (text !== undefined) return checkNotEmpty(text, "the text");
  return undefined;
}

/** The task; rejects `usage` where there is none. `sources`: what the command takes one from. */
export async function requireTask(
  outside: Outside,
  flags: TaskFlags,
  sources = "with --task TEXT, --task-file FILE or --stdin",
): Promise<string> {
  const task = await readTask(outside, flags);
  if (task !== undefined) return task;
  const piped = outside.stdinIsTerminal ? "" : " Standard input is read with --stdin only.";
  throw new HoldfastError("usage", "there is no task", { hint: `Give one ${sources}.${piped}` });
}

function checkText(bytes: Uint8Array, name: string): string {
  if (!isUtf8(bytes)) throw new HoldfastError("usage", `${name} is not UTF-8 text`);
  return checkNotEmpty(utf8Text(bytes), name);
}

function checkNotEmpty(text: string, name: string): string {
  if (text.trim() === "") throw new HoldfastError("usage", `${name} is empty`);
  return text;
}

async function readStandardInput(outside: Outside): Promise<Uint8Array> {
  try {
    return await outside.readStdin(taskBytesMax);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new HoldfastError("usage", `the task on standard input is too long: ${limitText}`, { cause });
  }
}

import { resolve } from "node:path";
import { isDiskError, isUtf8, utf8Text } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
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
    return checkText(await readTaskFile(outside, taskFile), `the task file ${taskFile}`);
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

async function readTaskFile(outside: Outside, name: string): Promise<Uint8Array> {
  const { disk } = outside.host;
  const refuse = (why: string, cause?: unknown) =>
    new HoldfastError("usage", `the task file ${name} ${why}`, { cause });
  try {
    const path = resolve(outside.currentDirectory, name);
    // Looked at before it is opened: opening a pipe without a writer would wait for ever.
    const found = await disk.stat(path);
    if (found === undefined) throw refuse("does not exist");
    if (found.kind === "directory") throw refuse("is a directory");
    if (found.kind !== "file") throw refuse("is no file; a pipe is read with --stdin");
    const file = await disk.open(path, "read");
    try {
      const { size } = await file.stat();
      if (size > taskBytesMax) throw refuse(`is too long: ${limitText}`);
      const bytes = new Uint8Array(size);
      let filled = 0;
      while (filled < size) {
        const count = await file.read(bytes.subarray(filled), filled);
        if (count === 0) break;
        filled += count;
      }
      return bytes.subarray(0, filled);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (!isDiskError(error)) throw error;
    throw refuse(`cannot be read: ${error.code}`, error);
  }
}

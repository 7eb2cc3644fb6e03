import { resolve } from "node:path";
import { isDiskError, readAt } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
import type { Outside } from "./outside.ts";

/** A file that a flag or an argument names. */

/** What is read, for refusals. */
export interface FileKind {
  /** What the file is, as in `the task file`. */
  readonly what: string;
  readonly bytesMax: number;
  /** How much it may hold, as in `a task is at most 16 MiB`. */
  readonly limit: string;
  /** What else to do with something that is no file, as in `a pipe is read with --stdin`. */
  readonly instead?: string;
}

/** Its bytes. Rejects `usage` that names the file and says what is wrong with it. */
export async function readNamedFile(outside: Outside, name: string, kind: FileKind): Promise<Uint8Array> {
  const { disk } = outside.host;
  const { what, bytesMax, limit, instead } = kind;
  const refuse = (why: string, cause?: unknown) =>
    new HoldfastError("usage", `${what} ${name} ${why}`, { cause });
  try {
    const path = resolve(outside.currentDirectory, name);
    // Looked at before it is opened: opening a pipe without a writer would wait for ever.
    const found = await disk.stat(path);
    if (found === undefined) throw refuse("does not exist");
    if (found.kind === "directory") throw refuse("is a directory");
    if (found.kind !== "file") throw refuse(`is no file${instead === undefined ? "" : `; ${instead}`}`);
    const file = await disk.open(path, "read");
    try {
      const { size } = await file.stat();
      if (size > bytesMax) throw refuse(`is too long: ${limit}`);
      return await readAt(file, 0, size);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (!isDiskError(error)) throw error;
    throw refuse(`cannot be read: ${error.code}`, error);
  }
}

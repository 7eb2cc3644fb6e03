import { basename, dirname, join, relative, sep } from "node:path";
import type { Host } from "../host/index.ts";
import { isDiskError, publishDurably } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
import { storageError } from "../store/index.ts";

/**
 * A file that a person names for what a verb makes. It is for its owner alone, as what it was made of is. Whether it may
 * be there is asked before the work, and once more when it is put there.
 */

/** Where it is to go. */
export interface OutputFile {
  /** As it was named; absolute. */
  readonly named: string;
  /** Where it really goes: behind links. */
  readonly path: string;
  readonly replace: boolean;
  /** What to do where something is there already. */
  readonly hint: string;
}

/** What was asked for. */
export interface OutputRequest {
  /** Absolute path of the file. */
  readonly file: string;
  /** True where it may replace what is there. */
  readonly replace: boolean;
  /** What to do where something is there already. */
  readonly hint: string;
  /** Canonical or not, the directory that nothing may be written to. */
  readonly stateDirectory: string;
}

/** Looks whether the file may be written. Rejects `usage`, or `exists` where something is there already. */
export async function checkOutput({ disk }: Pick<Host, "disk">, request: OutputRequest): Promise<OutputFile> {
  const { file: named, replace, hint, stateDirectory } = request;
  try {
    const found = await disk.stat(named);
    if (found?.kind === "directory")
      throw refusal(named, "is a directory", "Name a file with --output, or - for standard output.");
    if (found !== undefined && found.kind !== "file")
      throw refusal(named, "is no ordinary file", "Standard output is named by a dash: --output -");
    if (!replace && (await disk.statLink(named)) !== undefined) throw exists(named, hint);
    const real = found === undefined ? named : await disk.realPath(named);
    const parent = dirname(real);
    if ((await disk.stat(parent))?.kind !== "directory")
      throw refusal(named, `cannot be made: there is no directory ${parent}`);
    const directory = await disk.realPath(parent);
    if (await isInside(disk, directory, stateDirectory))
      throw refusal(named, "lies in the state directory, where only sessions are", "Name a file elsewhere.");
    return { named, path: join(directory, basename(real)), replace, hint };
  } catch (error) {
    throw isDiskError(error) ? storageError(error, named) : error;
  }
}

/** Writes it, whole or not at all. Rejects `exists` where something came there meanwhile, or a storage error. */
export async function writeOutput(
  host: Pick<Host, "disk" | "ids">,
  { named, path, replace, hint }: OutputFile,
  bytes: Uint8Array,
): Promise<void> {
  try {
    await publishDurably(host, path, bytes, { replace });
  } catch (error) {
    if (isDiskError(error, "EEXIST")) throw exists(named, hint, error);
    throw isDiskError(error) ? storageError(error, named) : error;
  }
}

async function isInside(disk: Host["disk"], directory: string, outer: string): Promise<boolean> {
  if ((await disk.stat(outer)) === undefined) return false;
  const way = relative(await disk.realPath(outer), directory);
  return way === "" || !(way === ".." || way.startsWith(`..${sep}`));
}

function refusal(file: string, what: string, hint?: string): HoldfastError {
  return new HoldfastError("usage", `${file} ${what}`, hint === undefined ? {} : { hint });
}

function exists(file: string, hint: string, cause?: unknown): HoldfastError {
  return new HoldfastError("exists", `${file} is there already`, { hint, cause });
}

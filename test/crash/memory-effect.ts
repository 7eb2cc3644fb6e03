import type { ProcessVerb } from "./process-verb.ts";
import type { Disk, DiskFile } from "../../src/host/index.ts";

/** A method of Disk, DiskFile or Locks. `create` is an open that makes the file, `statFile` the stat of an open one. */
export type Verb =
  | Exclude<keyof Disk, "watch">
  | Exclude<keyof DiskFile, "path" | "stat">
  | "create"
  | "statFile"
  | "lock"
  | "unlock"
  | ProcessVerb;

/** One use of the disk, told before it happens. */
export interface Effect {
  /** Counts from 0 over all processes. */
  readonly index: number;
  readonly process: string;
  readonly verb: Verb;
  readonly path: string;
  /** Of a rename or a link: the new name. */
  readonly to?: string;
  /** Of a write: how many bytes. */
  readonly bytes?: number;
}

/**
 * `short`: a write takes only that many bytes; with `code` it fails besides. `code`: the effect does not happen and
 * its verb rejects; a file's sync that fails so leaves its pages clean but not durable, for good. `afterwards`: the
 * effect happens and its verb rejects all the same; a cut that fails so happened only in the cache.
 */
export interface Fault {
  readonly code?: string;
  readonly short?: number;
  readonly afterwards?: string;
}

/** True for the effects that change something on the disk, or make it durable. */
export function changesDisk(effect: Pick<Effect, "verb">): boolean {
  return changing.has(effect.verb);
}

const changing: ReadonlySet<Verb> = new Set([
  "create",
  "write",
  "sync",
  "truncate",
  "makeDirectory",
  "rename",
  "link",
  "remove",
  "removeDirectory",
  "setAttributes",
  "syncDirectory",
  "cutTail",
]);

/** What happens, and what is told of it. */
export interface Action<T> {
  /** The effect; `short` and `afterwards` are those of the fault. */
  readonly act: (fault: Fault) => T;
  /** What a fault that prevents the effect leaves behind all the same. */
  readonly fail?: () => void;
  readonly details?: Pick<Effect, "to" | "bytes">;
}

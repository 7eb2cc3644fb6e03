import type { Fate, UnsyncedChange } from "./memory-node.ts";

/**
 * What a device may do when it loses power.
 *
 * - `sequential`: a prefix of the changes survives, and of the one after it a part may.
 * - `safe_append`: any of the changes survive, each whole, in part or not at all, but nothing is ever there that nobody
 *   wrote: the size grows only with the data, so no part of an append is there without all that stands before it.
 * - `arbitrary`: any of the changes survive, and in the place of a write anything may stand.
 */
export type Device = "sequential" | "safe_append" | "arbitrary";

/** What a device may still do after what it did to the changes before. It stays as it is. */
interface Course {
  may(change: UnsyncedChange, fate: Fate): boolean;
  after(change: UnsyncedChange, fate: Fate): Course;
}

/** The device before it has done anything. */
export function courseOf(device: Device): Course {
  if (device === "sequential") return running;
  return device === "arbitrary" ? arbitrary : safeAppend(new Map());
}

const arbitrary: Course = { may: () => true, after: () => arbitrary };
const stopped: Course = { may: (_change, fate) => fate === "dropped", after: () => stopped };
const running: Course = { may: () => true, after: (_change, fate) => (fate === "kept" ? running : stopped) };

interface Sizes {
  /** As the fates so far leave it. */
  readonly left: number;
  /** As it would be if every change so far had been kept. */
  readonly whole: number;
}

/** The part of its file that a change covers, as far as it arrived; undefined where something else stands there. */
function arrived(change: UnsyncedChange, fate: Fate): { start: number; end: number } | undefined {
  if (change.kind !== "write") return undefined;
  const { position, bytes } = change;
  const end = position + bytes.length;
  if (fate === "kept") return { start: position, end };
  if (typeof fate === "string") return undefined;
  if ("torn" in fate) return { start: position, end: Math.min(end, position + fate.torn) };
  return "from" in fate ? { start: position + fate.from, end } : undefined;
}

function safeAppend(files: ReadonlyMap<number, Sizes>): Course {
  const sizesOf = (change: Exclude<UnsyncedChange, { kind: "name" }>): Sizes => {
    const { inode, durableSize } = change;
    return files.get(inode) ?? { left: durableSize, whole: durableSize };
  };
  return {
    may: (change, fate) => {
      if (change.kind === "name" || fate === "dropped") return true;
      const { left, whole } = sizesOf(change);
      // A hole that is there though everything was kept is one that the program made.
      if (change.kind === "truncate") return change.size <= left || left >= whole;
      const part = arrived(change, fate);
      if (part === undefined) return false;
      return part.start <= left || (part.start === change.position && left >= whole);
    },
    after: (change, fate) => {
      if (change.kind === "name") return safeAppend(files);
      const { left, whole } = sizesOf(change);
      return safeAppend(new Map(files).set(change.inode, sizesAfter(change, fate, { left, whole })));
    },
  };
}

function sizesAfter(
  change: Exclude<UnsyncedChange, { kind: "name" }>,
  fate: Fate,
  { left, whole }: Sizes,
): Sizes {
  if (change.kind === "truncate") {
    return { left: fate === "dropped" ? left : change.size, whole: change.size };
  }
  const end = change.position + change.bytes.length;
  return { left: Math.max(left, arrived(change, fate)?.end ?? 0), whole: Math.max(whole, end) };
}

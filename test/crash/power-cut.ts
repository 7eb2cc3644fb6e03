import type { Fate, UnsyncedChange } from "./memory-disk.ts";
import type { Random } from "./campaign/random.ts";

/** Provisional. */
const fates: Record<string, (change: UnsyncedChange) => Fate> = {
  k: () => "kept",
  d: () => "dropped",
  h: (change) => (change.kind === "write" ? { torn: change.bytes.length >> 1 } : "kept"),
  l: (change) => (change.kind === "write" ? { torn: change.bytes.length - 1 } : "kept"),
  g: (change) => (change.kind === "write" ? "garbage" : "kept"),
  z: (change) => (change.kind === "write" ? { instead: new Uint8Array(change.bytes.length) } : "kept"),
};
export function cutOf(letters: string): (change: UnsyncedChange, index: number) => Fate {
  return (change, index) => fates[letters[index] ?? "d"]?.(change) ?? "dropped";
}
const each = (unsynced: readonly UnsyncedChange[], letter: (change: UnsyncedChange, index: number) => string) =>
  unsynced.map(letter).join("");
export function plainCuts(unsynced: readonly UnsyncedChange[]): string[] {
  return unsynced.length === 0 ? [""] : [each(unsynced, () => "d"), each(unsynced, (c) => (c.kind === "write" ? "g" : "k"))];
}
export function namedCuts(unsynced: readonly UnsyncedChange[]): string[] {
  if (unsynced.length === 0) return [""];
  return [...new Set([
    each(unsynced, () => "d"),
    each(unsynced, () => "k"),
    each(unsynced, (_, i) => (i % 2 === 0 ? "k" : "d")),
    each(unsynced, (_, i) => (i % 2 === 1 ? "k" : "d")),
    ...["h", "g", "z", "l"].map((l) => each(unsynced, (c) => (c.kind === "write" ? l : "k"))),
  ])];
}
export function randomCut(unsynced: readonly UnsyncedChange[], random: Random): string {
  return each(unsynced, () => random.of(["k", "d", "h", "l", "g", "z"]));
}

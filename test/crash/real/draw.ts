import { createHash } from "node:crypto";

/** A number from 0, below `count`, drawn by chance from words: the same words draw the same. */
export function draw(count: number, ...words: readonly (string | number)[]): number {
  const drawn = createHash("sha256").update(words.join(" ")).digest().readUInt32LE(0);
  return drawn % Math.max(1, count);
}

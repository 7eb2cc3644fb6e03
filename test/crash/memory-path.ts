import { posix } from "node:path";

/** As Linux has it; the terminating zero counts. */
export const pathLengthMax = 4096;
const nameBytesMax = 255;

/** True for a name that no directory can hold. */
export function isTooLong(name: string): boolean {
  return name.length * 3 > nameBytesMax && Buffer.byteLength(name) > nameBytesMax;
}

/** The names that lead from the root to where a path leads. */
export function stepsOf(path: string): string[] {
  const isPlain = path.startsWith("/") && !/\/(\.{0,2})(\/|$)/.test(path);
  if (isPlain) return path.slice(1).split("/");
  return posix
    .normalize(path)
    .split("/")
    .filter((step) => step !== "");
}

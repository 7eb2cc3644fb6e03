import { randomFillSync } from "node:crypto";
import type { Ids } from "./ids.ts";

/** Random bits of the operating system. */
export function nodeIds(): Ids {
  return { random: (count) => randomFillSync(new Uint8Array(count)) };
}

import { isHoldfastError } from "../../src/model/errors.ts";
import type { Effect, Fault, MemoryDisk } from "../crash/memory-disk.ts";
import type { Mishap, Name } from "./store-commands.ts";

/** What goes wrong in the middle of an append. */

/** What a mishap may come to besides success. */
export const codesOf: Readonly<Record<Mishap["kind"], readonly string[]>> = {
  dies: ["died"],
  "write is short": ["disk_full"],
  "disk is full": ["disk_full"],
  "sync fails": ["io_error", "durability_unknown"],
  "nothing helps": ["io_error", "disk_full", "durability_unknown"],
};

/** What it may happen to. */
const verbsOf: Readonly<Record<Mishap["kind"], readonly string[]>> = {
  dies: ["write", "sync"],
  "write is short": ["write"],
  "disk is full": ["write"],
  "sync fails": ["sync"],
  "nothing helps": ["write", "sync"],
};

function faultOf(mishap: Mishap, { verb, bytes = 0 }: Effect): Fault | undefined {
  if (verb === "sync") return { code: "EIO" };
  if (mishap.kind === "write is short") return { short: bytes >> 1 };
  if (mishap.kind === "disk is full") return { code: "ENOSPC" };
  return mishap.kind === "nothing helps" ? { short: bytes >> 1, code: "EIO" } : undefined;
}

/** An append, and what happens to it. */
interface Attempt {
  readonly by: Name;
  readonly file: string;
  readonly mishap: Mishap | undefined;
  readonly attempt: () => Promise<unknown>;
}

/** Makes an attempt under its mishap; resolves to the code that it ends with, `none` or `died`. */
export async function withMishap(disk: MemoryDisk, { by, file, mishap, attempt }: Attempt): Promise<string> {
  if (mishap === undefined) return await codeOf(attempt());
  let left = mishap.at;
  const isIt = ({ verb, path, process }: Effect): boolean =>
    process === by && path.endsWith(file) && verbsOf[mishap.kind].includes(verb) && left-- === 0;
  const died = new Promise<string>((resolve) => {
    disk.gate = (effect) => {
      if (mishap.kind !== "dies" || !isIt(effect)) return undefined;
      resolve("died");
      return new Promise(() => undefined);
    };
  });
  let isHit = false;
  disk.fault = (effect): Fault | undefined => {
    if (mishap.kind === "dies") return undefined;
    if (mishap.kind === "nothing helps" && isHit && effect.verb === "cutTail") return { code: "EIO" };
    if (!isIt(effect)) return undefined;
    isHit = true;
    return faultOf(mishap, effect);
  };
  try {
    return await Promise.race([codeOf(attempt()), died]);
  } finally {
    disk.gate = disk.fault = undefined;
  }
}

/** The code that an attempt is refused with, or `none`. Other errors pass. */
export async function codeOf(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
    return "none";
  } catch (error) {
    if (isHoldfastError(error)) return error.code;
    throw error;
  }
}

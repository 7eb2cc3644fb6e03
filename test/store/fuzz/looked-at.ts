import { exitCodeOf, isHoldfastError, type HoldfastError } from "../../../src/model/errors.ts";
import { promised, Finding } from "../../crash/campaign/finding.ts";
import { changesDisk, type MemoryDisk } from "../../crash/memory-disk.ts";

/** How attempts end, and what they may do meanwhile. */

/** What an attempt came to: a value, or an error with a code of the table. */
export type Ended<T> =
  | { readonly value: T; readonly error?: never }
  | { readonly error: HoldfastError; readonly value?: never };

/** Effects of one attempt: more of them, and it would never end. */
const effectsMax = 3000;

/** Ends as it ends. Throws a finding for an error without a code, for a fault of ours, and where it never ends. */
export async function ended<T>(what: string, attempt: Promise<T>): Promise<Ended<T>> {
  try {
    return { value: await attempt };
  } catch (error) {
    if (error instanceof Finding) throw error;
    const isTyped = isHoldfastError(error) && error.code !== "internal";
    if (!isTyped) throw new Finding("untyped", `${what}: ${String(error)}`, error);
    return { error };
  }
}

/** The same of a change: it is refused only with an exit code of the storage. */
export async function changedOrRefused<T>(what: string, attempt: Promise<T>): Promise<Ended<T>> {
  const end = await ended(what, attempt);
  const { error } = end;
  promised(error === undefined || exitCodeOf(error) === 7, "untyped", () => `${what}: ${String(error)}`);
  return end;
}

/** Does something that may only read. */
export async function reading<T>(
  disk: MemoryDisk,
  what: string,
  attempt: () => Promise<T>,
): Promise<Ended<T>> {
  const before = disk.effects.length;
  disk.fault = ({ index }) => {
    if (index - before > effectsMax) throw new Finding("stuck", `${what}: over ${effectsMax} effects`);
    return undefined;
  };
  const end = await ended(what, attempt());
  disk.fault = undefined;
  const written = disk.effects.slice(before).find(changesDisk);
  promised(written === undefined, "foreign write", () => `${what}: ${written?.verb} ${written?.path}`);
  return end;
}

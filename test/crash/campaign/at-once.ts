import { isHoldfastError } from "../../../src/model/errors.ts";
import { Finding } from "./finding.ts";

/** What people do at once, and what they are refused. */

/** Waits for all of them, however they end; rejects with the worst failure. */
export async function allAtOnce(works: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(works);
  const failures = results.flatMap((result) =>
    result.status === "rejected" ? [result.reason as unknown] : [],
  );
  if (failures.length > 0) throw worstOf(failures);
}

/** The failure after which least is known. */
export function worstOf(failures: readonly unknown[]): unknown {
  return failures.find((failure) => isHoldfastError(failure, "durability_unknown")) ?? failures[0];
}

/** What the work comes to; undefined where it is refused with one of these codes. */
export async function orRefused<T>(codes: readonly string[], work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isHoldfastError(error) && codes.includes(error.code)) return undefined;
    throw error;
  }
}

/** Throws a finding unless it is refused with that code. */
export async function refused(code: string, work: Promise<unknown>): Promise<void> {
  let isDone = false;
  await orRefused(
    [code],
    work.then(() => void (isDone = true)),
  );
  if (isDone) throw new Finding("false success", `what must be refused as ${code} was done`);
}

import { HoldfastError, isHoldfastError } from "./errors.ts";

/** A fact that no writer of this program can have put where it stands: the log says something impossible. */
export function corruption(what: string): HoldfastError {
  return new HoldfastError("log_damaged", `the log contradicts itself: ${what}`);
}

/** The same of a queue. */
export function queueCorruption(what: string): HoldfastError {
  return new HoldfastError("queue_damaged", `the queue contradicts itself: ${what}`);
}

/**
 * What the machines make of a line, or why it cannot be true. They stop at an impossible pair; who reads a file must
 * say where it stands, and go on showing what is before it.
 */
export function faultOr<T extends object>(evolve: () => T): T | string {
  try {
    return evolve();
  } catch (error) {
    if (isHoldfastError(error, "log_damaged", "queue_damaged")) return error.message;
    throw error;
  }
}

import { HoldfastError } from "./errors.ts";

/** A fact that no writer of this program can have put where it stands: the log says something impossible. */
export function corruption(what: string): HoldfastError {
  return new HoldfastError("log_damaged", `the log contradicts itself: ${what}`);
}

/** The same of a queue. */
export function queueCorruption(what: string): HoldfastError {
  return new HoldfastError("queue_damaged", `the queue contradicts itself: ${what}`);
}

import { isDiskError } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";

/** The typed errors of whoever writes: what failed, and what is known of the bytes. */

/** The typed error for a failed effect on a file of the session. */
export function storageError(error: unknown, path: string): HoldfastError {
  if (isDiskError(error, "ENOSPC", "EDQUOT", "SHORT_WRITE", "EFBIG")) {
    return new HoldfastError("disk_full", `no space left to write ${path}`, {
      hint: "Free some space and run the same command again; what was acknowledged is intact.",
      cause: error,
    });
  }
  const code = isDiskError(error) ? error.code : String(error);
  return new HoldfastError("io_error", `cannot use ${path}: ${code}`, { cause: error });
}

/** Runs effects of the disk on `path`; one that fails rejects with its typed error, anything else passes unchanged. */
export async function onStorage<T>(path: string, effects: () => Promise<T>): Promise<T> {
  try {
    return await effects();
  } catch (error) {
    throw isDiskError(error) ? storageError(error, path) : error;
  }
}

/** Another writer won. Nothing that depends on our line may happen. */
export function fenced(session: string, why: string): HoldfastError {
  return new HoldfastError("fenced", `session ${session} was taken over: ${why}`, {
    hint: `This process has stopped writing. See who holds it: holdfast session show ${session}`,
  });
}

/** A file changed between reading and mending it, so it was left alone. */
export function changedMeanwhile(path: string): HoldfastError {
  return new HoldfastError("fenced", `${path} changed while its tail was being recovered`, {
    hint: "Another process writes it. Run the same command again.",
  });
}

/** Bytes that may or may not be on disk could not be taken back. */
export function durabilityUnknown(session: string, cause: unknown): HoldfastError {
  const what = `a write to session ${session} failed and could not be undone`;
  return new HoldfastError("durability_unknown", what, {
    hint: `Write it anew from what is readable: holdfast session repair ${session}`,
    cause,
  });
}

/** A line was written and synced, but what stands there now cannot be seen: it may be acknowledged to nobody. */
export function unseen(path: string, cause: unknown): HoldfastError {
  const code = isDiskError(cause) ? cause.code : String(cause);
  return new HoldfastError("io_error", `a line was written to ${path}, but cannot be read back: ${code}`, {
    hint: "Run the same command again: a line that is there will be found and not repeated.",
    cause,
  });
}

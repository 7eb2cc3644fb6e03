import { isDiskError, noLocks } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";

/**
 * The typed errors of whoever writes: what failed, and what is known of the bytes. They come in the middle of work, so
 * none of them tells anybody to run a command again: what was done before would be done twice. The way on of a session
 * is told by whoever knows the session's name.
 */

/** The typed error for a failed effect on a file of the session. */
export function storageError(error: unknown, path: string): HoldfastError {
  if (isDiskError(error, "ENOSPC", "EDQUOT", "SHORT_WRITE", "EFBIG")) {
    return new HoldfastError("disk_full", `no space left to write ${path}`, {
      hint: "Free some space first; what was recorded before is intact.",
      cause: error,
    });
  }
  if (isDiskError(error, noLocks)) {
    return new HoldfastError("unsafe_storage", "this system has no file locks that work here", {
      hint: "Locks come with Linux (glibc), macOS and Windows, on x64 and arm64; on Alpine Linux use an image with glibc.",
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
    hint: `This process has stopped writing. See what the other one does: holdfast session show ${session}`,
  });
}

/** A file changed between reading and mending it, so it was left alone. */
export function changedMeanwhile(path: string): HoldfastError {
  return new HoldfastError("fenced", `${path} changed while its tail was being recovered`, {
    hint: "Another process writes it; nothing was cut. It is mended by whoever takes the session next.",
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
    hint: "Look before anything is repeated: whoever takes the session next finds the line, if it is there.",
    cause,
  });
}

import type { DiskError } from "../../../host/index.ts";
import type { EffectResult, Prepared } from "../../../model/agent.ts";
import type { Json } from "../../../model/values.ts";

/** An effect that took place; `output` is what the model reads. */
export function succeeded(output: string, details?: Json): EffectResult {
  return { outcome: "ok", output, ...(details !== undefined && { details }) };
}

/** An effect that did not take place; `output` tells the model what, which and what now. */
export function failed(output: string, details?: Json): EffectResult {
  return { outcome: "error", output, ...(details !== undefined && { details }) };
}

/** An effect that was told to stop before it began, or a look that was told to stop before its end. */
export function canceled(): EffectResult {
  return { outcome: "canceled", output: "Canceled before it was done; nothing was changed." };
}

/** The answer of `prepare` where an effect must not start. */
export function notReady(result: EffectResult): Prepared {
  return { ready: false, result };
}

/** Somebody else changed the target after the tool had looked at it; nothing was done. */
export function changedUnderneath(shown: string): EffectResult {
  return failed(
    `${shown} was changed by somebody else in the meantime, so nothing was done. Read it again and repeat.`,
    { reason: "changed_underneath" },
  );
}

const explanations: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "the system does not permit it",
  EROFS: "the file system is read-only",
  ENOENT: "it does not exist",
  ENOTDIR: "a part of the path is not a directory",
  EISDIR: "it is a directory",
  EEXIST: "it exists already",
  ENOSPC: "there is no space left on the disk",
  EDQUOT: "the disk quota is used up",
  EFBIG: "it is too large for the file system",
  ENAMETOOLONG: "a name in it is too long",
  ELOOP: "its links form a loop",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
  EBUSY: "it is in use",
  ETXTBSY: "it is a program that is running",
  EIO: "the disk reported an error",
  EILSEQ: "the file system does not accept its name",
  EINVAL: "the file system does not accept its name",
};

/** A failed effect in words, with the system's code. */
export function explain(error: DiskError): string {
  const words = explanations[error.code];
  return words === undefined ? error.code : `${words} (${error.code})`;
}

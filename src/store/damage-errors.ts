import { HoldfastError } from "../model/errors.ts";
import type { Damage } from "./scan.ts";

/** The typed errors for a file that is not what it claims to be: where, what was expected, and the ways out. */

/** Damage, and the file that it is in. */
export type FileDamage = Damage & { readonly file: string };

/** The typed error for a damaged log. */
export function damagedLog(damage: FileDamage, session: string): HoldfastError {
  if (damage.version !== undefined) return newerVersion(damage);
  const { file, line, offset, reason } = damage;
  return new HoldfastError("log_damaged", `${file}: line ${line}, byte ${offset}: ${reason}`, {
    hint: `The session is closed for writing. View what is intact with: holdfast session show ${session}`,
    at: { file, line, offset },
  });
}

/** The typed error for a damaged queue. */
export function damagedQueue(damage: FileDamage, session: string): HoldfastError {
  if (damage.version !== undefined) return newerVersion(damage);
  const { file, line, offset, reason } = damage;
  return new HoldfastError("queue_damaged", `${file}: line ${line}, byte ${offset}: ${reason}`, {
    hint: `What is intact can be read: holdfast session show ${session}`,
    at: { file, line, offset },
  });
}

function newerVersion({ file, line, offset, reason }: FileDamage): HoldfastError {
  return new HoldfastError("unsupported_version", `${file}: line ${line} was written in ${reason}`, {
    hint: "Use the version of holdfast that wrote it, or a newer one.",
    at: { file, line, offset },
  });
}

import { HoldfastError } from "../../../model/errors.ts";
import type { Evidence } from "../../../model/facts.ts";

/** Evidence of a checked write or delete. */
export type CheckedEvidence = Extract<Evidence, { class: "checked" }>;

/** What tells one file from every other that ever had its name or its inode number. */
export interface FileIdentity {
  readonly inode: string;
  readonly birthtimeNs: string;
}

/** The evidence, which must be of a checked operation. */
export function checkedOf(evidence: Evidence): CheckedEvidence {
  if (evidence.class === "checked") return evidence;
  throw new HoldfastError("internal", `A file tool was given evidence of class ${evidence.class}.`);
}

/** True where the content is not the one that was found when an operation began which this one stands for. */
export function isChangedSince(replaced: Evidence | undefined, sha256: string | undefined): boolean {
  return replaced?.class === "checked" && replaced.target?.sha256 !== sha256;
}

/**
 * True where both are provably the same file. An inode number alone proves nothing, since it is given out again at
 * once; so on a file system that keeps no birth times this is never true.
 */
export function isSameFile(left: FileIdentity, right: FileIdentity): boolean {
  return left.inode === right.inode && left.birthtimeNs === right.birthtimeNs && left.birthtimeNs !== "0";
}

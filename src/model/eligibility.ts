/** May a session be resumed? The one decision, for the list, the command and whoever else asks. */

/** What the decision goes by. */
export interface ResumeFacts {
  readonly archived: boolean;
  /** Moved to another store, or sealed to travel. */
  readonly moved: boolean;
  /** A process holds it. */
  readonly active: boolean;
  readonly damaged: boolean;
  /** The bound directory is not there. */
  readonly workspaceMissing: boolean;
}

/** Why not, or `yes`. */
export type ResumeCode = "yes" | "damaged" | "other-device" | "archived" | "active" | "cwd-missing";

/** The decision with all that stands in the way, the gravest first. */
export interface ResumeVerdict {
  eligible: boolean;
  code: ResumeCode;
  blockers: ResumeCode[];
}

/** Decides from facts alone. */
export function evaluateResume(facts: ResumeFacts): ResumeVerdict {
  const blockers: ResumeCode[] = [];
  if (facts.damaged) blockers.push("damaged");
  if (facts.moved) blockers.push("other-device");
  if (facts.archived) blockers.push("archived");
  if (facts.active) blockers.push("active");
  if (facts.workspaceMissing) blockers.push("cwd-missing");
  return { eligible: blockers.length === 0, code: blockers[0] ?? "yes", blockers };
}

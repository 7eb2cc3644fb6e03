/**
 * May a session be resumed? The one decision, for the list, a session that is shown, the command and its explanation.
 * Decided from facts alone, in a fixed order, so that all of them name the same first reason.
 */

/** What is recorded of the session. */
export interface RecordedSession {
  /** The agent that answers; settings are looked up by it. */
  readonly agent: string;
  readonly archived: boolean;
  /**
   * Its log, or the definition or policy in line 0, cannot be read as they were; also where the log is shorter than it
   * was known to be, or nobody knows what of it is on disk.
   */
  readonly damaged: boolean;
  /** Moved to another store, or sealed to travel. */
  readonly moved: boolean;
  /** True for one that an agent keeps and Holdfast does not own. */
  readonly direct?: boolean;
  /** What is bound of the agent's own session; absent for an agent that has none, as the built-in one. */
  readonly vendor?: BoundVendorSession;
}

/** The session that an agent keeps in a store of its own. */
export interface BoundVendorSession {
  /** The agent's id of it; blank counts as missing. */
  readonly id?: string;
  /** The device that its store is on. */
  readonly device?: string;
  /** False where the agent resumes nothing. */
  readonly agentResumes?: boolean;
  /** False where the path that is recorded resumes nothing, whatever others would do. */
  readonly pathResumes?: boolean;
}

/** The device that would resume it. */
export interface ResumingDevice {
  readonly id?: string;
}

/** What people set for agents, by name; today's, not those of the session's beginning. */
export interface ResumeSettings {
  readonly agents: Readonly<Record<string, { readonly enabled?: boolean; readonly resume?: boolean }>>;
}

/** Settings of somebody who set nothing. */
export const defaultResumeSettings: ResumeSettings = { agents: {} };

/** What was looked at. */
export interface ResumeProbe {
  /** A process holds the session. */
  readonly active: boolean;
  /** The bound directory is not there. */
  readonly workspaceMissing: boolean;
}

/** What may stand in the way, the first reason first. */
export const resumeBlockers = [
  "archived",
  "active",
  "damaged",
  "direct",
  "other-device",
  "cwd-missing",
  "off",
  "unsupported",
  "disabled",
  "missing-id",
] as const;

/** One thing that stands in the way. */
export type ResumeBlocker = (typeof resumeBlockers)[number];

/** Why not, or `yes`. */
export type ResumeCode = "yes" | ResumeBlocker;

/** The decision with all that stands in the way, the first reason first. */
export interface ResumeVerdict {
  eligible: boolean;
  code: ResumeCode;
  blockers: ResumeBlocker[];
}

/** Decides from facts alone. */
export function evaluateResume(
  session: RecordedSession,
  device: ResumingDevice,
  settings: ResumeSettings,
  probe: ResumeProbe,
): ResumeVerdict {
  const { vendor } = session;
  const set = settings.agents[session.agent] ?? {};
  const blocks: Record<ResumeBlocker, boolean> = {
    archived: session.archived,
    active: probe.active,
    damaged: session.damaged,
    direct: session.direct === true,
    "other-device": session.moved || (vendor?.device !== undefined && vendor.device !== device.id),
    "cwd-missing": probe.workspaceMissing,
    off: set.enabled === false,
    unsupported: vendor?.agentResumes === false,
    disabled: set.resume === false || vendor?.pathResumes === false,
    "missing-id": vendor !== undefined && (vendor.id ?? "").trim() === "",
  };
  const blockers = resumeBlockers.filter((blocker) => blocks[blocker]);
  return { eligible: blockers.length === 0, code: blockers[0] ?? "yes", blockers };
}

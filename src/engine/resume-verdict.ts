import type { Host } from "../host/index.ts";
import { isDiskError } from "../host/index.ts";
import type { ErrorCode } from "../model/errors.ts";
import { HoldfastError } from "../model/errors.ts";
import type { Row } from "../model/facts.ts";
import type { ResumeBlocker, ResumeVerdict } from "../model/eligibility.ts";
import { defaultResumeSettings, evaluateResume } from "../model/eligibility.ts";
import type { SessionRow } from "../model/views.ts";
import type { SessionIndex } from "../store/index.ts";

/** What the verdict goes by; `moved`: it runs in another store now. */
export type JudgedRow = Pick<SessionRow, "agent" | "archived" | "active" | "damaged" | "workspace"> & {
  readonly moved: boolean;
};

/**
 * The one judge of whether a session may be resumed, for the list and for a session that is shown. Looks at each
 * directory once, as many sessions share one; whether it is still the bound one is for the resume itself to see.
 */
export function makeResumeJudge(host: Pick<Host, "disk">): (row: JudgedRow) => Promise<ResumeVerdict> {
  const there = new Map<string, Promise<boolean>>();
  const isThere = (workspace: string): Promise<boolean> => {
    const known = there.get(workspace) ?? isDirectory(host, workspace);
    there.set(workspace, known);
    return known;
  };
  return async ({ agent, archived, moved, active, damaged: damage, workspace }) => {
    const damaged = damage !== undefined;
    // Of a log that cannot be read nobody knows the directory.
    const workspaceMissing = workspace !== "" && !(await isThere(workspace));
    const probe = { active, workspaceMissing };
    return evaluateResume({ agent, archived, damaged, moved }, {}, defaultResumeSettings, probe);
  };
}

/** A directory that cannot be looked at is as good as gone: nobody could work there. */
async function isDirectory({ disk }: Pick<Host, "disk">, path: string): Promise<boolean> {
  try {
    return (await disk.stat(path))?.kind === "directory";
  } catch (error) {
    if (isDiskError(error)) return false;
    throw error;
  }
}

/** What stands in the way, in words that follow "the session". */
const blockerWords: Readonly<Record<ResumeBlocker, string>> = {
  archived: "is archived",
  active: "is being run by another process",
  damaged: "is damaged",
  direct: "belongs to the agent's own program and was not imported",
  "other-device": "was moved to another device",
  "cwd-missing": "is bound to a directory that is not there",
  off: "has an agent that is switched off",
  unsupported: "has an agent that resumes no session",
  disabled: "has an agent, or a way to it, that resumes no session here",
  "missing-id": "lacks the id of the agent's own session",
};

/**
 * Rejects `not_resumable` for what the newest row of a session says by itself, before anything is looked at: it takes no
 * work and no message.
 */
export function refuseByRow(id: string, row: Row): void {
  const { agent, archived, moved = false } = row;
  const record = { agent, archived, moved, damaged: false };
  const probe = { active: false, workspaceMissing: false };
  const { code } = evaluateResume(record, {}, defaultResumeSettings, probe);
  if (code !== "yes") throw notResumable(id, code);
}

/** The error for a session that something about itself keeps from going on. */
export function notResumable(id: string, reason: ResumeBlocker): HoldfastError {
  return new HoldfastError("not_resumable", `session ${id} ${blockerWords[reason]}`, {
    reason,
    hint: `What it holds can be read: holdfast session show ${id}`,
  });
}

/** The errors of a session that counts as damaged. */
export const damageCodes = [
  "log_damaged",
  "rolled_back",
  "durability_unknown",
  "unsupported_version",
] as const satisfies readonly ErrorCode[];

/** Rejects `not_resumable` where the end of the log says that the session is archived: that comes before all else. */
export async function refuseArchived(store: Pick<SessionIndex, "lastRow">, id: string): Promise<void> {
  const last = await store.lastRow(id);
  if ("row" in last && last.row.archived) throw notResumable(id, "archived");
}

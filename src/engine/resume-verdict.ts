import type { Host } from "../host/index.ts";
import { isDiskError } from "../host/index.ts";
import type { ResumeVerdict } from "../model/eligibility.ts";
import { evaluateResume } from "../model/eligibility.ts";
import type { SessionRow } from "../model/views.ts";

/** What the verdict goes by; `moved`: it runs in another store now. */
export type JudgedRow = Pick<SessionRow, "archived" | "active" | "damaged" | "workspace"> & {
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
  return async ({ archived, moved, active, damaged, workspace }) => {
    const isDamaged = damaged !== undefined;
    const workspaceMissing = !isDamaged && !(await isThere(workspace));
    return evaluateResume({ archived, moved, active, damaged: isDamaged, workspaceMissing });
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

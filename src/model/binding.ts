import type { WorkspaceBinding } from "./facts.ts";

/** Is this still the place that a session is bound to? The one decision, from what was recorded and what is there. */

/** What differs, in words that follow "the workspace"; `code` is that of the error. */
export interface BindingMismatch {
  readonly code: "workspace_mismatch" | "branch_mismatch";
  readonly what: string;
}

/**
 * Compares the binding of a session with what its directory is now; undefined where they are the same. A repository is
 * known by its first commits and its remote, as far as both sides have them; a directory without git, or a repository
 * that has neither, by its inode and birth time. Branches are equal by name, detached heads by commit.
 */
export function compareBinding(
  recorded: WorkspaceBinding,
  found: WorkspaceBinding,
): BindingMismatch | undefined {
  const what = differenceOfPlace(recorded, found);
  if (what !== undefined) return { code: "workspace_mismatch", what };
  // A directory may have become a repository since: that is the work of a session, too.
  if (recorded.pathInRepository === undefined) return undefined;
  const head = differenceOfHead(recorded, found);
  return head === undefined ? undefined : { code: "branch_mismatch", what: head };
}

function differenceOfPlace(recorded: WorkspaceBinding, found: WorkspaceBinding): string | undefined {
  const path = recorded.pathInRepository;
  if (path === undefined) return differenceOfDirectory(recorded, found);
  if (found.pathInRepository === undefined) return "is in no git repository that can be read, and was in one";
  if (found.pathInRepository !== path) {
    return `is ${placeWords(found.pathInRepository)}, and was ${placeWords(path)}`;
  }
  const known = sharedIdentity(recorded, found);
  return known.isEmpty ? differenceOfDirectory(recorded, found) : known.difference;
}

function differenceOfDirectory(recorded: WorkspaceBinding, found: WorkspaceBinding): string | undefined {
  const isSame = recorded.inode === found.inode && recorded.birthtimeNs === found.birthtimeNs;
  return isSame ? undefined : "is another directory at the same path";
}

/** What both sides have to be known by; `isEmpty` where that is nothing. */
function sharedIdentity(
  recorded: WorkspaceBinding,
  found: WorkspaceBinding,
): { isEmpty: boolean; difference?: string } {
  const [commits, remote] = [recorded.firstCommits, recorded.remote];
  const byCommits = commits !== undefined && found.firstCommits !== undefined;
  const byRemote = remote !== undefined && found.remote !== undefined;
  // A merge of another history adds first commits and takes none away.
  if (byCommits && !commits.every((commit) => found.firstCommits?.includes(commit))) {
    const [was, is] = [commits.join(", "), found.firstCommits?.join(", ")];
    return {
      isEmpty: false,
      difference: `is another repository: it begins with ${is}, and began with ${was}`,
    };
  }
  if (byRemote && remote !== found.remote) {
    return { isEmpty: false, difference: `is a clone of ${found.remote}, and was one of ${remote}` };
  }
  return { isEmpty: !byCommits && !byRemote };
}

function differenceOfHead(recorded: WorkspaceBinding, found: WorkspaceBinding): string | undefined {
  const { branch, head } = recorded;
  if (branch === found.branch && (branch !== undefined || head === found.head)) return undefined;
  return `is ${headWords(found)}, and was ${headWords(recorded)}`;
}

function headWords({ branch, head }: WorkspaceBinding): string {
  return branch === undefined ? `detached at commit ${head ?? "none"}` : `on branch ${branch}`;
}

function placeWords(pathInRepository: string): string {
  return pathInRepository === "" ? "the top of its repository" : `${pathInRepository} in its repository`;
}

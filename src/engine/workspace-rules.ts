import { dirname, join, sep } from "node:path";
import type { Disk } from "../host/index.ts";
import { isDiskError, isUtf8, readWhole, utf8Text } from "../host/index.ts";
import type { WorkspaceBinding } from "../model/facts.ts";

/** What a project tells agents about itself: `AGENTS.md` and its like, from the workspace up to its repository's top. */

const names = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"];
const rulesBytesMax = 64 * 1024;

/** The rules, nearest first; empty where there are none. A file that is no text, or leads outside, is passed over. */
export async function readRules(disk: Disk, workspace: WorkspaceBinding): Promise<string> {
  const found: string[] = [];
  const seen = new Set<string>();
  const top = topOf(workspace);
  for (const directory of directoriesUp(workspace.root, top)) {
    for (const name of names) {
      const path = join(directory, name);
      const rules = await readRulesFile(disk, path, top);
      // One file is often a link to, or a copy of, the other.
      if (rules === undefined || seen.has(rules)) continue;
      seen.add(rules);
      found.push(`Rules from ${path}:\n\n${rules}`);
    }
  }
  return found.join("\n\n");
}

/** The top of the repository, or the workspace itself. */
function topOf({ root, pathInRepository = "" }: WorkspaceBinding): string {
  const depth = pathInRepository === "" ? 0 : pathInRepository.split("/").length;
  return Array.from({ length: depth }).reduce<string>((path) => dirname(path), root);
}

function directoriesUp(from: string, top: string): string[] {
  return from === top || dirname(from) === from ? [from] : [from, ...directoriesUp(dirname(from), top)];
}

async function readRulesFile(disk: Disk, path: string, top: string): Promise<string | undefined> {
  try {
    const real = await disk.realPath(path);
    if (!real.startsWith(top === sep ? top : top + sep)) return undefined;
    const bytes = await readWhole(disk, real, rulesBytesMax);
    const text = bytes === undefined || !isUtf8(bytes) ? "" : utf8Text(bytes).trim();
    return text === "" ? undefined : text;
  } catch (error) {
    // Absent, too large, a directory, or not ours to read: a project without rules.
    if (isDiskError(error)) return undefined;
    throw error;
  }
}

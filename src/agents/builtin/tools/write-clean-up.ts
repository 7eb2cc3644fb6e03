import { dirname } from "node:path";
import { isDiskError } from "../../../host/index.ts";
import type { OperationPlace } from "../../../model/agent.ts";
import type { Json } from "../../../model/values.ts";
import type { CheckedEvidence } from "./checked-evidence.ts";
import { isWithin, resolveInside } from "./confinement.ts";
import type { FileHost } from "./file-host.ts";
import { claimedPath, removeIfThere, stagedPath, voidedPath } from "./staging.ts";

/**
 * Removes what an operation staged. Without evidence it never started and died while it prepared; then its arguments
 * say where: in the directory of the target, or in the one above it that was the deepest at the time.
 */
export async function cleanUpWrite(
  host: FileHost,
  place: OperationPlace,
  evidence: CheckedEvidence | undefined,
  args: Json | undefined,
): Promise<void> {
  const candidates =
    evidence === undefined ? await stagedCandidates(host, place, args) : [evidence.staged?.path ?? ""];
  for (const path of candidates.filter((candidate) => candidate !== "")) {
    for (const name of [path, claimedPath(path), voidedPath(path)]) await remove(host, name);
  }
}

/** Litter that cannot be removed is left: the operation's outcome does not depend on it. */
async function remove(host: FileHost, path: string): Promise<void> {
  try {
    if (await removeIfThere(host.disk, path)) await host.disk.syncDirectory(dirname(path));
  } catch (error) {
    if (!isDiskError(error)) throw error;
  }
}

async function stagedCandidates(
  host: FileHost,
  place: OperationPlace,
  args: Json | undefined,
): Promise<string[]> {
  const path = pathOf(args);
  const target = path === undefined ? undefined : await resolveInside(host.disk, place, path);
  if (target?.inside !== true) return [];
  const candidates: string[] = [];
  for (let at = dirname(target.path); isWithin(place.workspace, at); at = dirname(at)) {
    candidates.push(stagedPath(at, place.operation));
    if (dirname(at) === at) break;
  }
  return candidates;
}

/** The `path` argument of a file tool, where there is one. */
export function pathOf(args: Json | undefined): string | undefined {
  const isObject = typeof args === "object" && args !== null && !Array.isArray(args);
  return isObject && typeof args["path"] === "string" ? args["path"] : undefined;
}

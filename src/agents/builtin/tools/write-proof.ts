/** What can be proven of a checked write after a death. See `checked-write.ts` for why. */
import { dirname } from "node:path";
import { isDiskError, isExhausted, type Disk } from "../../../host/index.ts";
import type { Proof } from "../../../model/agent.ts";
import type { Json } from "../../../model/values.ts";
import { isSameFile, type CheckedEvidence } from "./checked-evidence.ts";
import { shownPath } from "./confinement.ts";
import { observeFile, withFile, type ObservedFile } from "./file-bytes.ts";
import type { FileHost } from "./file-host.ts";
import { explain, succeeded } from "./results.ts";
import { claimedPath, voidedPath } from "./staging.ts";

/**
 * Judges by what an earlier recovery decided, then by the target, then by the staged file; what a failing disk hides
 * is unknown.
 */
export async function proveWrite(
  host: FileHost,
  workspace: string,
  tool: "write" | "edit",
  evidence: CheckedEvidence,
): Promise<Proof> {
  try {
    const { staged } = evidence;
    if (staged !== undefined && (await isVoid(host.disk, staged.path))) return neverBegan;
    const target = await lookAtTarget(host, evidence.path);
    const executed = provesExecution(target, evidence);
    if (executed !== undefined) {
      await makeDurable(host.disk, evidence.path);
      return knownWrite(`${tool} ${shownPath(workspace, evidence.path)}`, executed);
    }
    if (staged !== undefined && (await makeVoid(host.disk, staged.path))) return neverBegan;
    return await unknownWrite(host.disk, evidence, target);
  } catch (error) {
    // What only lacks space or the like can be told another time.
    if (!isDiskError(error) || isExhausted(error)) throw error;
    return {
      proven: "unknown",
      reason: `The disk does not tell: ${explain(error)}, at ${error.path}.`,
      evidence: { path: evidence.path, expected: evidence.sha256 ?? null, error: error.code },
    };
  }
}

type Target = ObservedFile | { readonly kind: "absent" | "directory" | "link" | "other" };

async function lookAtTarget(host: FileHost, path: string): Promise<Target> {
  const stat = await host.disk.statLink(path);
  if (stat === undefined) return { kind: "absent" };
  return stat.kind === "file" ? await observeFile(host, path) : { kind: stat.kind };
}

interface Execution {
  readonly by: "identity" | "content";
  readonly changedSince: boolean;
}

function provesExecution(target: Target, evidence: CheckedEvidence): Execution | undefined {
  if ("kind" in target) return undefined;
  const hasContent = target.evidence.sha256 === evidence.sha256;
  if (evidence.staged !== undefined && isSameFile(target.stat, evidence.staged)) {
    return { by: "identity", changedSince: !hasContent };
  }
  return hasContent ? { by: "content", changedSince: false } : undefined;
}

/** What is about to be called known must not be undone by a power cut: the death may have come before the sync. */
async function makeDurable(disk: Disk, path: string): Promise<void> {
  await withFile(disk, path, "read", (file) => file.sync());
  await disk.syncDirectory(dirname(path));
}

const neverBegan: Proof = { proven: "not_executed", details: { proven_by: "staged_file_present" } };

/** True where an earlier recovery decided so. */
async function isVoid(disk: Disk, staged: string): Promise<boolean> {
  return (await disk.statLink(voidedPath(staged))) !== undefined;
}

/**
 * Takes away what the effect would begin with; false where it has gone already. Needs no sync: a power cut that undoes
 * it ends whoever might begin, and brings back the name that proves the same.
 */
async function makeVoid(disk: Disk, staged: string): Promise<boolean> {
  try {
    await disk.rename(staged, voidedPath(staged));
  } catch (error) {
    if (isDiskError(error, "ENOENT", "ENOTDIR")) return false;
    throw error;
  }
  return true;
}

function knownWrite(what: string, execution: Execution): Proof {
  const since = execution.changedSince ? " The file has been changed by somebody else since." : "";
  return {
    proven: "known",
    result: succeeded(`${what}: done, as was found after an interruption.${since}`, {
      proven_by: execution.by,
      changed_since: execution.changedSince,
    }),
  };
}

async function unknownWrite(disk: Disk, evidence: CheckedEvidence, target: Target): Promise<Proof> {
  const staged = evidence.staged;
  const claimed = staged === undefined ? undefined : await disk.statLink(claimedPath(staged.path));
  const found: Json = "kind" in target ? { kind: target.kind } : { kind: "file", ...target.evidence };
  return {
    proven: "unknown",
    reason: "The target neither is nor holds the new content, and what was staged for it is gone.",
    evidence: {
      path: evidence.path,
      method: evidence.method,
      before: evidence.target ?? { kind: "absent" },
      expected: evidence.sha256 ?? null,
      found,
      staged: staged === undefined ? null : { ...staged, present: false, claimed: claimed !== undefined },
      equals_before: !("kind" in target) && target.evidence.sha256 === evidence.target?.sha256,
    },
  };
}

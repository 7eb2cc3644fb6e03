/** What can be proven of a delete after a death. See `delete.ts` for why. */
import { dirname } from "node:path";
import { isDiskError, isExhausted, type Disk } from "../../../host/index.ts";
import type { OperationPlace, Proof } from "../../../model/agent.ts";
import type { FileEvidence } from "../../../model/facts.ts";
import { isSameFile, type CheckedEvidence } from "./checked-evidence.ts";
import { shownPath } from "./confinement.ts";
import type { FileHost } from "./file-host.ts";
import { explain, succeeded } from "./results.ts";
import { removeIfThere } from "./staging.ts";
import { identify, trashPath } from "./trash.ts";

/** Judges by the target and by what lies in the trash; what a failing disk hides is unknown. */
export async function proveDelete(
  host: FileHost,
  place: OperationPlace,
  evidence: CheckedEvidence,
): Promise<Proof> {
  try {
    const target = await identify(host, evidence.path);
    const trashed = await identify(host, trashPath(place));
    return await judge(host.disk, place, { evidence, target, trashed });
  } catch (error) {
    // What only lacks space or the like can be told another time.
    if (!isDiskError(error) || isExhausted(error)) throw error;
    return {
      proven: "unknown",
      reason: `The disk does not tell: ${explain(error)}, at ${error.path}.`,
      evidence: { path: evidence.path, error: error.code },
    };
  }
}

interface Found {
  evidence: CheckedEvidence;
  target: FileEvidence | undefined;
  trashed: FileEvidence | undefined;
}

async function judge(disk: Disk, place: OperationPlace, found: Found): Promise<Proof> {
  const { evidence, target, trashed } = found;
  const before = evidence.target;
  const isTarget = (file: FileEvidence | undefined): boolean =>
    file !== undefined && before !== undefined && isSameFile(file, before);
  if (isTarget(target) && target?.sha256 === before?.sha256) {
    if (isTarget(trashed)) {
      await removeIfThere(disk, trashPath(place));
      await disk.syncDirectory(place.trash);
    }
    return { proven: "not_executed", details: { proven_by: "target_present" } };
  }
  if (isTarget(trashed) || target === undefined) {
    await makeDurable(disk, place, evidence);
    return known(place, evidence, { by: target === undefined ? "target_absent" : "trash", again: target });
  }
  return {
    proven: "unknown",
    reason: "Something else is in the file's place, and the file is not in the trash.",
    evidence: {
      path: evidence.path,
      method: evidence.method,
      before: before ?? null,
      found: target,
      trash: trashed ?? null,
    },
  };
}

/** What is about to be called known must not be undone by a power cut: the death may have come before the sync. */
async function makeDurable(disk: Disk, place: OperationPlace, evidence: CheckedEvidence): Promise<void> {
  if ((await disk.stat(place.trash)) !== undefined) await disk.syncDirectory(place.trash);
  let directory = dirname(evidence.path);
  while ((await disk.stat(directory)) === undefined) directory = dirname(directory);
  await disk.syncDirectory(directory);
}

function known(
  place: OperationPlace,
  evidence: CheckedEvidence,
  proof: { by: string; again: FileEvidence | undefined },
): Proof {
  const since = proof.again === undefined ? "" : " Somebody has put another file there since.";
  const shown = shownPath(place.workspace, evidence.path);
  return {
    proven: "known",
    result: succeeded(`delete ${shown}: done, as was found after an interruption.${since}`, {
      proven_by: proof.by,
      changed_since: proof.again !== undefined,
    }),
  };
}

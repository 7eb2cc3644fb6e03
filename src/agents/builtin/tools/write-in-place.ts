/** Writing into a file that cannot be replaced. It is not atomic; a failure in the middle puts the old content back. */
import { isDiskError, type DiskFile, writeAll } from "../../../host/index.ts";
import type { EffectResult } from "../../../model/agent.ts";
import type { CheckedEvidence } from "./checked-evidence.ts";
import type { PlannedContent } from "./checked-write.ts";
import { observeFile, withFile } from "./file-bytes.ts";
import type { FileHost } from "./file-host.ts";
import { resultOf } from "./pure-tool.ts";
import { changedUnderneath, explain, failed, succeeded } from "./results.ts";

/** Old content up to this size is kept at hand while the new one is written. */
const restoreBytesMax = 64 * 1024 * 1024;

/**
 * Writes the content into the target and syncs it. Rejects with a DiskError where writing failed and the old content
 * could not be put back either.
 */
export async function writeInPlace(
  host: FileHost,
  shown: string,
  evidence: CheckedEvidence,
  planned: PlannedContent,
): Promise<EffectResult> {
  let old: Uint8Array | undefined;
  const checked = await resultOf(async () => {
    const now = await observeFile(host, evidence.path, restoreBytesMax);
    if (now.evidence.sha256 !== evidence.target?.sha256) return changedUnderneath(shown);
    if (now.stat.links > 1) return hasOtherNames(shown);
    old = now.bytes;
    return succeeded("");
  });
  if (checked.outcome !== "ok") return checked;
  return await withFile(host.disk, evidence.path, "update", async (file) => {
    const { inode } = await file.stat();
    if (inode !== evidence.target?.inode) return changedUnderneath(shown);
    try {
      await overwrite(file, planned.bytes);
      return succeeded(planned.summary);
    } catch (error) {
      if (!isDiskError(error) || old === undefined) throw error;
      await overwrite(file, old);
      return failed(`${shown} could not be written: ${explain(error)}. Its old content was put back.`, {
        reason: error.code,
      });
    }
  });
}

async function overwrite(file: DiskFile, bytes: Uint8Array): Promise<void> {
  await writeAll(file, bytes, 0);
  await file.truncate(bytes.length);
  await file.sync();
}

/** The result for a file that cannot be replaced, and that must not be written in place because of its other names. */
function hasOtherNames(shown: string): EffectResult {
  return failed(
    `${shown} cannot be replaced, and has other names (hard links) that writing into it would change too.`,
    { reason: "hard_links" },
  );
}

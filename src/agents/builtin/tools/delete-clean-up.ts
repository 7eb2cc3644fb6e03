import { isDiskError } from "../../../host/index.ts";
import type { OperationPlace } from "../../../model/agent.ts";
import type { Json } from "../../../model/values.ts";
import { isSameFile, type CheckedEvidence } from "./checked-evidence.ts";
import { resolveInside } from "./confinement.ts";
import type { FileHost } from "./file-host.ts";
import { removeIfThere, removeQuietly } from "./staging.ts";
import { identify, partialPath, trashPath } from "./trash.ts";
import { pathOf } from "./write-clean-up.ts";

/** What is known of an operation that may have left a copy in the trash. */
export interface Leftover {
  evidence: CheckedEvidence | undefined;
  args: Json | undefined;
}

/** A copy in the trash is removed only where the file it was made of is still in its place; else it is the file. */
export async function cleanUpDelete(
  host: FileHost,
  place: OperationPlace,
  { evidence, args }: Leftover,
): Promise<void> {
  const trashed = trashPath(place);
  try {
    await removeIfThere(host.disk, partialPath(trashed));
    const copy = await identify(host, trashed);
    const path = evidence === undefined ? await targetOf(host, place, args) : evidence.path;
    const target = path === undefined ? undefined : await identify(host, path);
    if (copy === undefined || target === undefined || copy.inode === target.inode) return;
    const isUntouched =
      evidence === undefined
        ? copy.sha256 === target.sha256
        : evidence.target !== undefined && isSameFile(target, evidence.target);
    if (isUntouched) await removeQuietly(host.disk, trashed);
  } catch (error) {
    // Litter in the session's own folder; the operation's outcome does not depend on it.
    if (!isDiskError(error)) throw error;
  }
}

async function targetOf(
  host: FileHost,
  place: OperationPlace,
  args: Json | undefined,
): Promise<string | undefined> {
  const path = pathOf(args);
  if (path === undefined) return undefined;
  const target = await resolveInside(host.disk, place, path, { keepLink: true });
  return target.inside ? target.path : undefined;
}

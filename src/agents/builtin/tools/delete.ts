/**
 * `delete`: a file into the session's trash, by rename; onto another file system by a copy that is durable before the
 * start, then unlink. A link is deleted itself, never what it points at.
 *
 * Proof: the file in the trash under its own identity, or no target, is execution; a target that still is the recorded
 * file is none. Where both are there (a power cut may undo one half of a rename between directories) the target
 * counts, and the second name in the trash goes.
 */
import { dirname } from "node:path";
import * as z from "zod/mini";
import { isDiskError, type DiskError } from "../../../host/index.ts";
import type { EffectResult, OperationPlace, Prepared, Tool, ToolRun } from "../../../model/agent.ts";
import type { FileEvidence } from "../../../model/facts.ts";
import { declareArguments } from "./arguments.ts";
import { checkedOf, type CheckedEvidence } from "./checked-evidence.ts";
import { resolveInside, shownPath, type InsidePath } from "./confinement.ts";
import { cleanUpDelete } from "./delete-clean-up.ts";
import { proveDelete } from "./delete-proof.ts";
import type { FileHost } from "./file-host.ts";
import { resultOf, timed } from "./pure-tool.ts";
import { canceled, changedUnderneath, explain, failed, notReady, succeeded } from "./results.ts";
import { copyToTrash, ensureTrash, identify, trashPath } from "./trash.ts";

const deleteArguments = declareArguments(
  z.strictObject({ path: z.string().check(z.describe("File to delete, relative to the workspace.")) }),
);

/** The tool `delete`. */
export function deleteTool(host: FileHost): Tool {
  return {
    name: "delete",
    description:
      "Deletes one file or link of the workspace; it is kept in the session's trash. Directories are not deleted.",
    parameters: deleteArguments.parameters,
    effect: "checked",
    capability: "delete",
    prepare: (run) => prepareDelete(host, run),
    perform: (run, evidence) => timed(host, () => performDelete(host, run, checkedOf(evidence))),
    prove: (run, evidence) => proveDelete(host, run.place, checkedOf(evidence)),
    cleanUp: (place, evidence, args) =>
      cleanUpDelete(host, place, {
        evidence: evidence === undefined ? undefined : checkedOf(evidence),
        args,
      }),
  };
}

async function prepareDelete(host: FileHost, run: ToolRun): Promise<Prepared> {
  const parsed = deleteArguments.parse(run.args);
  if (!parsed.ok) return notReady(failed(parsed.message, { reason: "bad_arguments" }));
  if (run.signal.aborted) return notReady(canceled());
  const { path } = parsed.value;
  const target = await resolveInside(host.disk, run.place, path, { keepLink: true });
  if (!target.inside) return notReady(failed(target.message, { reason: "refused" }));
  const refusal = refuseKind(target);
  if (refusal !== undefined) return notReady(refusal);
  try {
    return { ready: true, evidence: await takeEvidence(host, run.place, target) };
  } catch (error) {
    if (!isDiskError(error)) throw error;
    return notReady(failed(`${target.shown} was not deleted: ${explain(error)}.`, { reason: error.code }));
  }
}

function refuseKind(target: InsidePath): EffectResult | undefined {
  const { shown, stat } = target;
  if (stat === undefined) return failed(`${shown} does not exist.`, { reason: "missing" });
  if (stat.kind === "directory") {
    return failed(`${shown} is a directory; delete removes single files only.`, { reason: "directory" });
  }
  return stat.kind === "other"
    ? failed(`${shown} is neither a file nor a link and is left alone.`, { reason: "not_a_file" })
    : undefined;
}

async function takeEvidence(
  host: FileHost,
  place: OperationPlace,
  target: InsidePath,
): Promise<CheckedEvidence> {
  const found = await identify(host, target.path);
  const common = { class: "checked", path: target.path } as const;
  const trash = await ensureTrash(host.disk, place);
  if (found === undefined || target.stat === undefined || trash?.dev === found.dev) {
    return { ...common, method: "trash", ...(found !== undefined && { target: found }) };
  }
  const source = { path: target.path, stat: target.stat };
  const staged = await copyToTrash(host, source, trashPath(place));
  return { ...common, method: "trash_copy", target: found, staged };
}

async function performDelete(host: FileHost, run: ToolRun, evidence: CheckedEvidence): Promise<EffectResult> {
  const { path } = evidence;
  const shown = shownPath(run.place.workspace, path);
  const checked = await resultOf(async () => {
    if (run.signal.aborted) return canceled();
    const now = await identify(host, path);
    const isThere = now !== undefined && (await host.disk.realPath(dirname(path))) === dirname(path);
    return isThere && isUnchanged(now, evidence) ? succeeded("") : changedUnderneath(shown);
  });
  if (checked.outcome !== "ok") return checked;
  const refusal = await moveAway(host, run.place, evidence);
  if (refusal !== undefined) {
    return failed(`${shown} was not deleted: ${explain(refusal)}.`, { reason: refusal.code });
  }
  return succeeded(`Deleted ${shown}. It is kept in the session's trash.`, {
    trash: run.place.operation,
  });
}

/** The very same file: an equal one in its place is somebody else's, and no proof would know it again. */
function isUnchanged(now: FileEvidence, { target }: CheckedEvidence): boolean {
  const isSame = now.inode === target?.inode && now.birthtimeNs === target.birthtimeNs;
  return isSame && now.sha256 === target.sha256;
}

/** The one effect, durable. Resolves to the DiskError by which it was refused, having changed nothing. */
async function moveAway(
  host: FileHost,
  place: OperationPlace,
  evidence: CheckedEvidence,
): Promise<DiskError | undefined> {
  const { disk } = host;
  const { path } = evidence;
  try {
    if (evidence.method === "trash") await renameOrCopy(host, place, path);
    else await disk.remove(path);
  } catch (error) {
    if (isDiskError(error) && error.code !== "EIO") return error;
    throw error;
  }
  // First where it is now, then where it was: a power cut between them may leave two names, never none.
  await disk.syncDirectory(place.trash);
  await disk.syncDirectory(dirname(path));
  return undefined;
}

async function renameOrCopy(host: FileHost, place: OperationPlace, path: string): Promise<void> {
  const trashed = trashPath(place);
  try {
    await host.disk.rename(path, trashed);
  } catch (error) {
    // Two mounts of one device. The copy is another inode, so in the trash it proves nothing until the target is gone.
    const stat = isDiskError(error, "EXDEV") ? await host.disk.statLink(path) : undefined;
    if (stat === undefined) throw error;
    await copyToTrash(host, { path, stat }, trashed);
    await host.disk.remove(path);
  }
}

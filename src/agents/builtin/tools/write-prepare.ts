/** The first half of a checked write: look, decide how, stage. */
import { dirname } from "node:path";
import { isDiskError, sha256, type Disk } from "../../../host/index.ts";
import type { EffectResult, Prepared, ToolRun } from "../../../model/agent.ts";
import { isChangedSince, type CheckedEvidence } from "./checked-evidence.ts";
import type { ContentTool } from "./checked-write.ts";
import { resolveInside, type InsidePath } from "./confinement.ts";
import { observeFile, withFile, type ObservedFile } from "./file-bytes.ts";
import type { FileHost } from "./file-host.ts";
import { canceled, changedUnderneath, explain, failed, notReady } from "./results.ts";
import { removeIfThere, stageContent, stagedPath } from "./staging.ts";

/** Checks arguments and target, stages the new content and resolves to what a proof will go by. */
export async function prepareWrite<T extends { path: string }>(
  host: FileHost,
  run: ToolRun,
  content: ContentTool<T>,
): Promise<Prepared> {
  const parsed = content.arguments.parse(run.args);
  if (!parsed.ok) return notReady(failed(parsed.message, { reason: "bad_arguments" }));
  if (run.signal.aborted) return notReady(canceled());
  const target = await resolveInside(host.disk, run.place, parsed.value.path);
  if (!target.inside) return notReady(failed(target.message, { reason: "refused" }));
  const unwritable = refuseKind(target);
  if (unwritable !== undefined) return notReady(unwritable);
  try {
    const before =
      target.stat === undefined ? undefined : await observeFile(host, target.path, content.readsBytesMax);
    if (isChangedSince(run.replaced, before?.evidence.sha256))
      return notReady(changedUnderneath(target.shown));
    const planned = content.plan(parsed.value, target.shown, before);
    if ("problem" in planned) return notReady(failed(planned.problem, { reason: planned.reason }));
    const evidence = await stage(host.disk, run.place.operation, { target, before, bytes: planned.bytes });
    return { ready: true, evidence };
  } catch (error) {
    if (!isDiskError(error)) throw error;
    return notReady(failed(`${target.shown} cannot be written: ${explain(error)}.`, { reason: error.code }));
  }
}

function refuseKind(target: InsidePath): EffectResult | undefined {
  const kind = target.stat?.kind ?? "file";
  if (kind === "file") return undefined;
  return kind === "directory"
    ? failed(`${target.shown} is a directory. Give the path of a file in it.`, { reason: "directory" })
    : failed(`${target.shown} is not a regular file and cannot be written.`, { reason: "not_a_file" });
}

interface Staging {
  target: InsidePath;
  before: ObservedFile | undefined;
  bytes: Uint8Array;
}

async function stage(
  disk: Disk,
  operation: string,
  { target, before, bytes }: Staging,
): Promise<CheckedEvidence> {
  const common = { class: "checked", path: target.path, sha256: sha256(bytes) } as const;
  if (before === undefined) {
    const { stat: _, ...staged } = await stageContent(
      disk,
      stagedPath(target.directory, operation),
      bytes,
      undefined,
    );
    return { ...common, method: "create", staged };
  }
  await requireWritable(disk, target.path);
  const staged = await stageBeside(disk, operation, target.path, { bytes, before });
  if (staged !== undefined) return { ...common, method: "replace", target: before.evidence, staged };
  return { ...common, method: "in_place", target: before.evidence };
}

/** A file that may not be written is not replaced either, though its directory would allow it. */
async function requireWritable(disk: Disk, path: string): Promise<void> {
  try {
    await withFile(disk, path, "update", async () => undefined);
  } catch (error) {
    // A program that is running can be replaced, only not be written into.
    if (!isDiskError(error, "ETXTBSY")) throw error;
  }
}

const cannotStage = ["EACCES", "EPERM", "EROFS", "ENAMETOOLONG", "ENOTSUP", "EOPNOTSUPP"];

/** Undefined where the target cannot be replaced by a file beside it without losing its place or owner. */
async function stageBeside(
  disk: Disk,
  operation: string,
  path: string,
  { bytes, before }: { bytes: Uint8Array; before: ObservedFile },
): Promise<CheckedEvidence["staged"]> {
  const directory = dirname(path);
  // A file on another device than its directory is a mount point.
  if ((await disk.stat(directory))?.dev !== before.stat.dev) return undefined;
  try {
    const name = stagedPath(directory, operation);
    const { stat, ...staged } = await stageContent(disk, name, bytes, before.stat);
    if (stat.uid === before.stat.uid && stat.gid === before.stat.gid) return staged;
    await removeIfThere(disk, name);
    return undefined;
  } catch (error) {
    if (isDiskError(error, ...cannotStage)) return undefined;
    throw error;
  }
}

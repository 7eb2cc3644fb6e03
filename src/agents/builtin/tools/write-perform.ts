/** The effect of a checked write. */
import { dirname } from "node:path";
import { isDiskError, sha256, type Disk, type DiskError } from "../../../host/index.ts";
import type { EffectResult, ToolRun } from "../../../model/agent.ts";
import type { CheckedEvidence } from "./checked-evidence.ts";
import type { ContentTool, PlannedContent } from "./checked-write.ts";
import { isWithin, shownPath } from "./confinement.ts";
import { observeFile, type ObservedFile } from "./file-bytes.ts";
import type { FileHost } from "./file-host.ts";
import { resultOf } from "./pure-tool.ts";
import { canceled, changedUnderneath, explain, failed, succeeded } from "./results.ts";
import { claimedPath, ensureDirectory, newDirectoryMode, newFileMode } from "./staging.ts";
import { writeInPlace } from "./write-in-place.ts";

/** Puts the new content in its place. What was staged stays until {@link Tool.cleanUp} where nothing was done. */
export async function performWrite<T extends { path: string }>(
  host: FileHost,
  run: ToolRun,
  content: ContentTool<T>,
  evidence: CheckedEvidence,
): Promise<EffectResult> {
  const shown = shownPath(run.place.workspace, evidence.path);
  let planned: PlannedContent | undefined;
  const refusal = await resultOf(async () => {
    if (run.signal.aborted) return canceled();
    const now = await lookAgain(host, run.place.workspace, evidence.path, content.readsBytesMax);
    if (now === "other" || now?.evidence.sha256 !== evidence.target?.sha256) return changedUnderneath(shown);
    const plan = planAgain(run, content, shown, now);
    if ("problem" in plan || sha256(plan.bytes) !== evidence.sha256) {
      return failed(`${shown}: the content is not the one that was prepared; nothing was done.`);
    }
    planned = plan;
    return succeeded(plan.summary);
  });
  if (planned === undefined) return refusal;
  return await writeBy(host, shown, evidence, planned);
}

/** The target as it is now; `other` where the path no longer leads to a file of the workspace. */
async function lookAgain(
  host: FileHost,
  workspace: string,
  path: string,
  keepBytesMax: number,
): Promise<ObservedFile | "other" | undefined> {
  const stat = await host.disk.statLink(path);
  if (stat === undefined) return undefined;
  const isPlain = stat.kind === "file" && (await host.disk.realPath(path)) === path;
  return isPlain && isWithin(workspace, path) ? await observeFile(host, path, keepBytesMax) : "other";
}

function planAgain<T>(run: ToolRun, content: ContentTool<T>, shown: string, now: ObservedFile | undefined) {
  const parsed = content.arguments.parse(run.args);
  return parsed.ok
    ? content.plan(parsed.value, shown, now)
    : { problem: parsed.message, reason: "bad_arguments" };
}

async function writeBy(
  host: FileHost,
  shown: string,
  evidence: CheckedEvidence,
  planned: PlannedContent,
): Promise<EffectResult> {
  const staged = evidence.staged;
  if (staged === undefined) return await writeInPlace(host, shown, evidence, planned);
  const lost = await resultOf(async () => {
    const found = await host.disk.statLink(staged.path);
    return found?.inode === staged.inode && found.birthtimeNs === staged.birthtimeNs
      ? succeeded("")
      : failed(`${shown}: the prepared content was removed by somebody else; nothing was done. Repeat it.`, {
          reason: "staged_lost",
        });
  });
  if (lost.outcome !== "ok") return lost;
  const parts = { shown, path: evidence.path, staged: staged.path };
  return evidence.method === "create"
    ? await create(host.disk, parts, planned)
    : await replace(host, parts, evidence, planned);
}

interface Parts {
  readonly shown: string;
  readonly path: string;
  readonly staged: string;
}

async function replace(
  host: FileHost,
  { shown, path, staged }: Parts,
  evidence: CheckedEvidence,
  planned: PlannedContent,
): Promise<EffectResult> {
  const refusal = await refusalOf(() => host.disk.rename(staged, path));
  if (refusal !== undefined) {
    if (refusal.code !== "EBUSY" && refusal.code !== "EXDEV") return notWritten(shown, refusal);
    // A mount point. The staged file must be gone for good before the target changes: while it is there it proves
    // that nothing happened.
    const kept = await refusalOf(() => host.disk.remove(staged));
    if (kept !== undefined) return notWritten(shown, kept);
    await host.disk.syncDirectory(dirname(staged));
    return await writeInPlace(host, shown, evidence, planned);
  }
  await host.disk.syncDirectory(dirname(path));
  return succeeded(planned.summary);
}

async function create(
  disk: Disk,
  { shown, path, staged }: Parts,
  planned: PlannedContent,
): Promise<EffectResult> {
  const directory = dirname(path);
  const made = await resultOf(async () => {
    await ensureDirectory(disk, directory, newDirectoryMode);
    // One of them may be somebody else's link by now.
    return (await disk.realPath(directory)) === directory ? succeeded("") : changedUnderneath(shown);
  });
  if (made.outcome !== "ok") return made;
  const claimed = claimedPath(staged);
  const unclaimed = await refusalOf(() => disk.rename(staged, claimed));
  if (unclaimed !== undefined) return notWritten(shown, unclaimed);
  await disk.syncDirectory(dirname(staged));
  const unlinked = await refusalOf(() => putInPlace(disk, claimed, path));
  if (unlinked !== undefined) {
    return unlinked.code === "EEXIST" ? changedUnderneath(shown) : notWritten(shown, unlinked);
  }
  await disk.syncDirectory(directory);
  // Only litter from here on: what is left of it, clean-up takes away.
  await refusalOf(() => disk.remove(claimed));
  await disk.syncDirectory(dirname(claimed));
  return succeeded(planned.summary);
}

const withoutLinks = ["EPERM", "EMLINK", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"];

/** Gives the file its name without replacing anything; also on file systems that know no hard links. */
async function putInPlace(disk: Disk, from: string, to: string): Promise<void> {
  try {
    await disk.link(from, to);
  } catch (error) {
    if (!isDiskError(error, ...withoutLinks)) throw error;
    // An empty file of ours takes the name, which fails where it is taken, and is then replaced.
    const reserved = await disk.open(to, "create", newFileMode);
    await reserved.close();
    try {
      await disk.rename(from, to);
    } catch (refusal) {
      await disk.remove(to);
      throw refusal;
    }
  }
}

/** The DiskError by which a step was refused, which then had no effect; EIO tells nothing and is passed on. */
async function refusalOf(step: () => Promise<void>): Promise<DiskError | undefined> {
  try {
    await step();
    return undefined;
  } catch (error) {
    if (isDiskError(error) && error.code !== "EIO") return error;
    throw error;
  }
}

function notWritten(shown: string, error: DiskError): EffectResult {
  return failed(`${shown} was not written: ${explain(error)}.`, { reason: error.code });
}

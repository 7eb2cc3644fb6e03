import { dirname } from "node:path";
import type { Repaired, RollbackAccepted } from "../model/facts.ts";
import { damagedQueue } from "./damage-errors.ts";
import { removeFolderQuietly } from "./files.ts";
import type { SessionPlace } from "./held-session.ts";
import { judgeEnd } from "./judge-end.ts";
import {
  appendForMs,
  refuseDeleted,
  releaseLease,
  requireFolder,
  takeAppendLock,
  takeLease,
} from "./lease.ts";
import { readStrictly } from "./read-log.ts";
import { readQueue } from "./read-queue.ts";
import { copyDurably, keepFile } from "./recovery-folder.ts";
import { recoverTail, type TailRecovery } from "./tail-recovery.ts";
import { onStorage } from "./write-errors.ts";

/**
 * What a person asks for: the tail recovery that taking the lease does by itself, and the one thing that it does not:
 * after a failed write that could not be undone, the readable prefix is copied to a new file, synced and renamed.
 * Nothing is touched before both files are proven; repaired twice is repaired once.
 */

/** What was done to one file; nothing where it was sound. */
export interface FileRepair {
  readonly file: "log" | "queue";
  readonly repaired?: Repaired;
}

/**
 * Repairs both files of a session that nobody runs. Rejects `busy`, damage that nothing can prove away, `rolled_back`
 * where the log is shorter than it was known to be, or a storage error.
 */
export async function repairSession(place: SessionPlace): Promise<FileRepair[]> {
  const { host, folder } = place;
  await requireFolder(host, folder);
  const lease = await takeLease(host, folder);
  try {
    const append = await takeAppendLock(host, folder, host.clock.monotonicMs() + appendForMs);
    try {
      await refuseDeleted(host, folder);
      return await onStorage(folder.root, () => repairBoth(place, { log: lease.lock, queue: append }));
    } finally {
      await append.release();
    }
  } finally {
    await releaseLease(lease);
  }
}

interface Guard {
  readonly path: string;
  readonly inode: string;
}

async function repairBoth(place: SessionPlace, guards: { log: Guard; queue: Guard }): Promise<FileRepair[]> {
  const { host, folder, keeper } = place;
  const head = await keeper.read();
  const accepted: RollbackAccepted[] = [];
  const history = await readStrictly(await place.source(), ({ facts }) => {
    for (const fact of facts) if (fact.kind === "rollback.accepted") accepted.push(fact as RollbackAccepted);
  });
  await judgeEnd(host, { folder, history, head, accepted, acceptRollback: false });
  const queue = await readQueue(host, folder, () => undefined);
  if (queue.remainder.state === "damaged") {
    throw damagedQueue({ ...queue.remainder.damage, file: folder.queue }, folder.id);
  }
  const repairs: FileRepair[] = [];
  for (const file of ["log", "queue"] as const) {
    const { scan, remainder } = file === "log" ? history : queue;
    const target = { file, path: folder[file], end: scan.end, remainder, guard: guards[file] };
    const isUnsure = (await keeper.unsureNote(head, file)) !== undefined;
    const repaired = await repairFile(place, { ...target, unsure: keeper.unsureBytes(file) }, isUnsure);
    repairs.push(repaired === undefined ? { file } : { file, repaired });
  }
  return repairs;
}

type Target = Omit<TailRecovery, "host" | "session" | "recoveryDirectory">;

async function repairFile(
  place: SessionPlace,
  target: Target,
  isUnsure: boolean,
): Promise<Repaired | undefined> {
  const { host, folder, recoveryDirectory } = place;
  const recovery = { ...target, host, session: folder.id, recoveryDirectory };
  if (!isUnsure) return await recoverTail(recovery);
  const saved = await writeAnew(recovery);
  // The new file is whole and synced; what a crash left behind its last line is mended there as everywhere.
  if (target.remainder.state === "complete") await recoverTail(recovery);
  await target.unsure.gone();
  await target.unsure.settle();
  return { kind: "repaired", action: "copied", offset: 0, bytes: target.end, saved };
}

/** Copies what is readable, but for a torn end, to a new file that takes the place of the old one. */
async function writeAnew({
  host,
  session,
  file,
  path,
  end,
  remainder,
  recoveryDirectory,
}: TailRecovery): Promise<string> {
  const folder = { path: recoveryDirectory, within: dirname(recoveryDirectory) };
  const saved = await keepFile(host, folder, { session, file, offset: 0, action: "copied" }, path);
  const kept = remainder.state === "complete" ? end + remainder.bytes.length : end;
  const temporary = `${path}.copy-${Buffer.from(host.ids.random(5)).toString("hex")}`;
  try {
    await copyDurably(host, path, temporary, kept);
    await host.disk.rename(temporary, path);
  } catch (error) {
    await removeFolderQuietly(host.disk, temporary);
    throw error;
  }
  await host.disk.syncDirectory(dirname(path));
  return saved;
}

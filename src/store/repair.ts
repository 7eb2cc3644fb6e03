import { dirname } from "node:path";
import { randomHex, removeFolderQuietly } from "../host/index.ts";
import type { Repaired } from "../model/facts.ts";
import { damagedQueue } from "./damage-errors.ts";
import { heldSession } from "./held-session.ts";
import type { Lease } from "./lease.ts";
import { appendForMs, refuseDeleted, releaseLease, takeAppendLock, takeLease } from "./lease.ts";
import type { OpenOptions, Opening, SessionPlace } from "./opening.ts";
import { logRecovery, raiseEpoch, readOpening } from "./opening.ts";
import { readQueue } from "./read-queue.ts";
import { copyDurably, keepFile } from "./recovery-folder.ts";
import { recoverTail, type TailRecovery } from "./tail-recovery.ts";
import { onStorage } from "./write-errors.ts";

/**
 * What a person asks for: the tail recovery that taking the lease does by itself, and the one thing that it does not:
 * after a failed write that could not be undone, the readable prefix is copied to a new file, synced and renamed.
 *
 *     lease, append → both files proven → mended → append given back → epoch.raised, repaired → lease.released
 *
 * Nothing is touched before both files are proven, and nobody comes between the mending and its record; repaired twice
 * is repaired once.
 */

/** What was done to one file; nothing where it was sound. */
export interface FileRepair {
  readonly file: "log" | "queue";
  readonly repaired?: Repaired;
}

/**
 * Repairs both files of a session that nobody runs, and records what was done in each. Rejects `busy`, damage that
 * nothing can prove away, `rolled_back` where the log is shorter than it was known to be, or a storage error.
 */
export async function repairSession(place: SessionPlace, options: OpenOptions): Promise<FileRepair[]> {
  const { host, folder } = place;
  const lease = await takeLease(host, folder);
  try {
    return await onStorage(folder.root, async () => {
      const mended = await mendBoth(place, lease, options);
      if (mended.log !== undefined || mended.queue !== undefined) await recordRepair(mended);
      const { log, queue } = mended;
      return [
        { file: "log", ...(log && { repaired: log }) },
        { file: "queue", ...(queue && { repaired: queue }) },
      ];
    });
  } finally {
    await releaseLease(lease);
  }
}

interface Mended {
  readonly opening: Opening;
  readonly log: Repaired | undefined;
  readonly queue: Repaired | undefined;
}

async function mendBoth(place: SessionPlace, lease: Lease, options: OpenOptions): Promise<Mended> {
  const { host, folder, keeper } = place;
  const append = await takeAppendLock(host, folder, host.clock.monotonicMs() + appendForMs);
  try {
    await refuseDeleted(host, folder);
    const opening = await readOpening(place, lease, { ...options, acceptRollback: false });
    const { scan, remainder } = await readQueue(host, folder, () => undefined);
    if (remainder.state === "damaged") {
      throw damagedQueue({ ...remainder.damage, file: folder.queue }, folder.id);
    }
    const forLog = logRecovery(opening);
    const forQueue: TailRecovery = {
      ...forLog,
      file: "queue",
      path: folder.queue,
      end: scan.end,
      remainder,
      guard: append,
      unsure: keeper.unsureBytes("queue"),
    };
    return { opening, log: await mend(opening, forLog), queue: await mend(opening, forQueue) };
  } finally {
    await append.release();
  }
}

async function mend({ place, head }: Opening, target: TailRecovery): Promise<Repaired | undefined> {
  if ((await place.keeper.unsureNote(head, target.file)) === undefined) return await recoverTail(target);
  const saved = await writeAnew(target);
  // The new file is whole and synced; what a crash left behind its last line is mended there as everywhere.
  if (target.remainder.state === "complete") await recoverTail(target);
  await target.unsure.gone();
  await target.unsure.settle();
  return { kind: "repaired", action: "copied", offset: 0, bytes: target.end, saved };
}

async function recordRepair({ opening, log, queue }: Mended): Promise<void> {
  const raised = await raiseEpoch(opening, log === undefined ? [] : [log]);
  const held = heldSession(opening, raised);
  try {
    if (queue !== undefined) await held.queue.transact((transaction) => transaction.append([queue]));
    await held.release(() => true);
  } catch (error) {
    await held.abandon();
    throw error;
  }
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
  const temporary = `${path}.copy-${randomHex(host.ids, 5)}`;
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

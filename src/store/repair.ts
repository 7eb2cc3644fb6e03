import { join } from "node:path";
import type { Disk, DiskFile } from "../host/index.ts";
import { DiskError } from "../host/index.ts";
import type { Repaired } from "../model/facts.ts";
import { storageError } from "./appender.ts";
import { makeDirectoryDurably } from "./files.ts";
import { HeadKeeper } from "./head-keeper.ts";
import { takeAppendLock, takeLease } from "./lease.ts";
import type { SessionPlace } from "./held-session.ts";
import { damagedQueue, readQueue } from "./queue-file.ts";
import { damagedLog, readStrictly } from "./read-log.ts";
import type { Remainder } from "./scan.ts";
import { recoverTail } from "./tail-recovery.ts";

/**
 * What a person asks for: the tail recovery that taking the lease does by itself, and the one thing that it does not:
 * after a failed write that could not be undone, the readable prefix is copied to a new file, synced and renamed.
 */

/** What was done to one file; nothing where it was sound. */
export interface FileRepair {
  readonly file: "log" | "queue";
  readonly repaired?: Repaired;
}

const copyChunkBytes = 1024 * 1024;

/** Repairs both files of a session that nobody runs. Rejects `busy`, or damage that nothing can prove away. */
export async function repairSession(place: SessionPlace): Promise<FileRepair[]> {
  const { host, folder } = place;
  const lease = await takeLease(host, folder);
  try {
    const append = await takeAppendLock(host, folder);
    try {
      const log = await repairLog(place, { path: lease.lock.path, inode: lease.lock.inode });
      const queue = await repairQueue(place, { path: append.path, inode: append.inode });
      return [log, queue];
    } finally {
      await append.release();
    }
  } finally {
    await lease.alive.release();
    await lease.lock.release();
  }
}

interface Guard {
  readonly path: string;
  readonly inode: string;
}

async function repairLog(place: SessionPlace, guard: Guard): Promise<FileRepair> {
  const { host, folder } = place;
  const keeper = new HeadKeeper(host, folder);
  const history = await readStrictly(await place.source(), () => undefined);
  const { scan, remainder } = history;
  if (remainder.state === "damaged") throw damagedLog({ ...remainder.damage, file: folder.log }, folder.id);
  const target = { path: folder.log, end: scan.end, remainder };
  const repaired = await repairFile(place, { keeper, guard, file: "log", ...target });
  return repaired === undefined ? { file: "log" } : { file: "log", repaired };
}

async function repairQueue(place: SessionPlace, guard: Guard): Promise<FileRepair> {
  const { host, folder } = place;
  const keeper = new HeadKeeper(host, folder);
  const { scan, remainder } = await readQueue(host, folder, () => undefined);
  if (remainder.state === "damaged") throw damagedQueue(folder.id, folder.queue, remainder.damage);
  const target = { path: folder.queue, end: scan.end, remainder };
  const repaired = await repairFile(place, { keeper, guard, file: "queue", ...target });
  return repaired === undefined ? { file: "queue" } : { file: "queue", repaired };
}

async function repairFile(
  place: SessionPlace,
  target: {
    keeper: HeadKeeper;
    guard: Guard;
    file: "log" | "queue";
    path: string;
    end: number;
    remainder: Remainder;
  },
): Promise<Repaired | undefined> {
  const { host, folder, recoveryDirectory } = place;
  const { keeper, guard, file, path, end, remainder } = target;
  const unsure = (await keeper.read())?.unsure?.some((note) => note.file === file) ?? false;
  const common = { disk: host.disk, ids: host.ids, session: folder.id, recoveryDirectory };
  if (!unsure) return await recoverTail({ ...common, path, end, remainder, guard });
  try {
    const saved = `${folder.id}-${file}-whole-${Buffer.from(host.ids.random(5)).toString("hex")}.bin`;
    await makeDirectoryDurably(host.disk, recoveryDirectory);
    await copyDurably(host.disk, path, join(recoveryDirectory, saved));
    await host.disk.syncDirectory(recoveryDirectory);
    const temporary = `${path}.copy-${Buffer.from(host.ids.random(5)).toString("hex")}`;
    await copyDurably(host.disk, path, temporary, end);
    await host.disk.rename(temporary, path);
    await host.disk.syncDirectory(folder.root);
    await keeper.note(file, undefined);
    return { kind: "repaired", action: "copied", offset: 0, bytes: end, saved };
  } catch (error) {
    throw storageError(error, path);
  }
}

/** Copies the first `bytes` of a file (all of it where absent) to a new one and syncs that. */
async function copyDurably(
  disk: Disk,
  from: string,
  to: string,
  bytes = Number.MAX_SAFE_INTEGER,
): Promise<void> {
  const source = await disk.open(from, "read");
  let target: DiskFile | undefined;
  try {
    target = await disk.open(to, "create");
    const buffer = new Uint8Array(copyChunkBytes);
    for (let done = 0; done < bytes;) {
      const count = await source.read(buffer.subarray(0, Math.min(buffer.length, bytes - done)), done);
      if (count === 0) break;
      const written = await target.write(buffer.subarray(0, count), done);
      if (written !== count) throw new DiskError("SHORT_WRITE", "write", to);
      done += count;
    }
    await target.sync();
  } finally {
    await target?.close();
    await source.close();
  }
}

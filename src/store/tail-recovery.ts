import { dirname } from "node:path";
import type { DiskFile, Host } from "../host/index.ts";
import { DiskError, equalBytes, readAt } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
import type { Repaired } from "../model/facts.ts";
import { keepBytes } from "./recovery-folder.ts";
import type { Remainder } from "./scan.ts";
import { takeBack, type UnsureBytes } from "./take-back.ts";
import { changedMeanwhile, durabilityUnknown, fenced, onStorage, storageError } from "./write-errors.ts";

/**
 * Tail recovery: part of taking the lease (log), of every append that finds the tail not as it left it (queue), and
 * of `session repair`. A remainder that nobody can have acknowledged is completed or cut; everything else is left alone.
 *
 *     complete   write the newline → sync → committed
 *     torn       keep the bytes → cut in place and sync
 *
 * It dies at any step without harm: what is left is again a remainder of one of the two kinds, or none.
 */

/** What is to be mended, and under which lock. */
export interface TailRecovery {
  readonly host: Host;
  readonly session: string;
  readonly file: "log" | "queue";
  readonly path: string;
  /** Where its last good line ends. */
  readonly end: number;
  readonly remainder: Remainder;
  readonly guard: { readonly path: string; readonly inode: string };
  readonly unsure: UnsureBytes;
  /** Where the original bytes are kept. */
  readonly recoveryDirectory: string;
}

const newline = Uint8Array.of(0x0a);

/**
 * Mends the tail and resolves to the fact that says so; to undefined where nothing is to be mended. Rejects where the
 * remainder is damage, where the file or the lock is not as it was (`fenced`), or where the disk fails.
 */
export async function recoverTail(recovery: TailRecovery): Promise<Repaired | undefined> {
  const { remainder, end, path } = recovery;
  switch (remainder.state) {
    case "none":
      return undefined;
    case "complete":
      await onStorage(path, () => completeLine(recovery, remainder.bytes));
      return { kind: "repaired", action: "newline", offset: end, bytes: remainder.bytes.length };
    case "torn": {
      const saved = await onStorage(path, () => keepAndCut(recovery, remainder.bytes));
      return { kind: "repaired", action: "cut", offset: end, bytes: remainder.bytes.length, saved };
    }
    case "damaged":
      throw new HoldfastError("internal", `${path} is damaged and was handed to tail recovery`);
  }
}

async function completeLine(recovery: TailRecovery, bytes: Uint8Array): Promise<void> {
  const { host, path, end, guard } = recovery;
  const file = await host.disk.open(path, "append");
  try {
    const { size } = await file.stat();
    const lock = await host.disk.stat(guard.path);
    if (size !== end + bytes.length || lock?.inode !== guard.inode) throw changedMeanwhile(path);
    if (!equalBytes(await readAt(file, end, bytes.length), bytes)) throw changedMeanwhile(path);
    // A newline that does not come leaves the remainder as it was: nothing is lost, and nothing to be undone.
    if ((await file.write(newline)) !== 1) throw new DiskError("SHORT_WRITE", "write", path);
    await syncLine(recovery, file, bytes);
  } finally {
    await file.close();
  }
}

/** The sync may have lost the line, which no sync before it can have made durable: so the line must go. */
async function syncLine(recovery: TailRecovery, file: DiskFile, bytes: Uint8Array): Promise<void> {
  const { host, session, path, end, guard, unsure } = recovery;
  try {
    await file.sync();
  } catch (error) {
    await unsure.note(end);
    const line = Buffer.concat([bytes, newline]);
    try {
      await keep(recovery, line);
    } catch (cause) {
      throw durabilityUnknown(session, cause);
    }
    const taken = await takeBack({ disk: host.disk, path, size: end, bytes: line, guard });
    if (taken.state === "unsure") throw durabilityUnknown(session, taken.cause);
    if (taken.state === "foreign") throw fenced(session, "something else stands where its last line was");
    await unsure.gone();
    throw storageError(error, path);
  }
}

async function keepAndCut(recovery: TailRecovery, bytes: Uint8Array): Promise<string> {
  const { host, path, end, guard } = recovery;
  const saved = await keep(recovery, bytes);
  if (!(await host.disk.cutTail({ path, size: end, bytes, guard }))) throw changedMeanwhile(path);
  return saved;
}

function keep(recovery: TailRecovery, bytes: Uint8Array): Promise<string> {
  const { host, session, file, end, recoveryDirectory } = recovery;
  const folder = { path: recoveryDirectory, within: dirname(recoveryDirectory) };
  return keepBytes(host, folder, { session, file, offset: end, action: "cut" }, bytes);
}

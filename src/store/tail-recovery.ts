import { basename, join } from "node:path";
import type { Disk, DiskFile, Ids } from "../host/index.ts";
import { DiskError } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
import type { Repaired } from "../model/facts.ts";
import { storageError } from "./appender.ts";
import { createDurably, makeDirectoryDurably } from "./files.ts";
import type { Remainder } from "./scan.ts";

/**
 * Tail recovery: part of taking the lease (log), of every append that finds the tail not as it left it (queue), and
 * of `session repair`. A remainder that nobody can have acknowledged is completed or cut; everything else is left alone.
 */

/** What is to be mended, and under which lock. */
export interface TailRecovery {
  readonly disk: Disk;
  readonly ids: Ids;
  readonly session: string;
  /** The file, and where its last good line ends. */
  readonly path: string;
  readonly end: number;
  readonly remainder: Remainder;
  readonly guard: { readonly path: string; readonly inode: string };
  /** Where the original bytes are kept. */
  readonly recoveryDirectory: string;
}

/**
 * Mends the tail and resolves to the fact that says so; to undefined where nothing is to be mended. Rejects where the
 * remainder is damage, where the lock was lost, or where the disk fails.
 */
export async function recoverTail(recovery: TailRecovery): Promise<Repaired | undefined> {
  const { remainder, end } = recovery;
  switch (remainder.state) {
    case "none":
      return undefined;
    case "complete":
      await completeLine(recovery);
      return { kind: "repaired", action: "newline", offset: end, bytes: remainder.bytes.length };
    case "torn": {
      const saved = await saveAndCut(recovery, remainder.bytes);
      return { kind: "repaired", action: "cut", offset: end, bytes: remainder.bytes.length, saved };
    }
    case "damaged":
      throw new HoldfastError("internal", `${recovery.path} is damaged and was handed to tail recovery`);
  }
}

async function completeLine(recovery: TailRecovery): Promise<void> {
  const { disk, path } = recovery;
  let file: DiskFile | undefined;
  try {
    file = await disk.open(path, "append");
    if ((await file.write(Uint8Array.of(0x0a))) !== 1) throw new DiskError("SHORT_WRITE", "write", path);
    await file.sync();
  } catch (error) {
    throw storageError(error, path);
  } finally {
    await file?.close();
  }
}

async function saveAndCut(recovery: TailRecovery, bytes: Uint8Array): Promise<string> {
  const { disk, ids, session, path, end, guard, recoveryDirectory } = recovery;
  const random = Buffer.from(ids.random(5)).toString("hex");
  const saved = `${session}-${basename(path, ".jsonl")}-${end}-${random}.bin`;
  let cut: boolean;
  try {
    await makeDirectoryDurably(disk, recoveryDirectory);
    await createDurably(disk, join(recoveryDirectory, saved), bytes);
    await disk.syncDirectory(recoveryDirectory);
    cut = await disk.cutTail({ path, size: end, bytes, guard });
  } catch (error) {
    throw storageError(error, path);
  }
  if (!cut) {
    throw new HoldfastError("fenced", `${path} changed while its tail was being recovered`, {
      hint: "Another process writes it. Run the same command again.",
    });
  }
  return saved;
}

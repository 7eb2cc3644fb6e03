import { dirname, join } from "node:path";
import type { Host } from "../host/index.ts";
import {
  isDiskError,
  isUtf8,
  makeDirectoryDurably,
  randomHex,
  readWhole,
  removeQuietly,
  utf8Bytes,
  utf8Text,
  writeDurably,
} from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
import { isId, makeId } from "../model/ids.ts";
import { onStorage, storageError } from "./write-errors.ts";

/**
 * The state directory and its identity. `state.json` names a random store id and its own inode: a copy of the whole
 * directory has another inode, so two live copies never both run a session.
 */

/** Who this store is. */
export interface StoreIdentity {
  readonly store: string;
  readonly device: string;
}

interface StateFile extends StoreIdentity {
  readonly v: 1;
  readonly inode: string;
}

const stateBytesMax = 4096;

/** Reads the identity, or makes one in a new directory. Rejects `store_copied`, `unsafe_storage` or a storage error. */
export async function openIdentity(
  host: Host,
  directory: string,
  options: { singleWriter: boolean },
): Promise<StoreIdentity> {
  const path = join(directory, "state.json");
  const found = await readState(host, path);
  await refuseUnsafe(host, directory, options.singleWriter);
  await refuseWithoutLocks(host, path);
  if (found === undefined) return await makeIdentity(host, directory, path);
  await refuseCopied(host, directory, found);
  // Whoever made it may have died before its name was durable, and the epochs of sessions will name it.
  await onStorage(directory, () => host.disk.syncDirectory(directory));
  return { store: found.store, device: found.device };
}

/** Rejects as {@link openIdentity} does where the directory may not be written; writes nothing, and makes no identity. */
export async function checkIdentity(
  host: Host,
  directory: string,
  options: { singleWriter: boolean },
): Promise<void> {
  const found = await readState(host, join(directory, "state.json"));
  await refuseUnsafe(host, directory, options.singleWriter);
  if (found !== undefined) await refuseCopied(host, directory, found);
}

async function refuseCopied(host: Host, directory: string, found: StateFile): Promise<void> {
  const path = join(directory, "state.json");
  const stat = await onStorage(path, () => host.disk.stat(path));
  if (stat?.inode === found.inode) return;
  throw new HoldfastError(
    "store_copied",
    `${directory} is a copy of another state directory (store ${found.store})`,
    {
      hint: "Only one of the two may run its sessions. Give this one an identity of its own with: holdfast store adopt",
    },
  );
}

/** Gives a copied directory a new store id; resolves to the old and the new one. The same ids where it is no copy. */
export async function adoptStore(
  host: Host,
  directory: string,
  options: { singleWriter: boolean },
): Promise<{ from: string; to: string }> {
  const path = join(directory, "state.json");
  const found = await readState(host, path);
  if (found === undefined) {
    throw new HoldfastError("not_found", `${directory} holds no store`, {
      hint: "Name the copied directory with --state-dir.",
    });
  }
  await refuseUnsafe(host, directory, options.singleWriter);
  return await onStorage(path, async () => {
    const { disk } = host;
    if ((await disk.stat(path))?.inode === found.inode) {
      // Whoever adopted it may have died before the new name was durable.
      await disk.syncDirectory(directory);
      return { from: found.store, to: found.store };
    }
    const { temporary, state } = await stageIdentity(host, directory);
    await disk.rename(temporary, path);
    await disk.syncDirectory(directory);
    return { from: found.store, to: state.store };
  });
}

async function makeIdentity(host: Host, directory: string, path: string): Promise<StoreIdentity> {
  const { disk } = host;
  try {
    await makeDirectoryDurably(disk, directory);
    const { temporary, state } = await stageIdentity(host, directory);
    try {
      await disk.link(temporary, path);
    } catch (error) {
      if (!isDiskError(error, "EEXIST")) throw error;
    }
    await disk.remove(temporary);
    await disk.syncDirectory(directory);
    // Two processes may have made one at once: the first link stands.
    const { store, device } = (await readState(host, path)) ?? state;
    return { store, device };
  } catch (error) {
    throw error instanceof HoldfastError ? error : cannotUse(directory, error);
  }
}

/** Writes a state file that names its own inode, which a rename or a link keeps. Removes it when it fails. */
async function stageIdentity(
  host: Host,
  directory: string,
): Promise<{ temporary: string; state: StateFile }> {
  const { disk, ids, clock } = host;
  const temporary = join(directory, `.state-${randomHex(ids, 5)}.json`);
  const at = clock.now();
  const store = makeId("sto", at, ids.random(10));
  const device = makeId("dev", at, ids.random(10));
  const file = await disk.open(temporary, "create");
  try {
    try {
      const state: StateFile = { v: 1, store, device, inode: (await file.stat()).inode };
      await writeDurably(file, utf8Bytes(`${JSON.stringify(state)}\n`));
      return { temporary, state };
    } finally {
      await file.close();
    }
  } catch (error) {
    await removeQuietly(disk, temporary);
    throw error;
  }
}

async function readState(host: Host, path: string): Promise<StateFile | undefined> {
  const bytes = await onStorage(path, () => readWhole(host.disk, path, stateBytesMax));
  if (bytes === undefined) return undefined;
  const state = decodeState(bytes);
  if (state !== undefined) return state;
  throw new HoldfastError("io_error", `${path} is not a state file`, {
    hint: "The sessions beside it are not affected. Move the file away and run the same command again.",
  });
}

function decodeState(bytes: Uint8Array): StateFile | undefined {
  try {
    const state = JSON.parse(isUtf8(bytes) ? utf8Text(bytes) : "") as Partial<StateFile> | null;
    const { v, store, device, inode } = state ?? {};
    if (v !== 1 || typeof inode !== "string" || typeof device !== "string") return undefined;
    return typeof store === "string" && isId("sto", store) ? { v, store, device, inode } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Asks about the directory, or where that is not made yet about what it will stand in. */
async function refuseUnsafe(host: Host, directory: string, singleWriter: boolean): Promise<void> {
  const fileSystem = await onStorage(directory, async () => {
    let there = directory;
    while ((await host.disk.stat(there)) === undefined && dirname(there) !== there) there = dirname(there);
    return await host.disk.fileSystem(there);
  });
  if (fileSystem.trusted || singleWriter) return;
  throw new HoldfastError(
    "unsafe_storage",
    `${directory} is on ${fileSystem.type}, which guarantees neither locks nor syncs`,
    {
      hint: "Choose a local directory with --state-dir, or pass --single-writer if nothing else writes there.",
    },
  );
}

/** Asked before anything is made: a session that nobody could ever hold must not come to be. */
async function refuseWithoutLocks(host: Host, path: string): Promise<void> {
  await onStorage(path, async () => {
    try {
      await (await host.locks.tryLock(path, { shared: true }))?.release();
    } catch (error) {
      // Where there is nothing to lock yet there are still locks.
      if (!isDiskError(error, "ENOENT", "ENOTDIR")) throw error;
    }
  });
}

function cannotUse(directory: string, cause: unknown): HoldfastError {
  const storage = storageError(cause, directory);
  if (storage.code === "disk_full") return storage;
  const code = isDiskError(cause) ? cause.code : String(cause);
  return new HoldfastError("io_error", `cannot use the state directory ${directory}: ${code}`, {
    hint: "Choose one that you can write with --state-dir or HOLDFAST_STATE_DIR.",
    cause,
  });
}

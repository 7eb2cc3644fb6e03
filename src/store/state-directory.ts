import { join } from "node:path";
import type { Host } from "../host/index.ts";
import { DiskError, isDiskError, isUtf8, utf8Bytes, utf8Text } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
import { makeId } from "../model/ids.ts";
import { storageError } from "./appender.ts";
import { createDurably, makeDirectoryDurably, readWhole } from "./files.ts";

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
  const { disk } = host;
  try {
    await makeDirectoryDurably(disk, directory);
  } catch (error) {
    throw cannotUse(directory, error);
  }
  await refuseUnsafe(host, directory, options.singleWriter);
  const path = join(directory, "state.json");
  const found = await readState(host, path);
  if (found === undefined) return await makeIdentity(host, directory, path);
  const stat = await disk.stat(path);
  if (stat?.inode !== found.inode) {
    throw new HoldfastError(
      "store_copied",
      `${directory} is a copy of another state directory (store ${found.store})`,
      {
        hint: "Only one of the two may run its sessions. Give this one an identity of its own with: holdfast store adopt",
      },
    );
  }
  return { store: found.store, device: found.device };
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
  if ((await host.disk.stat(path))?.inode === found.inode) return { from: found.store, to: found.store };
  const temporary = join(directory, `.state-${Buffer.from(host.ids.random(5)).toString("hex")}.json`);
  try {
    const made = await stageIdentity(host, temporary);
    await host.disk.rename(temporary, path);
    await host.disk.syncDirectory(directory);
    return { from: found.store, to: made.store };
  } catch (error) {
    throw storageError(error, path);
  }
}

async function makeIdentity(host: Host, directory: string, path: string): Promise<StoreIdentity> {
  const { disk } = host;
  const temporary = join(directory, `.state-${Buffer.from(host.ids.random(5)).toString("hex")}.json`);
  try {
    const made = await stageIdentity(host, temporary);
    try {
      await disk.link(temporary, path);
    } catch (error) {
      if (!isDiskError(error, "EEXIST")) throw error;
    }
    await disk.remove(temporary);
    await disk.syncDirectory(directory);
    // Two processes may have made one at once: the first link stands.
    return (await readState(host, path)) ?? made;
  } catch (error) {
    throw cannotUse(directory, error);
  }
}

/** Writes a state file that names its own inode, which a rename or a link keeps. */
async function stageIdentity(host: Host, path: string): Promise<StateFile> {
  const { disk, ids, clock } = host;
  const at = clock.now();
  const store = makeId("sto", at, ids.random(10));
  const device = makeId("dev", at, ids.random(10));
  await createDurably(disk, path, new Uint8Array());
  const file = await disk.open(path, "update");
  try {
    const state: StateFile = { v: 1, store, device, inode: (await file.stat()).inode };
    const bytes = utf8Bytes(`${JSON.stringify(state)}\n`);
    if ((await file.write(bytes, 0)) !== bytes.length) throw new DiskError("SHORT_WRITE", "write", path);
    await file.sync();
    return state;
  } finally {
    await file.close();
  }
}

async function readState(host: Host, path: string): Promise<StateFile | undefined> {
  const bytes = await readWhole(host.disk, path, stateBytesMax);
  if (bytes === undefined) return undefined;
  try {
    const state = JSON.parse(isUtf8(bytes) ? utf8Text(bytes) : "") as StateFile;
    if (state.v === 1 && typeof state.store === "string" && typeof state.inode === "string") return state;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new HoldfastError("io_error", `${path} is not a state file`, {
    hint: "The sessions beside it are not affected. Move the file away and run: holdfast store adopt",
  });
}

async function refuseUnsafe(host: Host, directory: string, singleWriter: boolean): Promise<void> {
  const fileSystem = await host.disk.fileSystem(directory);
  if (fileSystem.trusted || singleWriter) return;
  throw new HoldfastError(
    "unsafe_storage",
    `${directory} is on ${fileSystem.type}, which guarantees neither locks nor syncs`,
    {
      hint: "Choose a local directory with --state-dir, or pass --single-writer if nothing else writes there.",
    },
  );
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

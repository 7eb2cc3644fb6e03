import { dirname, join } from "node:path";
import { isDiskError, type Disk } from "../../../host/index.ts";

/**
 * The folder of one supervised command.
 *
 *     alive    locked by the supervisor from before the claim until after the status
 *     claim    who may start the command: linked once, never changed
 *     output   what the command wrote, redacted, in order
 *     status   how it ended
 *
 * S1 Only the preparation makes the folder, durably, before the operation's start is on record. Nobody makes it again:
 *    a supervisor that comes after the clean-up finds no folder and starts nothing.
 * S2 The clean-up takes the folder away by one rename, so a claim never vanishes from a folder that is still there.
 */
export interface SpoolFiles {
  readonly folder: string;
  readonly alive: string;
  readonly claim: string;
  readonly output: string;
  readonly status: string;
}

/** The files of a spool folder. */
export function spoolFiles(folder: string): SpoolFiles {
  return {
    folder,
    alive: join(folder, "alive"),
    claim: join(folder, "claim"),
    output: join(folder, "output"),
    status: join(folder, "status"),
  };
}

/** Makes the folder, and the one that holds the session's spools, durably. The session's own folder must exist. */
export async function makeSpool(disk: Disk, folder: string): Promise<void> {
  const parent = dirname(folder);
  await makeDirectory(disk, parent);
  await makeDirectory(disk, folder);
}

async function makeDirectory(disk: Disk, path: string): Promise<void> {
  try {
    await disk.makeDirectory(path);
  } catch (error) {
    if (!isDiskError(error, "EEXIST")) throw error;
  }
  // Also where it existed: whoever made it may have died before this.
  await disk.syncDirectory(dirname(path));
}

/** Takes the folder away, with what an interrupted removal left. Resolves also where there is none. */
export async function removeSpool(disk: Disk, folder: string): Promise<void> {
  const gone = `${folder}.gone`;
  await removeFolder(disk, gone);
  try {
    await disk.rename(folder, gone);
  } catch (error) {
    if (isDiskError(error, "ENOENT")) return;
    throw error;
  }
  await removeFolder(disk, gone);
}

async function removeFolder(disk: Disk, path: string): Promise<void> {
  try {
    for (const name of await disk.list(path)) await disk.remove(join(path, name));
    await disk.removeDirectory(path);
  } catch (error) {
    if (!isDiskError(error, "ENOENT")) throw error;
  }
}

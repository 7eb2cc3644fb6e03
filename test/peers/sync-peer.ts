/** A process that writes a file, syncs it, syncs its directory and cuts the file, for whoever watches its system calls. */
import { join } from "node:path";
import { nodeHost } from "../../src/host/index.ts";

const [directory = ""] = process.argv.slice(2);
const { disk, locks } = nodeHost();
const path = join(directory, "file");
const file = await disk.open(path, "create_append");
await file.write(Buffer.from("kept and cut"));
await file.sync();
await file.close();
await disk.syncDirectory(directory);
const lock = await locks.tryLock(join(directory, "lock"));
if (lock === undefined) throw new Error("nobody else has the lock");
const guard = { path: lock.path, inode: lock.inode };
const isCut = await disk.cutTail({ path, size: 4, bytes: Buffer.from(" and cut"), guard });
if (!isCut) throw new Error("nothing was cut");

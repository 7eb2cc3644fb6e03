import { join } from "node:path";
import { HoldfastError } from "../model/errors.ts";
import { isId } from "../model/ids.ts";

/** The paths inside the state directory. A3: only this room knows them. */
export interface SessionFolder {
  readonly id: string;
  readonly root: string;
  readonly log: string;
  readonly queue: string;
  readonly head: string;
  readonly lease: string;
  readonly alive: string;
  readonly append: string;
  readonly blobs: string;
  readonly trash: string;
  readonly spools: string;
  readonly live: string;
  readonly tombstone: string;
  base(index: number): string;
}

/** The folder of a session; the id is checked before any path is built. */
export function folderOf(stateDirectory: string, id: string, root?: string): SessionFolder {
  if (!isId("ses", id)) throw new HoldfastError("usage", `${JSON.stringify(id)} is not a session id`);
  const folder = root ?? join(stateDirectory, "sessions", id);
  return {
    id,
    root: folder,
    log: join(folder, "log.jsonl"),
    queue: join(folder, "queue.jsonl"),
    head: join(folder, "head"),
    lease: join(folder, "lease"),
    alive: join(folder, "alive"),
    append: join(folder, "append"),
    blobs: join(folder, "blobs"),
    trash: join(folder, "trash"),
    spools: join(folder, "spool"),
    live: join(folder, "live.jsonl"),
    tombstone: join(stateDirectory, "tombstones", `${id}.json`),
    base: (index) => join(folder, "base", `${index}.jsonl`),
  };
}

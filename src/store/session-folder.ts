import { join, sep } from "node:path";
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

/** The folder of a session of a normalised state directory; the id is checked before any path is built. */
export function folderOf(stateDirectory: string, id: string, root?: string): SessionFolder {
  if (!isId("ses", id)) throw new HoldfastError("usage", `${JSON.stringify(id)} is not a session id`);
  // Nothing to normalise in these names, and a list builds them for every session.
  const folder = root ?? `${stateDirectory}${sep}sessions${sep}${id}`;
  const inside = (name: string) => `${folder}${sep}${name}`;
  return {
    id,
    root: folder,
    log: inside("log.jsonl"),
    queue: inside("queue.jsonl"),
    head: inside("head"),
    lease: inside("lease"),
    alive: inside("alive"),
    append: inside("append"),
    blobs: inside("blobs"),
    trash: inside("trash"),
    spools: inside("spool"),
    live: inside("live.jsonl"),
    tombstone: `${stateDirectory}${sep}tombstones${sep}${id}.json`,
    base: (index) => join(folder, "base", `${index}.jsonl`),
  };
}

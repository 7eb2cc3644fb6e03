import { join } from "node:path";
import type { Host } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
import type { Row, SessionCreated } from "../model/facts.ts";
import { makeId } from "../model/ids.ts";
import { storageError } from "./appender.ts";
import { Blobs } from "./blobs.ts";
import { createDurably, makeDirectoryDurably } from "./files.ts";
import { encodeHead } from "./head-file.ts";
import { encodeLine, readEnvelope, zeroSum } from "./line.ts";
import { folderOf } from "./session-folder.ts";

/** What a new session starts with. The blobs that line 0 names are given as bytes. */
export interface NewSession {
  readonly created: SessionCreated;
  readonly row: Row;
  readonly blobs: readonly Uint8Array[];
}

/**
 * Makes a session and resolves to its id. It becomes visible at once and whole: its folder, with line 0 durable inside,
 * is renamed into `sessions/`; a death before that leaves a hidden folder that nobody reads.
 */
export async function createSession(
  host: Host,
  stateDirectory: string,
  session: NewSession,
): Promise<string> {
  const { disk, ids, clock } = host;
  const at = clock.now();
  const id = makeId("ses", at, ids.random(10));
  const sessions = join(stateDirectory, "sessions");
  const staged = folderOf(stateDirectory, id, join(sessions, `.new-${id}`));
  const line = encodeLine({ ses: id, seq: 0, epoch: 0, at, rec: 0, rev: 0, msgs: 0, row: 0, prev: zeroSum }, [
    session.created,
    session.row,
  ]);
  const envelope = readEnvelope(line);
  if (envelope === undefined) {
    throw new HoldfastError("usage", `the session's definition is too large (${line.length} bytes)`);
  }
  try {
    await makeDirectoryDurably(disk, sessions);
    await makeDirectoryDurably(disk, staged.root);
    for (const lock of [staged.lease, staged.alive, staged.append])
      await createDurably(disk, lock, new Uint8Array());
    const blobs = new Blobs({ disk, ids, own: staged.blobs });
    for (const bytes of session.blobs) await blobs.put(bytes);
    await createDurably(disk, staged.log, line);
    const { sum } = envelope;
    const head = encodeHead({ v: 1, ses: id, seq: 0, sum, bytes: line.length, epoch: 0 });
    await createDurably(disk, staged.head, head);
    await disk.syncDirectory(staged.root);
    await disk.rename(staged.root, folderOf(stateDirectory, id).root);
    await disk.syncDirectory(sessions);
  } catch (error) {
    throw storageError(error, sessions);
  }
  return id;
}

import { join } from "node:path";
import type { Disk, Host } from "../host/index.ts";
import { createDurably, makeDirectoryDurably, removeFolderQuietly } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
import type { Fact, Row, SessionCreated } from "../model/facts.ts";
import { makeId } from "../model/ids.ts";
import { Blobs } from "./blobs.ts";
import { encodeHead } from "./head-file.ts";
import { encodeLine, readEnvelope, zeroSum } from "./line.ts";
import { parseLogFacts, parseQueueFacts } from "./read-facts.ts";
import type { SessionFolder } from "./session-folder.ts";
import { folderOf } from "./session-folder.ts";
import { onStorage } from "./write-errors.ts";

/** What a new session starts with. The blobs that its first lines name are given as bytes. */
export interface NewSession {
  readonly created: SessionCreated;
  readonly row: Row;
  readonly blobs: readonly Uint8Array[];
  /** The facts of the queue's first line; without them there is no queue yet. */
  readonly queue?: readonly Fact[];
}

/**
 * Makes a session and resolves to its id. It becomes visible at once and whole: its folder, with line 0 and the queue's
 * first line durable inside, is renamed into `sessions/`; a death before that leaves a hidden folder that nobody reads.
 * Rejects `usage` where one is no legal line, or with a storage error; then at most the sync of the last name is missing.
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
  const first = firstLines(id, at, session);
  await onStorage(sessions, async () => {
    await makeDirectoryDurably(disk, sessions, stateDirectory);
    try {
      await stage(host, staged, session, first);
      await disk.rename(staged.root, folderOf(stateDirectory, id).root);
    } catch (error) {
      await removeFolderQuietly(disk, staged.root);
      throw error;
    }
    await disk.syncDirectory(sessions);
  });
  return id;
}

interface FirstLine {
  readonly bytes: Uint8Array;
  readonly sum: string;
}

interface FirstLines {
  readonly log: FirstLine;
  readonly queue: FirstLine | undefined;
}

function firstLines(id: string, at: number, { created, row, queue }: NewSession): FirstLines {
  return {
    log: firstLine(id, at, [created, row], parseLogFacts),
    queue: queue === undefined ? undefined : firstLine(id, at, queue, parseQueueFacts),
  };
}

function firstLine(id: string, at: number, facts: readonly Fact[], parse: typeof parseLogFacts): FirstLine {
  const envelope = { ses: id, seq: 0, epoch: 0, at, rec: 0, rev: 0, msgs: 0, row: 0, prev: zeroSum };
  const bytes = encodeLine(envelope, facts);
  const read = readEnvelope(bytes);
  if (read === undefined) {
    throw new HoldfastError("usage", `the session's definition is too large (${bytes.length} bytes)`);
  }
  const parsed = parse(bytes, read);
  if ("fault" in parsed) throw new HoldfastError("usage", `the session cannot be made: ${parsed.fault}`);
  return { bytes, sum: read.sum };
}

/** Everything inside the folder, durable, its names included; not the folder's own name. */
async function stage(
  host: Host,
  staged: SessionFolder,
  session: NewSession,
  first: FirstLines,
): Promise<void> {
  const { disk, ids } = host;
  await disk.makeDirectory(staged.root);
  for (const lock of [staged.lease, staged.alive, staged.append]) await createEmpty(disk, lock);
  const blobs = new Blobs({ disk, ids, own: staged.blobs });
  for (const bytes of session.blobs) await blobs.put(bytes);
  await createDurably(disk, staged.log, first.log.bytes);
  if (first.queue !== undefined) await createDurably(disk, staged.queue, first.queue.bytes);
  const { sum, bytes } = first.log;
  const head = encodeHead({ v: 1, ses: staged.id, seq: 0, sum, bytes: bytes.length, epoch: 0 });
  await createDurably(disk, staged.head, head);
  await disk.syncDirectory(staged.root);
}

/** A lock file has no content to lose. */
async function createEmpty(disk: Disk, path: string): Promise<void> {
  const file = await disk.open(path, "create");
  await file.close();
}

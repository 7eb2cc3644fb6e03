import type { Disk, DiskFile } from "../host/index.ts";
import { isDiskError, isUtf8, sha256, utf8Bytes, utf8Text, writeDurably } from "../host/index.ts";
import { isId } from "../model/ids.ts";

/**
 * `head`: 512 bytes, rewritten in place and synced at a clean end, that say where the log ended. Evidence, not truth:
 * missing, torn or with a wrong sum of its own it says nothing. Rewriting allocates nothing, so it works on a full disk.
 */

const headFileBytes = 512;

/** The end of a file whose bytes from `size` on may or may not be on disk, as long as boot and mount are the same. */
export interface UnsureNote {
  readonly file: "log" | "queue";
  readonly size: number;
  readonly boot: string;
  readonly mount: string;
}

/** What `head` remembers. */
export interface HeadRecord {
  readonly v: 1;
  readonly ses: string;
  /** The last accepted line of the log, its sum, where it ends, and its epoch. */
  readonly seq: number;
  readonly sum: string;
  readonly bytes: number;
  readonly epoch: number;
  readonly unsure?: readonly UnsureNote[];
}

/** The 512 bytes of a record. */
export function encodeHead(record: HeadRecord): Uint8Array {
  const { v, ses, seq, sum, bytes, epoch, unsure } = record;
  const notes = unsure === undefined || unsure.length === 0 ? {} : { unsure };
  const text = JSON.stringify({ v, ses, seq, sum, bytes, epoch, ...notes }).slice(0, -1);
  const own = sha256(text).slice(0, 32);
  return utf8Bytes(`${text},"own":"${own}"}`.padEnd(headFileBytes - 1, " ") + "\n");
}

/** The record in these bytes, or undefined where they say nothing. */
function decodeHead(bytes: Uint8Array, session: string): HeadRecord | undefined {
  if (bytes.length !== headFileBytes || !isUtf8(bytes)) return undefined;
  const match = /^(\{.*),"own":"([0-9a-f]{32})"\} *\n$/.exec(utf8Text(bytes));
  if (match === null) return undefined;
  const [, text = "", own] = match;
  if (sha256(text).slice(0, 32) !== own) return undefined;
  try {
    const record = JSON.parse(`${text}}`) as HeadRecord;
    return record.v === 1 && record.ses === session && isId("ses", record.ses) ? record : undefined;
  } catch (error) {
    // Its own sum fits, so somebody wrote it so: still no evidence of anything.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Reads `head`; undefined where it says nothing. */
export async function readHead(disk: Disk, path: string, session: string): Promise<HeadRecord | undefined> {
  let file: DiskFile;
  try {
    file = await disk.open(path, "read");
  } catch (error) {
    if (isDiskError(error, "ENOENT")) return undefined;
    throw error;
  }
  try {
    const bytes = new Uint8Array(headFileBytes + 1);
    const count = await file.read(bytes, 0);
    return decodeHead(bytes.subarray(0, count), session);
  } finally {
    await file.close();
  }
}

/**
 * Rewrites `head` in place and syncs it; makes it where it is missing. Rejects with a DiskError; then it says what it
 * said before, the new thing, or nothing.
 */
export async function writeHead(disk: Disk, path: string, record: HeadRecord): Promise<void> {
  const file = await openHead(disk, path);
  try {
    await writeDurably(file, encodeHead(record));
  } finally {
    await file.close();
  }
}

async function openHead(disk: Disk, path: string): Promise<DiskFile> {
  try {
    return await disk.open(path, "update");
  } catch (error) {
    if (!isDiskError(error, "ENOENT")) throw error;
    return await disk.open(path, "create");
  }
}

/** What `head` proves of a log whose accepted lines are these. */
export type HeadVerdict = "good" | "rolled_back" | "log_damaged";

/**
 * Compares `head` with what was read. `accepted` are the heads that a person accepted as gone. A log that is shorter in
 * bytes, or holds another line there, or the same one elsewhere, was rolled back; one that is as long but does not verify
 * up to there is damaged.
 */
export function judgeHead(
  head: HeadRecord | undefined,
  log: {
    sumAt(seq: number): string | undefined;
    lastSeq: number;
    /** Where the line with the head's seq ends. */
    headEnd: number | undefined;
    fileBytes: number;
  },
  accepted: readonly { headSeq: number; sum: string }[],
): HeadVerdict {
  // A record that holds nothing but a note stands before line 0: it knows of no line.
  if (head === undefined || head.seq === -1) return "good";
  if (accepted.some((one) => one.headSeq === head.seq && one.sum === head.sum)) return "good";
  if (head.seq <= log.lastSeq) {
    return log.sumAt(head.seq) === head.sum && log.headEnd === head.bytes ? "good" : "rolled_back";
  }
  return log.fileBytes < head.bytes ? "rolled_back" : "log_damaged";
}

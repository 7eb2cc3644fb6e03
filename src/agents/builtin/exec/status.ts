import * as z from "zod/mini";
import {
  isDiskError,
  sha256,
  type Disk,
  type DiskFile,
  readBeginning,
  writeAll,
} from "../../../host/index.ts";
import { spoolFiles } from "./spool.ts";

/**
 * How a command ended, in a file of fixed size that is allocated before the command starts, so that a full disk cannot
 * lose the end. One JSON object, its own sum last, padded with spaces; spaces alone mean that it has not ended.
 */

const statusBytes = 4096;
const sumPattern = /^,"own":"([0-9a-f]{32})"\}$/;
const sumLength = 42;

/** A process that a command left behind. */
export const Survivor = z.object({ pid: z.number(), command: z.string() });
export type Survivor = z.infer<typeof Survivor>;

/** How the leader ended. */
export const CommandEnd = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("exited"), code: z.number() }),
  z.object({ kind: z.literal("signaled"), signal: z.string() }),
  /** It was claimed and then not started; it never will be. */
  z.object({ kind: z.literal("not_started"), reason: z.string() }),
]);
export type CommandEnd = z.infer<typeof CommandEnd>;

/** Why the supervisor stopped a command. */
export const StopReason = z.enum(["timeout", "cancel", "shutdown"]);
export type StopReason = z.infer<typeof StopReason>;

/** The record of an end. It is valid only whole, with its own sum, and for the operation and nonce that it names. */
export const Status = z.object({
  v: z.literal(1),
  operation: z.string(),
  nonce: z.string(),
  end: CommandEnd,
  /** Present where it did not end by itself. */
  stopped: z.optional(StopReason),
  /** Wall clock of start and end, and the monotonic time between. */
  startedAt: z.number(),
  endedAt: z.number(),
  durationMs: z.number(),
  /** What `output` holds: after redaction. */
  outputBytes: z.number(),
  outputSha256: z.string(),
  /** Bytes that the command wrote and that were not kept: over the limit, or the disk refused them. */
  dropped: z.number(),
  /** The disk's refusal. */
  outputFault: z.optional(z.string()),
  /** Descendants that were alive when the output was drained; not all of them where `survivorsUnlisted` is not 0. */
  survivors: z.array(Survivor),
  survivorsUnlisted: z.number(),
});
export type Status = z.infer<typeof Status>;

/** What a status file says: nothing yet, nothing that can be believed, or the end. */
export type FoundStatus = { state: "blank" } | { state: "invalid" } | { state: "ended"; status: Status };

/** The record as bytes. Drops survivors from the list, and counts them, until the record fits. */
export function encodeStatus(status: Status): Uint8Array {
  const encoder = new TextEncoder();
  for (let shown = status.survivors.length; shown >= 0; shown--) {
    const survivors = status.survivors.slice(0, shown);
    const survivorsUnlisted = status.survivorsUnlisted + status.survivors.length - shown;
    const body = JSON.stringify({ ...status, survivors, survivorsUnlisted }).slice(0, -1);
    const bytes = encoder.encode(`${body},"own":"${sumOf(body)}"}`);
    if (bytes.byteLength < statusBytes) return padded(bytes);
  }
  throw new Error("A status record does not fit its file even without survivors.");
}

/** Reads the record of a start; anything torn, damaged or foreign is `invalid`. */
export function decodeStatus(bytes: Uint8Array, start: { operation: string; nonce: string }): FoundStatus {
  const text = new TextDecoder().decode(bytes).trimEnd();
  if (text === "") return { state: "blank" };
  const body = text.slice(0, -sumLength);
  const own = sumPattern.exec(text.slice(-sumLength))?.[1];
  if (own === undefined || own !== sumOf(body)) return { state: "invalid" };
  const parsed = Status.safeParse(parseJson(`${body}}`));
  if (!parsed.success) return { state: "invalid" };
  const status = parsed.data;
  const isOurs = status.operation === start.operation && status.nonce === start.nonce;
  return isOurs ? { state: "ended", status } : { state: "invalid" };
}

/** Reads a folder's status; an absent one is blank. */
export async function readStatus(
  disk: Disk,
  folder: string,
  start: { operation: string; nonce: string },
): Promise<FoundStatus> {
  const bytes = await readBeginning(disk, spoolFiles(folder).status, statusBytes);
  return bytes === undefined ? { state: "blank" } : decodeStatus(bytes, start);
}

/**
 * Opens the status file, blank, allocated and durable but for its name. Only the holder of `alive` may call it, and only
 * while there is no claim: a blank of an earlier attempt is then written again.
 */
export async function allocateStatus(disk: Disk, folder: string): Promise<DiskFile> {
  const file = await createOrOpen(disk, spoolFiles(folder).status);
  try {
    await writeAll(file, padded(new Uint8Array()), 0);
    await file.sync();
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function createOrOpen(disk: Disk, path: string): Promise<DiskFile> {
  try {
    return await disk.open(path, "create");
  } catch (error) {
    if (!isDiskError(error, "EEXIST")) throw error;
    return disk.open(path, "update");
  }
}

/** Writes the end in place and makes it durable. The output must be durable before. */
export async function writeStatus(file: DiskFile, status: Status): Promise<void> {
  await writeAll(file, encodeStatus(status), 0);
  await file.sync();
}

function padded(bytes: Uint8Array): Uint8Array {
  const record = new Uint8Array(statusBytes).fill(0x20);
  record.set(bytes);
  record[statusBytes - 1] = 0x0a;
  return record;
}

function sumOf(body: string): string {
  return sha256(body).slice(0, 32);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Judged by the schema like any other value that is no record.
  }
}

/** Reading and writing whole files in pieces, so that neither memory nor the patience of others is used up. */
import { startSha256, type Disk, type DiskFile, type FileStat } from "../../../host/index.ts";
import type { FileEvidence } from "../../../model/facts.ts";
import type { FileHost } from "./file-host.ts";
import { startPace, type Pace } from "./pace.ts";

/** Bytes read at once. */
const pieceBytes = 256 * 1024;

/** What a file was when it was read from its beginning to its end. */
export interface ObservedFile {
  readonly stat: FileStat;
  readonly evidence: FileEvidence;
  /** The content, where it was asked for and is not too large. */
  readonly bytes: Uint8Array | undefined;
}

/** Opens a file for the time of `work` and closes it in any case. */
export async function withFile<T>(
  disk: Disk,
  path: string,
  mode: "read" | "update",
  work: (file: DiskFile) => Promise<T>,
): Promise<T> {
  const file = await disk.open(path, mode);
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

/** The bytes of an open file from its beginning, in pieces that the receiver may keep. */
export async function* piecesOf(file: DiskFile, pace?: Pace): AsyncGenerator<Uint8Array> {
  for (let position = 0; ;) {
    const into = new Uint8Array(pieceBytes);
    const count = await file.read(into, position);
    if (count === 0) return;
    position += count;
    yield into.subarray(0, count);
    await pace?.step();
  }
}

/** Reads a file through one descriptor; keeps the content where it has at most `keepBytesMax` bytes. */
export async function observeFile(host: FileHost, path: string, keepBytesMax = 0): Promise<ObservedFile> {
  const pace = startPace(host.clock, undefined, Number.POSITIVE_INFINITY);
  return await withFile(host.disk, path, "read", async (file) => {
    const hash = startSha256();
    const kept: Uint8Array[] = [];
    let total = 0;
    for await (const piece of piecesOf(file, pace)) {
      hash.update(piece);
      total += piece.length;
      if (total <= keepBytesMax) kept.push(piece);
    }
    const stat = await file.stat();
    const { dev, inode, birthtimeNs } = stat;
    const evidence = { dev, inode, birthtimeNs, sha256: hash.digest() };
    return { stat, evidence, bytes: total <= keepBytesMax ? concat(kept, total) : undefined };
  });
}

function concat(pieces: readonly Uint8Array[], total: number): Uint8Array {
  const whole = new Uint8Array(total);
  let position = 0;
  for (const piece of pieces) {
    whole.set(piece, position);
    position += piece.length;
  }
  return whole;
}

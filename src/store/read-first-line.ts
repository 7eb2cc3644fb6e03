import type { Disk, DiskFile } from "../host/index.ts";
import { isDiskError } from "../host/index.ts";
import type { Fact } from "../model/facts.ts";
import { lineBytesMax, readEnvelope } from "./line.ts";
import { parseFacts } from "./read-facts.ts";

const firstReadBytes = 16 * 1024;

/** The facts of line 0; none where it does not verify, which the reader of the whole file reports as damage. */
export async function readFirstFacts(disk: Disk, path: string): Promise<readonly Fact[]> {
  let file: DiskFile;
  try {
    file = await disk.open(path, "read");
  } catch (error) {
    if (isDiskError(error, "ENOENT")) return [];
    throw error;
  }
  try {
    const line = (await readLine(file, firstReadBytes)) ?? (await readLine(file, lineBytesMax));
    const envelope = line === undefined ? undefined : readEnvelope(line);
    if (line === undefined || envelope === undefined) return [];
    const parsed = parseFacts(line, envelope);
    return "fault" in parsed ? [] : (parsed.facts as readonly Fact[]);
  } finally {
    await file.close();
  }
}

async function readLine(file: DiskFile, bytesMax: number): Promise<Uint8Array | undefined> {
  const bytes = new Uint8Array(bytesMax);
  const count = await file.read(bytes, 0);
  const newline = bytes.subarray(0, count).indexOf(0x0a);
  return newline === -1 ? undefined : bytes.subarray(0, newline + 1);
}

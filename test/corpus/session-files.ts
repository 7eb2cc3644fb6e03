import { MemoryDisk } from "../crash/memory-disk.ts";

/** Where sessions of the corpus stand when they are opened: on a disk in memory. */
export const stateDirectory = "/state";

/** The files of one session, by their path in its folder. */
export interface SessionFiles {
  readonly session: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** What is kept of a session: no lock, nothing that was removed. */
const isKept = (name: string): boolean =>
  /^(log\.jsonl|queue\.jsonl|head|live\.jsonl|(base|blobs|spool)\/.*)$/.test(name);

/** The files of a session as they stand on a disk. */
export function filesOf(disk: MemoryDisk, session: string): SessionFiles {
  const folder = `${folderOf(session)}/`;
  const files = new Map<string, Uint8Array>();
  for (const path of disk.files()) {
    const name = path.startsWith(folder) ? path.slice(folder.length) : "";
    const bytes = isKept(name) ? disk.peek(path) : undefined;
    if (bytes !== undefined) files.set(name, bytes.slice());
  }
  return { session, files };
}

/** The same session with other files in place of some; undefined takes one away. */
export function withFiles(
  { session, files }: SessionFiles,
  changes: Readonly<Record<string, Uint8Array | string | undefined>>,
): SessionFiles {
  const changed = new Map(files);
  for (const [name, content] of Object.entries(changes)) {
    if (content === undefined) changed.delete(name);
    else changed.set(name, typeof content === "string" ? new TextEncoder().encode(content) : content);
  }
  return { session, files: changed };
}

/** Puts a session on a disk, durable. */
export function plant({ session, files }: SessionFiles, disk = new MemoryDisk()): MemoryDisk {
  for (const lock of ["lease", "alive", "append"]) disk.plant(`${folderOf(session)}/${lock}`, "");
  for (const [name, bytes] of files) disk.plant(`${folderOf(session)}/${name}`, bytes);
  disk.settle();
  return disk;
}

/** The bytes of one file; none where it is not there. */
export function bytesOf({ files }: SessionFiles, name: string): Buffer {
  return Buffer.from(files.get(name) ?? []);
}

/** The whole lines of a file, and the piece at its end where there is one. */
export function linesOf(bytes: Uint8Array): Buffer[] {
  const whole = Buffer.from(bytes);
  const lines: Buffer[] = [];
  for (let from = 0; from < whole.length;) {
    const newline = whole.indexOf(0x0a, from);
    const end = newline === -1 ? whole.length : newline + 1;
    lines.push(whole.subarray(from, end));
    from = end;
  }
  return lines;
}

function folderOf(session: string): string {
  return `${stateDirectory}/sessions/${session}`;
}

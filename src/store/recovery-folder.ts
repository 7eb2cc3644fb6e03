import { join } from "node:path";
import type { DiskFile, Host } from "../host/index.ts";
import {
  createDurably,
  DiskError,
  makeDirectoryDurably,
  randomHex,
  startSha256,
  utf8Bytes,
} from "../host/index.ts";

/** `recovery/`: what stood at the end of a file before it was mended, each with a manifest beside it. */

/** Which bytes of which file are kept. */
export interface Keepsake {
  readonly session: string;
  readonly file: "log" | "queue";
  /** Where they stood. */
  readonly offset: number;
  /** Why: `cut` from the end, or `copied` because the file was written anew. */
  readonly action: "cut" | "copied";
}

const chunkBytes = 64 * 1024;

/** Keeps the bytes and their manifest durably; resolves to the name. Rejects with a DiskError. */
export async function keepBytes(
  host: Host,
  folder: { readonly path: string; readonly within: string },
  keepsake: Keepsake,
  bytes: Uint8Array,
): Promise<string> {
  const name = await openFolder(host, folder, keepsake);
  await createDurably(host.disk, join(folder.path, name), bytes);
  const running = startSha256();
  running.update(bytes);
  await writeManifest(host, folder.path, {
    ...keepsake,
    name,
    bytes: bytes.length,
    sha256: running.digest(),
  });
  return name;
}

/** Keeps a whole file and its manifest durably; resolves to the name. Rejects with a DiskError. */
export async function keepFile(
  host: Host,
  folder: { readonly path: string; readonly within: string },
  keepsake: Keepsake,
  path: string,
): Promise<string> {
  const name = await openFolder(host, folder, keepsake);
  const copied = await copyDurably(host, path, join(folder.path, name));
  await writeManifest(host, folder.path, { ...keepsake, name, ...copied });
  return name;
}

/** Copies the first `bytesMax` bytes of a file (all of it where absent) to a new one and syncs that. */
export async function copyDurably(
  host: Host,
  from: string,
  to: string,
  bytesMax = Number.MAX_SAFE_INTEGER,
): Promise<{ bytes: number; sha256: string }> {
  const source = await host.disk.open(from, "read");
  let target: DiskFile | undefined;
  try {
    target = await host.disk.open(to, "create");
    const running = startSha256();
    const buffer = new Uint8Array(chunkBytes);
    let bytes = 0;
    for (;;) {
      const count = await source.read(buffer.subarray(0, Math.min(chunkBytes, bytesMax - bytes)), bytes);
      if (count === 0) break;
      const chunk = buffer.subarray(0, count);
      if ((await target.write(chunk, bytes)) !== count) throw new DiskError("SHORT_WRITE", "write", to);
      running.update(chunk);
      bytes += count;
    }
    await target.sync();
    return { bytes, sha256: running.digest() };
  } finally {
    await target?.close();
    await source.close();
  }
}

async function openFolder(
  host: Host,
  folder: { readonly path: string; readonly within: string },
  { session, file, offset, action }: Keepsake,
): Promise<string> {
  await makeDirectoryDurably(host.disk, folder.path, folder.within);
  const random = randomHex(host.ids, 5);
  return `${session}-${file}-${offset}-${action}-${random}.bin`;
}

async function writeManifest(
  host: Host,
  folder: string,
  manifest: Keepsake & { name: string; bytes: number; sha256: string },
): Promise<void> {
  const { session, file, offset, action, name, bytes, sha256 } = manifest;
  const text = JSON.stringify({ v: 1, session, file, offset, action, bytes, sha256, at: host.clock.now() });
  await createDurably(host.disk, join(folder, `${name}.json`), utf8Bytes(`${text}\n`));
  await host.disk.syncDirectory(folder);
}

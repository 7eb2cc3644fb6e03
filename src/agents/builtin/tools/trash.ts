/** Where deleted files go. */
import { dirname, join } from "node:path";
import { sha256, startSha256, type Disk, type FileStat, writeAll } from "../../../host/index.ts";
import type { OperationPlace } from "../../../model/agent.ts";
import type { FileEvidence } from "../../../model/facts.ts";
import { observeFile, piecesOf, withFile } from "./file-bytes.ts";
import type { FileHost } from "./file-host.ts";
import { startPace } from "./pace.ts";
import { ensureDirectory, removeIfThere, removeQuietly, type StagedFile } from "./staging.ts";

/** Where the file goes that this operation deletes. */
export function trashPath(place: OperationPlace): string {
  return join(place.trash, place.operation);
}

/** The name of a copy that is not complete yet. */
export function partialPath(trashed: string): string {
  return `${trashed}.part`;
}

/** Makes the trash, durable, and resolves to what it is. */
export async function ensureTrash(disk: Disk, place: OperationPlace): Promise<FileStat | undefined> {
  await ensureDirectory(disk, place.trash, 0o700);
  return await disk.stat(place.trash);
}

/**
 * Copies what is about to be deleted into the trash: complete, with its mode, durable, under its name only then.
 * Instead of a link it keeps a note of where the link led.
 */
export async function copyToTrash(
  host: FileHost,
  source: { readonly path: string; readonly stat: FileStat },
  trashed: string,
): Promise<StagedFile> {
  const { disk } = host;
  const partial = partialPath(trashed);
  await removeIfThere(disk, partial);
  try {
    const copied =
      source.stat.kind === "link"
        ? await writeNote(disk, source.path, partial)
        : await copyFile(host, source, partial);
    await disk.rename(partial, trashed);
    await disk.syncDirectory(dirname(trashed));
    const stat = await disk.statLink(trashed);
    return { path: trashed, inode: stat?.inode ?? "", birthtimeNs: stat?.birthtimeNs ?? "0", sha256: copied };
  } catch (error) {
    await removeQuietly(disk, partial);
    throw error;
  }
}

async function copyFile(
  host: FileHost,
  source: { readonly path: string; readonly stat: FileStat },
  partial: string,
): Promise<string> {
  const pace = startPace(host.clock, undefined, Number.POSITIVE_INFINITY);
  const hash = startSha256();
  const to = await host.disk.open(partial, "create", source.stat.mode & 0o700);
  try {
    await withFile(host.disk, source.path, "read", async (from) => {
      let position = 0;
      for await (const piece of piecesOf(from, pace)) {
        hash.update(piece);
        await writeAll(to, piece, position);
        position += piece.length;
      }
    });
    await to.sync();
  } finally {
    await to.close();
  }
  return hash.digest();
}

async function writeNote(disk: Disk, link: string, partial: string): Promise<string> {
  const leadsTo =
    (await disk.stat(link)) === undefined ? "something that does not exist" : await disk.realPath(link);
  const bytes = new TextEncoder().encode(`A symbolic link to ${leadsTo}\n`);
  const hash = startSha256();
  hash.update(bytes);
  const file = await disk.open(partial, "create");
  try {
    await writeAll(file, bytes, 0);
    await file.sync();
  } finally {
    await file.close();
  }
  return hash.digest();
}

/**
 * What is at the path. A link has the hash of no bytes: where it leads cannot change without its becoming another
 * inode, so its identity says everything.
 */
export async function identify(host: FileHost, path: string): Promise<FileEvidence | undefined> {
  const stat = await host.disk.statLink(path);
  if (stat === undefined) return undefined;
  if (stat.kind === "file") return (await observeFile(host, path)).evidence;
  const { dev, inode, birthtimeNs } = stat;
  return { dev, inode, birthtimeNs, sha256: sha256(stat.kind === "link" ? "" : stat.kind) };
}

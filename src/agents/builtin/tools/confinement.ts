/**
 * Keeps file tools inside the workspace. A path is judged by where it really leads: every link on the way is resolved
 * by the system (so a file system that ignores case decides itself what is the same), and the result must lie in the
 * canonical workspace.
 *
 * What this cannot do: whoever swaps a directory for a link between this look and the use of the path wins. The tools
 * look again right before an effect, so the window is short; it confines a model, not another program of the user.
 */
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { isDiskError, type Disk, type FileStat } from "../../../host/index.ts";
import type { OperationPlace } from "../../../model/agent.ts";
import { explain } from "./results.ts";

/** Where a path leads, inside the workspace. */
export interface InsidePath {
  readonly inside: true;
  /** Canonical absolute path; its last part may be a link only where the link itself was asked for. */
  readonly path: string;
  /** The same relative to the workspace, with `/`, as the model knows it; `.` for the workspace. */
  readonly shown: string;
  /** What is there; undefined where nothing is. */
  readonly stat: FileStat | undefined;
  /** The deepest directory on the way that exists; the directory of `path` where that exists. */
  readonly directory: string;
}

/** A path that a tool must not use; `message` tells the model why, and what now. */
export interface RefusedPath {
  readonly inside: false;
  readonly message: string;
}

/** Where a model may go: into the workspace, but not into what is closed in it. Both are canonical. */
export type Confinement = Pick<OperationPlace, "workspace" | "closed">;

/** Names of our own staged files begin so; the tools neither show nor touch them. */
export const reservedPrefix = ".holdfast-op_";

/**
 * Resolves a path that a model gave: relative to the workspace, or absolute. With
 * `keepLink` a link at the end stands for itself, else for what it points at. Never rejects for what it finds on disk.
 */
export async function resolveInside(
  disk: Disk,
  place: Confinement,
  path: string,
  options: { keepLink?: boolean } = {},
): Promise<InsidePath | RefusedPath> {
  const malformed = malformation(path);
  if (malformed !== undefined) return refused(`${quote(path)} ${malformed}`);
  try {
    return await resolvePath(disk, place, path, options.keepLink ?? false);
  } catch (error) {
    if (!isDiskError(error)) throw error;
    return refused(`${quote(path)} cannot be reached: ${explain(error)}.`);
  }
}

/** True where `path` is `directory` or lies below it. Both must be canonical. */
export function isWithin(directory: string, path: string): boolean {
  const prefix = directory.endsWith(sep) ? directory : directory + sep;
  return path === directory || path.startsWith(prefix);
}

/** A canonical path inside the workspace, as the model knows it. */
export function shownPath(workspace: string, path: string): string {
  return relative(workspace, path).split(sep).join("/") || ".";
}

/** Where a search took place, in a sentence. */
export function placeName(target: InsidePath): string {
  return target.shown === "." ? "the workspace" : target.shown;
}

function malformation(path: string): string | undefined {
  if (path === "") return "is empty. Give a path relative to the workspace.";
  if (path.includes("\0")) return "contains a NUL character, which no file name can.";
  if (/\p{Surrogate}/u.test(path)) return "contains half of a surrogate pair, which no file name can.";
  const parts = path.split(sep === "\\" ? /[\\/]/ : "/");
  if (parts.includes("..")) return 'contains "..", which is not allowed. Give a path without it.';
  return parts.some(isReserved) ? reservedMessage : undefined;
}

const reservedMessage = "is a file that Holdfast keeps for an operation. Leave it alone.";

function isReserved(name: string): boolean {
  return name.toLowerCase().startsWith(reservedPrefix);
}

async function resolvePath(
  disk: Disk,
  { workspace, closed }: Confinement,
  path: string,
  keepLink: boolean,
): Promise<InsidePath | RefusedPath> {
  const asked = resolve(workspace, path);
  const followed = keepLink ? dirname(asked) : asked;
  const found = await findDeepest(disk, followed);
  if ("dangling" in found) {
    return refused(`${quote(path)} leads through a link to something that does not exist.`);
  }
  const missing = keepLink ? [...found.missing, basename(asked)] : found.missing;
  // The root of the file system has no name of its own to keep.
  const target = keepLink && asked === followed ? asked : join(found.real, ...missing);
  if (!isWithin(workspace, target)) {
    const how = isWithin(workspace, asked) ? "leads through a link out of" : "is outside";
    return refused(`${quote(path)} ${how} the workspace ${workspace}. Only paths inside it can be used.`);
  }
  if (closed !== undefined && isWithin(closed, target)) {
    return refused(`${quote(path)} is where Holdfast keeps its sessions. Leave it alone.`);
  }
  const shown = shownPath(workspace, target);
  if (shown.split("/").some(isReserved)) return refused(`${quote(path)} ${reservedMessage}`);
  if (missing.length > 0 && (await disk.stat(found.real))?.kind !== "directory") {
    return refused(
      `${quote(path)} cannot exist: ${shownPath(workspace, found.real)} is a file, not a directory.`,
    );
  }
  const stat = await disk.statLink(target);
  const directory = missing.length > 0 ? found.real : dirname(target);
  return { inside: true, path: target, shown, stat, directory };
}

type Deepest = { real: string; missing: string[] } | { dangling: string };

/** The canonical path of the deepest ancestor that exists, and the names that are missing below it. */
async function findDeepest(disk: Disk, path: string): Promise<Deepest> {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    const real = await realPathOrAbsent(disk, at);
    if (real !== undefined) return { real, missing };
    if ((await disk.statLink(at))?.kind === "link") return { dangling: at };
    missing.unshift(basename(at));
  }
}

async function realPathOrAbsent(disk: Disk, path: string): Promise<string | undefined> {
  try {
    return await disk.realPath(path);
  } catch (error) {
    if (isDiskError(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
}

function refused(message: string): RefusedPath {
  return { inside: false, message };
}

function quote(path: string): string {
  return JSON.stringify(path.length > 300 ? `${path.slice(0, 300)}…` : path);
}

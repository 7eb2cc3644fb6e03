/** Walks a tree in a fixed order, never through a link: so it ends, and nothing outside is seen. */
import { join } from "node:path";
import { isDiskError, type Disk, type FileStat } from "../../../host/index.ts";
import { reservedPrefix } from "./confinement.ts";
import type { Going, Pace } from "./pace.ts";

/** Something that a walk came to. */
export interface WalkEntry {
  /** Relative to where the walk began, with `/`. */
  readonly relative: string;
  readonly path: string;
  readonly kind: FileStat["kind"];
}

/** How a walk goes. */
export interface WalkOptions {
  readonly pace: Pace;
  /** False for directories that are not of interest. */
  readonly enters: (relative: string) => boolean;
  /** A directory that is passed over, with all that is below. */
  readonly closed: string | undefined;
  /** False for names that are passed over, with all that is below. */
  readonly shows: (name: string) => boolean;
}

/** A walk's own account, complete once it has ended. */
export interface WalkReport {
  /** Why it ended: `on` where nothing was left. */
  ended: Going;
  /** Directories that could not be listed. */
  unreadable: number;
}

/** Names that are passed over unless a pattern or path names them. */
const passedOver = [".git", "node_modules"];

/** Which names a walk shows, given the pattern and path that a model wrote. */
export function namesShown(...written: readonly string[]): (name: string) => boolean {
  const named = new Set(written.flatMap((text) => text.split(/[/{},]/)));
  return (name) => !name.startsWith(reservedPrefix) && (named.has(name) || !passedOver.includes(name));
}

/** Yields everything below `root`, each directory before what is in it, names of one directory in order. */
export async function* walk(
  disk: Disk,
  root: string,
  options: WalkOptions,
  report: WalkReport,
): AsyncGenerator<WalkEntry> {
  const open: WalkEntry[] = [{ relative: "", path: root, kind: "directory" }];
  for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
    report.ended = await options.pace.step();
    if (report.ended !== "on") return;
    if (entry.relative !== "") yield entry;
    if (entry.kind !== "directory" || !options.enters(entry.relative)) continue;
    const below = await listEntries(disk, entry, options);
    if (below === undefined) report.unreadable++;
    else open.push(...below.reverse());
  }
}

/** What is in a directory, in order; undefined where it cannot be listed. */
async function listEntries(
  disk: Disk,
  directory: WalkEntry,
  options: WalkOptions,
): Promise<WalkEntry[] | undefined> {
  try {
    const names = (await disk.list(directory.path)).filter((name) => options.shows(name)).sort();
    const entries: WalkEntry[] = [];
    for (const name of names) {
      const path = join(directory.path, name);
      if (path === options.closed) continue;
      const stat = await disk.statLink(path);
      // Absent: it went away since the listing.
      if (stat === undefined) continue;
      const relative = directory.relative === "" ? name : `${directory.relative}/${name}`;
      entries.push({ relative, path, kind: stat.kind });
    }
    return entries;
  } catch (error) {
    if (isDiskError(error)) return undefined;
    throw error;
  }
}

/** What a model must know of a walk that did not see everything. */
export function walkNotes(report: WalkReport): string[] {
  return [
    ...(report.ended === "late" ? ["[Stopped for time; not everything was looked at. Narrow it down.]"] : []),
    ...(report.unreadable > 0 ? [`[${report.unreadable} directories could not be read.]`] : []),
  ];
}

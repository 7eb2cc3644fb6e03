/** `grep`: lines that match a regular expression, as `path:line:text`. */
import { basename } from "node:path";
import * as z from "zod/mini";
import { isDiskError } from "../../../host/index.ts";
import type { EffectResult, Tool, ToolRun } from "../../../model/agent.ts";
import { declareArguments } from "./arguments.ts";
import { placeName, resolveInside, shownPath, type InsidePath } from "./confinement.ts";
import { withFile } from "./file-bytes.ts";
import type { FileHost } from "./file-host.ts";
import { relativePattern } from "./glob.ts";
import { compileGlob, type GlobPattern } from "./glob-pattern.ts";
import { compileSearch, type LineSearch } from "./line-search.ts";
import { startPace, type Going, type Pace } from "./pace.ts";
import { pureTool } from "./pure-tool.ts";
import { canceled, failed, succeeded } from "./results.ts";
import { NotTextError, readLines, type Line } from "./text-lines.ts";
import { namesShown, walk, walkNotes, type WalkReport } from "./walk.ts";

const hitsMax = 500;
/** UTF-16 units of a line that are searched, and that are shown of a hit. */
const searchedLengthMax = 65_536;
const shownLengthMax = 300;
const timeLimitMs = 20_000;

const grepArguments = declareArguments(
  z.strictObject({
    pattern: z
      .string()
      .check(z.minLength(1), z.describe("JavaScript regular expression, matched within one line.")),
    path: z.optional(z.string().check(z.describe("File or directory to search. Default: the workspace."))),
    glob: z.optional(
      z
        .string()
        .check(
          z.minLength(1),
          z.describe("Only files that match, such as *.ts (any directory) or src/**/*.ts."),
        ),
    ),
    ignoreCase: z.optional(z.boolean()),
  }),
);

interface GrepArguments {
  pattern: string;
  path?: string | undefined;
  glob?: string | undefined;
  ignoreCase?: boolean | undefined;
}

/** The tool `grep`. */
export function grepTool(host: FileHost): Tool {
  return pureTool(host, {
    name: "grep",
    description:
      "Searches file contents by a JavaScript regular expression, line by line. Prints path:line:text, at most " +
      `${hitsMax} hits. Binary files are passed over, and so are .git and node_modules unless named.`,
    arguments: grepArguments,
    look: (run, args) => search(host, run, args),
  });
}

async function search(host: FileHost, run: ToolRun, args: GrepArguments): Promise<EffectResult> {
  const target = await resolveInside(host.disk, run.place, args.path ?? ".");
  if (!target.inside) return failed(target.message, { reason: "refused" });
  if (target.stat === undefined) return failed(`${target.shown} does not exist.`, { reason: "missing" });
  const lineSearch = compileSearch(args.pattern, args.ignoreCase ?? false);
  if ("problem" in lineSearch) {
    return failed(`The pattern is no JavaScript regular expression: ${lineSearch.problem}.`, {
      reason: "bad_pattern",
    });
  }
  const filter = fileFilter(args.glob, target);
  if ("problem" in filter) return failed(`The glob ${filter.problem}.`, { reason: "bad_pattern" });
  const pace = startPace(host.clock, run.signal, timeLimitMs);
  const tally = startTally();
  const report: WalkReport = { ended: "on", unreadable: 0 };
  const job: Job = { host, run, args, target, lineSearch, filter, pace, tally, report };
  await (target.stat.kind === "directory" ? searchTree(job) : searchFile(job, target.path));
  return resultOf(job);
}

interface Job {
  host: FileHost;
  run: ToolRun;
  args: GrepArguments;
  target: InsidePath;
  lineSearch: LineSearch;
  filter: FileFilter;
  pace: Pace;
  tally: Tally;
  report: WalkReport;
}

interface Tally {
  readonly hits: string[];
  isFull: boolean;
  files: number;
  unreadable: number;
  /** Lines that were searched only in their beginning. */
  cutLines: number;
  /** The line at which the expression took too long. */
  stuckAt: string | undefined;
}

function startTally(): Tally {
  return { hits: [], isFull: false, files: 0, unreadable: 0, cutLines: 0, stuckAt: undefined };
}

interface FileFilter {
  readonly takes: (relative: string) => boolean;
  readonly enters: (relative: string) => boolean;
}

/** A glob without a slash is about the name, in any directory; one with a slash about the path below `path`. */
function fileFilter(glob: string | undefined, target: InsidePath): FileFilter | { problem: string } {
  if (glob === undefined) return { takes: () => true, enters: () => true };
  const written = relativePattern(glob, target.path);
  if (written === undefined) return { problem: `${glob} leads out of ${placeName(target)}` };
  const pattern: GlobPattern | { problem: string } = compileGlob(written);
  if ("problem" in pattern) return pattern;
  if (written.includes("/")) return { takes: pattern.matches, enters: pattern.reaches };
  return { takes: (relative) => pattern.matches(basename(relative)), enters: () => true };
}

async function searchTree(job: Job): Promise<void> {
  const options = {
    pace: job.pace,
    closed: job.run.place.closed,
    enters: job.filter.enters,
    shows: namesShown(job.args.glob ?? "", job.target.shown),
  };
  for await (const entry of walk(job.host.disk, job.target.path, options, job.report)) {
    if (entry.kind !== "file" || !job.filter.takes(entry.relative)) continue;
    await searchFile(job, entry.path);
    if (job.tally.isFull || job.tally.stuckAt !== undefined || job.report.ended !== "on") return;
  }
}

async function searchFile(job: Job, path: string): Promise<void> {
  try {
    job.report.ended = await withFile(job.host.disk, path, "read", async (file) => {
      let number = 1;
      const options = { lineLengthMax: searchedLengthMax, strict: false };
      for await (const lines of readLines(file, options)) {
        if (!searchLines(job, path, lines, number)) return "on";
        number += lines.length;
        const going: Going = await job.pace.step();
        if (going !== "on") return going;
      }
      return "on";
    });
    job.tally.files++;
  } catch (error) {
    if (error instanceof NotTextError) return;
    // It may have gone away since it was listed, or be somebody else's: the others still count.
    if (!isDiskError(error)) throw error;
    job.tally.unreadable++;
  }
}

/** False where the search is over. */
function searchLines(job: Job, path: string, lines: readonly Line[], firstNumber: number): boolean {
  const { tally } = job;
  const shown = shownPath(job.run.place.workspace, path);
  const found = job.lineSearch.search(lines);
  tally.cutLines += lines.filter((line) => line.length > searchedLengthMax).length;
  if ("stuckAt" in found) {
    tally.stuckAt = `${shown}:${firstNumber + found.stuckAt}`;
    return false;
  }
  for (const hit of found.hits) {
    tally.isFull = tally.hits.length === hitsMax;
    if (tally.isFull) return false;
    const text = lines[hit.index]?.text ?? "";
    tally.hits.push(`${shown}:${firstNumber + hit.index}:${excerpt(text, hit.column)}`);
  }
  return true;
}

/** A long line is shown around its match. */
function excerpt(text: string, column: number): string {
  if (text.length <= shownLengthMax) return text;
  const from = Math.max(0, Math.min(column - 100, text.length - shownLengthMax));
  const piece = text.slice(from, from + shownLengthMax);
  return `${from > 0 ? "…" : ""}${piece}${from + shownLengthMax < text.length ? "…" : ""}`;
}

function resultOf(job: Job): EffectResult {
  const { tally, report } = job;
  if (tally.stuckAt !== undefined) {
    return failed(
      `The pattern takes too long at ${tally.stuckAt} (it backtracks without end). Use a simpler one, without ` +
        "repetitions inside repetitions.",
      { reason: "pattern_too_slow" },
    );
  }
  if (report.ended === "canceled") return canceled();
  const notes = [
    ...(tally.hits.length === 0 ? [`[No line matches in ${placeName(job.target)}.]`] : []),
    ...(tally.isFull
      ? [`[The first ${hitsMax} hits; there are more. Narrow the pattern, path or glob.]`]
      : []),
    ...(tally.cutLines > 0 ? [`[${tally.cutLines} very long lines were searched only in part.]`] : []),
    ...(tally.unreadable > 0 ? [`[${tally.unreadable} files could not be read.]`] : []),
    ...walkNotes(report),
  ];
  return succeeded([...tally.hits, ...notes].join("\n"), { hits: tally.hits.length, files: tally.files });
}

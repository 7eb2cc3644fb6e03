/** `glob`: paths that match a pattern. */
import { isAbsolute } from "node:path";
import * as z from "zod/mini";
import type { EffectResult, Tool, ToolRun } from "../../../model/agent.ts";
import { declareArguments } from "./arguments.ts";
import { placeName, resolveInside, shownPath, type InsidePath } from "./confinement.ts";
import type { FileHost } from "./file-host.ts";
import { compileGlob, type GlobPattern } from "./glob-pattern.ts";
import { startPace } from "./pace.ts";
import { pureTool } from "./pure-tool.ts";
import { canceled, failed, succeeded } from "./results.ts";
import { namesShown, walk, walkNotes, type WalkReport } from "./walk.ts";

const pathsMax = 1_000;
const timeLimitMs = 20_000;

const globArguments = declareArguments(
  z.strictObject({
    pattern: z
      .string()
      .check(z.minLength(1), z.describe("Pattern of the path relative to `path`, such as src/**/*.ts.")),
    path: z.optional(z.string().check(z.describe("Directory to search. Default: the workspace."))),
  }),
);

type GlobArguments = { pattern: string; path?: string | undefined };

/** The tool `glob`. */
export function globTool(host: FileHost): Tool {
  return pureTool(host, {
    name: "glob",
    description:
      "Lists paths that match a pattern: * and ? within a name, ** for any directories, [a-z], {a,b}. Files always, " +
      "directories (with a slash at the end) only where the pattern has no **; so * shows what is in a directory. " +
      `.git and node_modules are passed over unless named. At most ${pathsMax} paths, in order.`,
    arguments: globArguments,
    look: (run, args) => listPaths(host, run, args),
  });
}

async function listPaths(host: FileHost, run: ToolRun, args: GlobArguments): Promise<EffectResult> {
  const target = await resolveInside(host.disk, run.place, args.path ?? ".");
  if (!target.inside) return failed(target.message, { reason: "refused" });
  const written = relativePattern(args.pattern, target.path);
  if (written === undefined) {
    return failed(`The pattern ${args.pattern} leads out of ${placeName(target)}. Give one relative to it.`, {
      reason: "refused",
    });
  }
  const problem = notADirectory(target);
  if (problem !== undefined) return problem;
  const pattern = compileGlob(written);
  if ("problem" in pattern) return failed(`The pattern ${pattern.problem}.`, { reason: "bad_pattern" });
  return await collect(host, run, { target, args, pattern, written });
}

interface Search {
  target: InsidePath;
  args: GlobArguments;
  pattern: GlobPattern;
  written: string;
}

async function collect(host: FileHost, run: ToolRun, search: Search): Promise<EffectResult> {
  const { pattern, target, args } = search;
  const paths: string[] = [];
  const report: WalkReport = { ended: "on", unreadable: 0 };
  const options = {
    pace: startPace(host.clock, run.signal, timeLimitMs),
    closed: run.place.closed,
    enters: (relative: string) => pattern.reaches(relative),
    shows: namesShown(search.written, target.shown),
  };
  const showsDirectories = !search.written.includes("**");
  let isCut = false;
  for await (const entry of walk(host.disk, target.path, options, report)) {
    if (entry.kind === "directory" && !showsDirectories) continue;
    if (!pattern.matches(entry.relative)) continue;
    isCut = paths.length === pathsMax;
    if (isCut) break;
    const shown = shownPath(run.place.workspace, entry.path);
    paths.push(entry.kind === "directory" ? `${shown}/` : shown);
  }
  if (report.ended === "canceled") return canceled();
  const notes = [
    ...(isCut ? [`[The first ${pathsMax} paths; there are more. Narrow the pattern or the path.]`] : []),
    ...walkNotes(report),
  ];
  if (paths.length === 0) notes.unshift(nothingFound(args.pattern, placeName(target)));
  return succeeded([...paths, ...notes].join("\n"), { paths: paths.length });
}

function nothingFound(pattern: string, place: string): string {
  const hint = pattern.includes("/") ? "" : ` **/${pattern} looks in all directories below it too.`;
  return `[Nothing matches ${pattern} in ${place}.${hint}]`;
}

/** The result where there is no directory to search. */
function notADirectory(target: InsidePath): EffectResult | undefined {
  if (target.stat?.kind === "directory") return undefined;
  return target.stat === undefined
    ? failed(`${target.shown} does not exist.`, { reason: "missing" })
    : failed(`${target.shown} is not a directory.`, { reason: "not_a_directory" });
}

/** The pattern relative to `directory`, also where it was written absolute; undefined where it leads elsewhere. */
export function relativePattern(pattern: string, directory: string): string | undefined {
  if (pattern.split("/").includes("..")) return undefined;
  if (!isAbsolute(pattern)) return pattern;
  const prefix = directory.endsWith("/") ? directory : `${directory}/`;
  return pattern.startsWith(prefix) ? pattern.slice(prefix.length) : undefined;
}

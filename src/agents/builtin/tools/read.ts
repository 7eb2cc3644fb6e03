/**
 * `read`: a text file with line numbers. A line is `<number><tab><text>`: numbers let a model name places and read
 * on, the tab keeps indentation as it is, and there is no padding to pay for.
 */
import * as z from "zod/mini";
import type { EffectResult, Tool, ToolRun } from "../../../model/agent.ts";
import { declareArguments } from "./arguments.ts";
import { resolveInside, type InsidePath } from "./confinement.ts";
import { withFile } from "./file-bytes.ts";
import type { FileHost } from "./file-host.ts";
import { startPace } from "./pace.ts";
import { pureTool } from "./pure-tool.ts";
import { canceled, failed, succeeded } from "./results.ts";
import { NotTextError, readLines, type Line } from "./text-lines.ts";

const defaultLines = 2_000;
const lineLengthMax = 2_000;
/** UTF-16 units of one result; about what fits a model's patience. */
const outputLengthMax = 100_000;
const timeLimitMs = 20_000;

const readArguments = declareArguments(
  z.strictObject({
    path: z.string().check(z.describe("File to read, relative to the workspace.")),
    offset: z.optional(z.int().check(z.minimum(1), z.describe("First line to read, from 1. Default: 1."))),
    limit: z.optional(
      z.int().check(z.minimum(1), z.describe(`Number of lines to read. Default: ${defaultLines}.`)),
    ),
  }),
);

type ReadArguments = { path: string; offset?: number | undefined; limit?: number | undefined };

/** The tool `read`. */
export function readTool(host: FileHost): Tool {
  return pureTool(host, {
    name: "read",
    description:
      "Reads a text file of the workspace. Each line is shown as its number, a tab and its text; number and tab are " +
      `not part of the file. Reads ${defaultLines} lines unless told otherwise and says how to read on. Lines over ` +
      `${lineLengthMax} characters are cut.`,
    arguments: readArguments,
    look: async (run, args) => {
      const target = await resolveInside(host.disk, run.place, args.path);
      if (!target.inside) return failed(target.message, { reason: "refused" });
      return unreadable(target) ?? (await readText(host, run, target, args));
    },
  });
}

/** The result where there is no file to read. */
function unreadable(target: InsidePath): EffectResult | undefined {
  const { shown } = target;
  if (target.stat === undefined) {
    return failed(`${shown} does not exist. Use glob to find the right path.`, { reason: "missing" });
  }
  if (target.stat.kind === "directory") {
    return failed(`${shown} is a directory. Use glob to see what is in it.`, { reason: "directory" });
  }
  return target.stat.kind === "file"
    ? undefined
    : failed(`${shown} is not a regular file and cannot be read.`, { reason: "not_a_file" });
}

async function readText(
  host: FileHost,
  run: ToolRun,
  target: InsidePath,
  args: ReadArguments,
): Promise<EffectResult> {
  try {
    return await withFile(host.disk, target.path, "read", async (file) => {
      const page = startPage(args.offset ?? 1, args.limit ?? defaultLines);
      const pace = startPace(host.clock, run.signal, timeLimitMs);
      for await (const lines of readLines(file, { lineLengthMax, strict: true })) {
        for (const line of lines) if (!page.add(line)) return page.result(target.shown);
        const going = await pace.step();
        if (going === "canceled") return canceled();
        if (going === "late") return failed(`${target.shown} is too large to reach that line in time.`);
      }
      return page.result(target.shown);
    });
  } catch (error) {
    if (!(error instanceof NotTextError)) throw error;
    const what = error.why === "binary" ? "a binary file" : "not UTF-8 text";
    return failed(`${target.shown} is ${what} (${target.stat?.size ?? 0} bytes) and cannot be shown.`, {
      reason: error.why,
    });
  }
}

interface Page {
  /** False, having taken nothing, where the page is full. */
  add(line: Line): boolean;
  result(shown: string): EffectResult;
}

function startPage(offset: number, limit: number): Page {
  const shownLines: string[] = [];
  const endings = { lf: 0, crlf: 0 };
  let seen = 0;
  let length = 0;
  let isFull = false;
  return {
    add(line) {
      if (seen + 1 >= offset) {
        const text = `${seen + 1}\t${showLine(line)}`;
        // A first line always fits, so that reading on always gets further.
        isFull =
          shownLines.length > 0 && (shownLines.length >= limit || length + text.length > outputLengthMax);
        if (isFull) return false;
        shownLines.push(text);
        length += text.length + 1;
        if (line.ending !== "none") endings[line.ending]++;
      }
      seen++;
      return true;
    },
    result(shown) {
      if (shownLines.length === 0) return emptyPage(shown, offset, seen);
      const notes = [
        ...(isFull ? [`[More follows: read on with offset ${seen + 1}.]`] : []),
        ...endingNote(endings),
      ];
      return succeeded([...shownLines, ...notes].join("\n"), { lines: shownLines.length });
    },
  };
}

function emptyPage(shown: string, offset: number, seen: number): EffectResult {
  if (seen === 0) return succeeded(`[${shown} is empty.]`, { lines: 0 });
  return failed(`${shown} has only ${seen} lines; there is no line ${offset}.`, { reason: "past_end" });
}

function showLine(line: Line): string {
  if (line.length <= lineLengthMax) return line.text;
  return `${line.text} … [cut: the line has ${line.length} characters]`;
}

function endingNote(endings: { lf: number; crlf: number }): string[] {
  if (endings.crlf === 0) return [];
  return [endings.lf === 0 ? "[Lines end in CRLF.]" : "[Some lines end in CRLF, some in LF.]"];
}

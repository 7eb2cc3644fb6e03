import type { LiveEvent } from "../../engine/index.ts";
import type { Commit } from "../../model/commit.ts";
import { printCommit, printedSchema } from "../../model/printed-line.ts";
import type { OutputStream } from "../outside.ts";
import { Writer } from "../writer.ts";
import type { ProgressOutput } from "./output.ts";

/** JSON Lines: each durable fact as it is committed, and what happens meanwhile as `live.*` without a `seq`. */

/** Writes JSON Lines. */
export function jsonlProgress(stream: OutputStream): ProgressOutput {
  const writer = new Writer(stream);
  return {
    observer: {
      commit: (commit) => writer.write(linesOf(commit)),
      live: (event: LiveEvent) => writer.write(`${JSON.stringify({ schema: printedSchema, ...event })}\n`),
    },
    begun: () => undefined,
    stop: () => undefined,
    ended: () => undefined,
    needsRun: false,
    flushed: () => writer.flushed(),
  };
}

function linesOf(commit: Commit): string {
  return printCommit(commit)
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");
}

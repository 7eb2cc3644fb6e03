import type { LiveEvent } from "../../engine/index.ts";
import type { Commit } from "../../model/commit.ts";
import { printCommit, printedSchema } from "../../model/printed-line.ts";
import type { OutputStream } from "../outside.ts";
import type { ProgressOutput } from "./output.ts";

/** JSON Lines: each durable fact as it is committed, and what happens meanwhile as `live.*` without a `seq`. */

/** Writes JSON Lines. */
export function jsonlProgress(stream: OutputStream): ProgressOutput {
  let written: Promise<void> = Promise.resolve();
  const write = (text: string): void => {
    if (text !== "") written = stream.write(text);
  };
  return {
    observer: {
      commit: (commit) => write(linesOf(commit)),
      live: (event: LiveEvent) => write(`${JSON.stringify({ schema: printedSchema, ...event })}\n`),
    },
    begun: () => undefined,
    stop: () => undefined,
    ended: () => undefined,
    needsRun: false,
    flushed: () => written,
  };
}

function linesOf(commit: Commit): string {
  return printCommit(commit)
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");
}

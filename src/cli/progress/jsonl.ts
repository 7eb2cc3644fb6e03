import type { LiveEvent } from "../../engine/index.ts";
import type { OutputStream } from "../../host/index.ts";
import type { Commit } from "../../model/commit.ts";
import { printCommit, printedSchema } from "../../model/printed-line.ts";
import { Writer } from "../writer.ts";
import type { ProgressOutput } from "./output.ts";
import { durableWaitsMax } from "./output.ts";

/**
 * JSON Lines: each durable fact as it is committed, and what happens meanwhile as `live.*` without a `seq`. Behind a
 * reader that is too slow what is transient is left out first; what is durable is never left out, so work waits for it.
 */

/** Characters of output behind which nothing transient is queued any more. */
const liveWaitsMax = 256 * 1024;

/** Writes JSON Lines. */
export function jsonlProgress(stream: OutputStream): ProgressOutput {
  const writer = new Writer(stream);
  return {
    observer: {
      commit: async (commit) => {
        writer.write(linesOf(commit));
        await writer.room(durableWaitsMax);
      },
      live: (event: LiveEvent) => {
        // Programs read that from the fact of the failure.
        if (event.type === "live.retry" || writer.waits > liveWaitsMax) return;
        writer.write(`${JSON.stringify({ schema: printedSchema, ...event })}\n`);
      },
    },
    begun: () => undefined,
    note: () => undefined,
    ask: () => undefined,
    answered: () => undefined,
    stop: () => undefined,
    ended: () => undefined,
    needsLeft: false,
    flushed: () => writer.flushed(),
  };
}

function linesOf(commit: Commit): string {
  return printCommit(commit)
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");
}

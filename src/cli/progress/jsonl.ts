import type { LiveEvent } from "../../engine/index.ts";
import type { Commit } from "../../model/commit.ts";
import type { OutputStream } from "../outside.ts";
import type { ProgressOutput } from "./output.ts";

/** JSON Lines: each durable fact as it is committed, and what happens meanwhile as `live.*` without a `seq`. */

const schema = 1;
const silentKinds = new Set(["row", "lease.released"]);

/** Writes JSON Lines. */
export function jsonlProgress(stream: OutputStream): ProgressOutput {
  let written: Promise<void> = Promise.resolve();
  const write = (text: string): void => {
    if (text !== "") written = stream.write(text);
  };
  return {
    observer: {
      commit: (commit) => write(linesOf(commit)),
      live: (event: LiveEvent) => write(`${JSON.stringify({ schema, ...event })}\n`),
    },
    begun: () => undefined,
    stop: () => undefined,
    ended: () => undefined,
    needsRun: false,
    flushed: () => written,
  };
}

/** The lines of one commit; its facts share a `seq`. */
function linesOf(commit: Commit): string {
  const { seq, at, ses: session } = commit;
  const told = commit.facts.filter((fact) => !silentKinds.has(fact.kind));
  const lines = told.map(({ kind: type, ...fields }) => {
    // The envelope stands first for people and wins over a field of the same name.
    const envelope = { schema, seq, at, session, type };
    return `${JSON.stringify({ ...envelope, ...fields, ...envelope })}\n`;
  });
  return lines.join("");
}

import type { ErrorCode } from "./errors.ts";
import { errorTable } from "./errors.ts";
import type { RunState } from "./run.ts";

/** What came of the work on a session, as a code of the one table: it gives the exit code and the error of a document. */

/** How the work on a session ended, with the reason of a failed or suspended run. `idle`: there was nothing to do. */
export interface EndOfWork {
  readonly ending: Exclude<RunState["at"], "queued" | "running"> | "idle";
  readonly reason?: string | undefined;
}

/** The error's code; undefined where all is well. */
export function codeOfEnding({ ending, reason }: EndOfWork): ErrorCode | undefined {
  switch (ending) {
    case "completed":
    case "idle":
      return undefined;
    case "failed":
      return codeOfFailed(reason);
    case "canceled":
      return "canceled";
    case "input_required":
      return "input_required";
    case "suspended":
      if (reason === "provider") return "provider_failed";
      return reason === "agent" ? "agent_failed" : "suspended";
  }
}

/** The process's exit code. */
export function exitCodeOfEnding(end: EndOfWork): number {
  const code = codeOfEnding(end);
  return code === undefined ? 0 : errorTable[code].exit;
}

/** A failed run's reason is often a code itself; whichever it is, the exit code is that of a failed run. */
function codeOfFailed(reason: string | undefined): ErrorCode {
  const isCode = reason !== undefined && Object.hasOwn(errorTable, reason);
  const code = isCode ? (reason as ErrorCode) : "run_failed";
  return errorTable[code].exit === errorTable.run_failed.exit ? code : "run_failed";
}

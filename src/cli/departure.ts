import { errorTable } from "../model/errors.ts";
import type { Call } from "./call.ts";
import type { Failure } from "./failure.ts";
import { reportFailure } from "./failure.ts";
import type { ProgressOutput } from "./progress/output.ts";
import type { Watch } from "./watch.ts";

/**
 * How a signal ends the process: the work begins nothing more, what waits for its reader has a moment to get out, then
 * the process is gone. The log is consistent at every instant, and who resumes finds out what had happened.
 */

/** What is left behind. */
export interface Leaving {
  readonly output: ProgressOutput;
  readonly watch: Watch;
  /** Stops the work. */
  readonly stop: AbortController;
}

// Together two seconds: a reader that stopped reading keeps no process that was told to go.
const flushMs = 1500;
const reportMs = 500;

/** Leaves; the second signal ends the process at once. */
export function leave(call: Call, { output, watch, stop }: Leaving): void {
  const { outside } = call;
  const { clock } = outside.host;
  const exit = () => outside.exit(errorTable.interrupted.exit);
  if (stop.signal.aborted) exit();
  stop.abort();
  output.stop();
  void Promise.race([Promise.allSettled([output.flushed()]), clock.sleep(flushMs)])
    .then(() => Promise.race([reportFailure(call, interruption(call, watch), watch), clock.sleep(reportMs)]))
    .then(exit);
}

/**
 * What a signal does when the work is over and only its telling goes on: that is not kept waiting by its reader for
 * long, and takes nothing back. `exitCode` is that of the work.
 */
export function hurry({ outside }: Call, exitCode: number): () => void {
  let isTold = false;
  return () => {
    if (isTold) outside.exit(exitCode);
    isTold = true;
    void outside.host.clock.sleep(flushMs + reportMs).then(() => outside.exit(exitCode));
  };
}

function interruption(call: Call, watch: Watch): Failure {
  const { session } = watch;
  if (session === undefined) {
    return { code: "interrupted", message: "interrupted before a session was made" };
  }
  return {
    code: "interrupted",
    message: `interrupted; session ${session} is kept`,
    hint: watch.wayOn(call.program),
  };
}

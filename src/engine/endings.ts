import type { Step } from "../model/next-step.ts";
import type { RunState } from "../model/run.ts";
import { addUsage } from "../model/values.ts";
import { messageLeftBehind } from "./interrupted-answer.ts";
import { limitsOf } from "./limits.ts";
import type { Crew, Worker } from "./worker.ts";

/** How an attempt begins, and every way in which it, or its run, ends without an answer. */

/** Puts on record that this process picks the run up, with what the one before had read of an answer; starts its time. */
export async function startRun(crew: Crew, run: RunState, attempt: number): Promise<void> {
  const { worker, brakes } = crew;
  const { run: id } = run;
  await worker.commit([...(await messageLeftBehind(worker, run)), { kind: "run.started", run: id, attempt }]);
  const { maxWallClockMs } = limitsOf(crew);
  if (maxWallClockMs === undefined) return;
  const spentMs = worker.state.runs.get(id)?.elapsedMs ?? 0;
  brakes.limit(Math.max(0, maxWallClockMs - spentMs));
}

/**
 * The run waits for a person, unless all was said in that very moment: then false. A resume that still finds no answer is
 * no attempt, and takes none of the run's time.
 */
export async function requireInput(
  worker: Worker,
  run: RunState,
  { operations: asked, elapsedMs }: { readonly operations: readonly string[]; readonly elapsedMs: number },
): Promise<boolean> {
  const tookMs = isPicked(worker, run) ? elapsedMs : 0;
  let operations: string[] = [];
  await worker.commitIf(() => {
    operations = asked.filter((one) => worker.state.operations.get(one)?.at === "unknown");
    if (operations.length === 0) return [];
    return [{ kind: "run.input_required", run: run.run, operations, elapsedMs: tookMs }];
  });
  return operations.length > 0;
}

/** The attempt ends, the run stays open. */
export async function suspendRun(
  worker: Worker,
  { run }: RunState,
  { reason, message, elapsedMs }: Extract<Step, { do: "suspend" }> & { readonly elapsedMs: number },
): Promise<void> {
  await worker.commit([
    { kind: "run.suspended", run, reason, ...(message !== undefined && { message }), elapsedMs },
  ]);
}

/** The run is over, without an answer to its task. */
export async function endRun(
  worker: Worker,
  run: RunState,
  {
    status,
    reason,
    message: text,
    by,
    elapsedMs,
  }: Extract<Step, { do: "end" }> & { readonly elapsedMs: number },
): Promise<void> {
  const { run: id, usage, turns, calling } = run;
  await worker.commit([
    ...(await messageLeftBehind(worker, run)),
    {
      kind: "run.ended",
      run: id,
      status,
      ...(reason !== undefined && { reason }),
      ...(by !== undefined && { by: worker.redact(by).toWellFormed() }),
      ...(text !== undefined && { text }),
      // What a call cost that a dead process made nobody knows.
      usage: calling ? addUsage(usage, undefined) : usage,
      turns,
      elapsedMs: isPicked(worker, run) ? elapsedMs : 0,
    },
  ]);
}

/** True where this very process drives the run, and does not only end what another one left. */
function isPicked(worker: Worker, run: RunState): boolean {
  return run.at === "running" && run.epoch === worker.held.epoch;
}

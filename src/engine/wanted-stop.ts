import { HoldfastError } from "../model/errors.ts";
import type { SessionState } from "../model/fold.ts";
import { unknownOperations } from "../model/fold.ts";
import type { RequestOf } from "../model/request.ts";
import type { RunState } from "../model/run.ts";
import { isOver } from "../model/run.ts";
import { graverStop } from "../model/stop.ts";
import type { Worker } from "./worker.ts";

/** A run that somebody wants to stop, from here or from another process: what came of it, or may still come. */

/** Which run, and how it shall end. */
export type WantedStop = RequestOf<"cancel" | "abandon">;

/**
 * True where the run has ended as it is wanted to; false where it may still. Rejects `not_found`, `usage` where it ended
 * otherwise, and `input_required` where it is not to be canceled before a person says what happened.
 */
export function isStopped(state: SessionState, wanted: WantedStop): boolean {
  const { verb, run: id } = wanted;
  const run = state.runs.get(id);
  if (run === undefined) throw new HoldfastError("not_found", `session ${state.id} has no run ${id}`);
  if (isOver(run)) {
    if (verb === "cancel" ? run.at === "canceled" : run.reason === "abandoned") return true;
    const words = verb === "cancel" ? "canceled" : "abandoned";
    throw new HoldfastError("usage", `run ${id} cannot be ${words}: it is ${run.at}`);
  }
  if (verb === "cancel" && waitsForPerson(state, run)) {
    const message = `run ${id} is not canceled: it is not known whether some operations happened, and a person must say`;
    throw new HoldfastError("input_required", message);
  }
  return false;
}

/** Has a run stop because somebody wants it; false where it has stopped so already. Rejects as {@link isStopped}. */
export function wantStop(worker: Worker, wanted: WantedStop, by: string): boolean {
  if (isStopped(worker.state, wanted)) return false;
  const { verb: kind, run } = wanted;
  const stop = graverStop(worker.wanted.get(run), { kind, by });
  worker.wanted.set(run, stop);
  if (worker.driven?.run === run) worker.driven.brakes.request(stop);
  return true;
}

/** Forgets who wanted what of runs that have stopped, or do not before a person says what happened. */
export function forgetStopped({ state, wanted }: Worker): void {
  for (const [id, { kind }] of wanted) {
    const run = state.runs.get(id);
    const isLeft = run === undefined || isOver(run) || (kind === "cancel" && waitsForPerson(state, run));
    if (isLeft) wanted.delete(id);
  }
}

function waitsForPerson(state: SessionState, { at }: RunState): boolean {
  return at === "input_required" && unknownOperations(state).length > 0;
}

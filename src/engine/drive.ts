import { openOperations } from "../model/fold.ts";
import { next } from "../model/next-step.ts";
import type { RunState } from "../model/run.ts";
import { isOver } from "../model/run.ts";
import { askApproval, awaitApproval, needsApproval } from "./approvals.ts";
import { Brakes } from "./brakes.ts";
import { callModel } from "./call-model.ts";
import { endRun, requireInput, startRun, suspendRun } from "./endings.ts";
import { limitsOf } from "./limits.ts";
import { beginOperations, cancelOperations } from "./operations.ts";
import { proveOperation } from "./proofs.ts";
import { settleTurn } from "./settle-turn.ts";
import type { Crew, Staff } from "./worker.ts";

/**
 * The only loop: while there is a next step, intent, sync → effect → outcome, sync → evolve. A6 Recovery is this same
 * loop started on a folded log, and a stop is a reason for other steps; there is no second path that can be forgotten.
 */

/** How a run left the loop. */
export type Ending = Exclude<RunState["at"], "queued" | "running">;

/** Drives a run until it is over, waits for a person, or its attempt ends. */
export async function drive(staff: Staff, id: string): Promise<Ending> {
  const { worker, graceMs } = staff;
  const { clock } = worker.context.host;
  const brakes = new Brakes({ clock, stops: worker.stops, graceMs, own: worker.wanted.get(id) });
  worker.driven = { run: id, brakes };
  try {
    return await driveRun({ ...staff, brakes }, id);
  } finally {
    worker.driven = undefined;
    brakes.release();
  }
}

async function driveRun(crew: Crew, id: string): Promise<Ending> {
  const { worker, brakes } = crew;
  const { clock } = worker.context.host;
  const { epoch } = worker.held;
  const startedMs = clock.monotonicMs();
  const elapsedMs = () => Math.round(clock.monotonicMs() - startedMs);
  const limits = limitsOf(crew);
  for (;;) {
    const run = worker.state.runs.get(id);
    if (run === undefined) throw new TypeError(`there is no run ${id}`);
    const step = next(run, openOperations(worker.state), {
      epoch,
      limits,
      elapsedMs: elapsedMs(),
      stop: brakes.stop,
      needsApproval: (operation) => needsApproval(crew, operation),
    });
    switch (step.do) {
      case "start":
        await startRun(crew, run, step.attempt);
        break;
      case "call":
        await callModel(crew, run, step, elapsedMs);
        break;
      case "ask":
        await askApproval(crew, step.operations);
        break;
      case "await":
        await awaitApproval(crew, step.operations);
        break;
      case "begin":
        await beginOperations(crew, step.operations);
        break;
      case "prove":
        await proveOperation(crew, step.operation);
        break;
      case "cancel":
        await cancelOperations(crew, step.operations);
        break;
      case "settle":
        await settleTurn(crew, step.operations);
        break;
      case "require_input":
        if (await requireInput(worker, run, { ...step, elapsedMs: elapsedMs() })) return "input_required";
        break;
      case "suspend":
        await suspendRun(worker, run, { ...step, elapsedMs: elapsedMs() });
        return "suspended";
      case "end":
        await endRun(worker, run, { ...step, elapsedMs: elapsedMs() });
        return step.status;
      case "stop":
        return isOver(run) ? run.at : "suspended";
    }
  }
}

import type { RunState } from "../model/run.ts";
import { isOver, next } from "../model/run.ts";
import { openOperations } from "../model/fold.ts";
import { callModel } from "./call-model.ts";
import { limitsOf } from "./limits.ts";
import { beginOperations } from "./operations.ts";
import { proveOperation } from "./proofs.ts";
import { settleTurn } from "./settle-turn.ts";
import type { Crew } from "./worker.ts";

/**
 * The only loop: while there is a next step, intent, sync → effect → outcome, sync → evolve. A6 Recovery is this same
 * loop started on a folded log; there is no second path that can be forgotten.
 */

/** How a run left the loop. */
export type Ending = Exclude<RunState["at"], "queued" | "running">;

/** Drives a run until it is over, waits for a person, or its attempt ends. */
export async function drive(crew: Crew, id: string): Promise<Ending> {
  const { worker } = crew;
  const { clock } = worker.context.host;
  const { epoch } = worker.held;
  const startedMs = clock.monotonicMs();
  const elapsedMs = () => Math.round(clock.monotonicMs() - startedMs);
  const limits = limitsOf(crew);
  for (;;) {
    const run = worker.state.runs.get(id);
    if (run === undefined) throw new TypeError(`there is no run ${id}`);
    const holder = { epoch, limits, elapsedMs: elapsedMs() };
    const step = next(run, openOperations(worker.state), holder);
    switch (step.do) {
      case "start":
        await worker.commit([{ kind: "run.started", run: id, attempt: step.attempt }]);
        break;
      case "call":
        await callModel(crew, run, step, elapsedMs);
        break;
      case "begin":
        await beginOperations(crew, step.operations);
        break;
      case "prove":
        await proveOperation(crew, step.operation);
        break;
      case "settle":
        await settleTurn(crew, step.operations);
        break;
      case "require_input": {
        const operations = [...step.operations];
        // A resume that still finds no answer is no attempt, and takes none of the run's time.
        const tookMs = run.at === "running" ? elapsedMs() : 0;
        await worker.commit([{ kind: "run.input_required", run: id, operations, elapsedMs: tookMs }]);
        return "input_required";
      }
      case "suspend": {
        const { reason, message } = step;
        await worker.commit([{ kind: "run.suspended", run: id, reason, message, elapsedMs: elapsedMs() }]);
        return "suspended";
      }
      case "fail": {
        const { reason, message: text } = step;
        const { usage, turns } = run;
        await worker.commit([
          {
            kind: "run.ended",
            run: id,
            status: "failed",
            reason,
            text,
            usage,
            turns,
            elapsedMs: elapsedMs(),
          },
        ]);
        return "failed";
      }
      case "stop":
        return isOver(run) ? run.at : "suspended";
    }
  }
}

import { HoldfastError } from "../model/errors.ts";
import type { OperationResolved } from "../model/facts.ts";
import type { SessionState } from "../model/fold.ts";
import type { OperationState } from "../model/operation.ts";
import type { RunView } from "../model/views.ts";
import { viewRun } from "../model/views.ts";
import type { EngineContext, Observer } from "./context.ts";
import { PayloadWriter } from "./payloads.ts";
import { matches } from "./read-session.ts";
import { Worker } from "./worker.ts";

/** A person's word about one operation whose outcome is unknown. */
export interface Resolution {
  readonly session: string;
  readonly run: string;
  readonly operation: string;
  readonly outcome: "ok" | "error" | "not_executed";
  /** What the model reads. */
  readonly output?: string;
  /** How the person knows. */
  readonly evidence?: string;
  /** The user of the operating system where absent. */
  readonly by?: string;
}

const silent: Observer = { commit: () => undefined, live: () => undefined };

/**
 * Records what a person says happened; executes nothing. Resolving again with the same words changes nothing. Rejects
 * `not_found`, `already_resolved`, `busy`, or `usage` where the operation's outcome is not unknown.
 */
export async function resolveOperation(context: EngineContext, resolution: Resolution): Promise<RunView> {
  const session = await context.store.find(resolution.session);
  let found: OperationState | undefined;
  const worker = await Worker.take(context, session, {
    acceptRollback: false,
    observer: silent,
    accept: async (state) => {
      found = findOperation(state, resolution);
      refuse(found, resolution);
    },
  });
  try {
    if (found?.at === "unknown") await worker.commit([await resolvedFact(worker, found, resolution)]);
    await worker.held.release(() => true);
  } catch (error) {
    await worker.held.abandon();
    throw error;
  }
  const run = worker.state.runs.get(found?.run ?? "");
  if (run === undefined)
    throw new HoldfastError("not_found", `session ${session} has no run ${resolution.run}`);
  return viewRun(worker.state, run, false);
}

async function resolvedFact(
  worker: Worker,
  operation: OperationState,
  resolution: Resolution,
): Promise<OperationResolved> {
  const { outcome, output = "", evidence, by } = resolution;
  const stored = await new PayloadWriter(worker.held.blobs).text(output);
  return {
    kind: "op.resolved",
    operation: operation.operation,
    outcome,
    ...(stored.blob === undefined ? { output: stored.text } : { outputBlob: stored.blob }),
    ...(evidence !== undefined && { evidence: evidence.toWellFormed() }),
    by: (by ?? worker.context.host.processes.self.user).toWellFormed(),
  };
}

function findOperation(state: SessionState, resolution: Resolution): OperationState {
  const { run, operation } = resolution;
  const fits = [...state.operations.values()].filter(
    (one) => matches(one.run, run) && matches(one.operation, operation),
  );
  const [only] = fits;
  if (only === undefined) {
    throw new HoldfastError("not_found", `run ${run} of session ${state.id} has no operation ${operation}`, {
      hint: `See which there are with: holdfast run show ${state.id} ${run}`,
    });
  }
  if (fits.length === 1) return only;
  throw new HoldfastError("ambiguous", `${operation} fits ${fits.length} operations`, {
    candidates: fits.map((one) => one.operation),
  });
}

function refuse(operation: OperationState, resolution: Resolution): void {
  if (operation.at === "unknown") return;
  const { operation: id } = operation;
  const result = operation.at === "known" || operation.at === "settled" ? operation.result : undefined;
  if (result?.resolution === undefined) {
    throw new HoldfastError(
      "usage",
      `operation ${id} is ${operation.at}: only an unknown outcome can be resolved`,
    );
  }
  const same = result.outcome === resolution.outcome && (result.output ?? "") === (resolution.output ?? "");
  if (same) return;
  const { by } = result.resolution;
  throw new HoldfastError("already_resolved", `operation ${id} was resolved before, differently, by ${by}`);
}

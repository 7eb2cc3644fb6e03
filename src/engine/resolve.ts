import { utf8Text } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
import type { OperationResolved } from "../model/facts.ts";
import type { SessionState } from "../model/fold.ts";
import type { OperationState } from "../model/operation.ts";
import { isOver } from "../model/run.ts";
import type { RunView } from "../model/views.ts";
import { viewRun } from "../model/views.ts";
import type { Outcome } from "../model/values.ts";
import { inlineBytesMax } from "../store/index.ts";
import type { EngineContext, Observer } from "./context.ts";
import { compareWithQueue } from "./deliver.ts";
import { fitsInline } from "./payloads.ts";
import { matches, readSession } from "./read-session.ts";
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
 * `not_found`, `already_resolved`, `busy`, or `usage` where the operation's outcome is not unknown, or the words are
 * longer than a line takes.
 */
export async function resolveOperation(context: EngineContext, given: Resolution): Promise<RunView> {
  const resolution = await recordable(context, given);
  const session = await context.store.find(resolution.session);
  const { state: known, active, damage } = await readSession(context, session);
  const mayTell = !active && damage === undefined;
  if (mayTell && (await isResolved(context, known, resolution))) return viewResolved(known, resolution);
  const worker = await Worker.take(context, session, {
    acceptRollback: false,
    observer: silent,
    accept: async (state) => {
      await isResolved(context, state, resolution);
      await compareWithQueue(context.store, state, false);
    },
  });
  return await worker.orAbandon(async () => {
    // Once more: the line that a dead process left unfinished may be a resolution.
    if (!(await isResolved(context, worker.state, resolution))) {
      const { operation } = findOperation(worker.state, resolution);
      await worker.commit([await resolvedFact(worker, operation, resolution)]);
    }
    await worker.held.release(() => true);
    return viewResolved(worker.state, resolution);
  });
}

const nameLengthMax = 256;

/** What can be recorded of it: its secrets masked, and well-formed where it stands in the line as it is. */
async function recordable(context: EngineContext, given: Resolution): Promise<Resolution> {
  const redactor = await context.openRedactor();
  const { output, evidence, by } = given;
  const words = (text: string) => redactor.text(text).toWellFormed();
  if (by !== undefined && by.length > nameLengthMax) {
    throw new HoldfastError("usage", `the name is longer than ${nameLengthMax} characters`);
  }
  if (evidence !== undefined && !fitsInline(words(evidence))) {
    throw new HoldfastError("usage", `the evidence is longer than ${inlineBytesMax} bytes`, {
      hint: "Say where it is kept, or give it as the output, which may be of any length.",
    });
  }
  return {
    ...given,
    ...(output !== undefined && { output: redactor.text(output) }),
    ...(evidence !== undefined && { evidence: words(evidence) }),
    ...(by !== undefined && { by: words(by) }),
  };
}

function viewResolved(state: SessionState, resolution: Resolution): RunView {
  const { run: id } = findOperation(state, resolution);
  const run = state.runs.get(id);
  if (run === undefined) throw new HoldfastError("not_found", `session ${state.id} has no run ${id}`);
  return viewRun(state, run, false);
}

async function resolvedFact(
  worker: Worker,
  operation: string,
  resolution: Resolution,
): Promise<OperationResolved> {
  const { outcome, output = "", evidence, by } = resolution;
  const stored = await worker.payloads().text(output);
  return {
    kind: "op.resolved",
    operation,
    outcome,
    ...(stored.blob === undefined ? { output: stored.text } : { outputBlob: stored.blob }),
    ...(evidence !== undefined && { evidence: evidence }),
    by: by ?? worker.redact(worker.context.host.processes.self.user).toWellFormed(),
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

/** A run that is over keeps its doubts on record as they are. */
function refuseOver(state: SessionState, id: string): void {
  const run = state.runs.get(id);
  if (run !== undefined && !isOver(run)) return;
  const message = `run ${id} is ${run?.at ?? "of another session"}, so nothing of it can be resolved`;
  throw new HoldfastError("usage", message);
}

/** True where the very same was said before; false where it is still to be said. Rejects where it cannot be. */
async function isResolved(
  context: EngineContext,
  state: SessionState,
  resolution: Resolution,
): Promise<boolean> {
  const operation = findOperation(state, resolution);
  if (operation.at === "unknown") {
    refuseOver(state, operation.run);
    return false;
  }
  const { operation: id } = operation;
  const result = "result" in operation ? operation.result : undefined;
  if (result?.resolution === undefined) {
    const message = `operation ${id} is ${operation.at}: only an unknown outcome can be resolved`;
    throw new HoldfastError("usage", message);
  }
  const { by, evidence } = result.resolution;
  const { outputBlob } = result;
  const output =
    outputBlob === undefined ? result.output : utf8Text(await context.store.blobs(state.id).get(outputBlob));
  const isSame =
    result.outcome === resolution.outcome &&
    (output ?? "") === (resolution.output ?? "").toWellFormed() &&
    evidence === resolution.evidence;
  if (isSame) return true;
  const recorded = recordedWords(result.outcome, output ?? "", evidence);
  throw new HoldfastError(
    "already_resolved",
    `operation ${id} was resolved before, differently, by ${by}: ${recorded} is recorded`,
  );
}

const recordedCharactersMax = 200;

/** What is on record, short enough for a message. */
function recordedWords(outcome: Outcome, output: string, evidence: string | undefined): string {
  const quote = (text: string) =>
    JSON.stringify(text.length > recordedCharactersMax ? `${text.slice(0, recordedCharactersMax)}…` : text);
  const said =
    outcome === "not_executed" ? "that it did not happen" : `${outcome} with output ${quote(output)}`;
  return evidence === undefined ? said : `${said} and evidence ${quote(evidence)}`;
}

import { HoldfastError } from "../model/errors.ts";
import type { OperationResolved } from "../model/facts.ts";
import type { SessionState } from "../model/fold.ts";
import type { OperationState } from "../model/operation.ts";
import { isOver } from "../model/run.ts";
import type { BlobRef, Outcome } from "../model/values.ts";
import type { Blobs } from "../store/index.ts";
import { storedText } from "./read-payload.ts";
import { matches } from "./read-session.ts";
import type { Worker } from "./worker.ts";

/** A person's word about one operation whose outcome is unknown: put on record once, also where it is said twice. */

/** What a person says happened. Its texts are as they may be recorded. */
export interface OperationResolution {
  readonly run: string;
  readonly operation: string;
  readonly outcome: "ok" | "error" | "not_executed";
  /** What the model reads. */
  readonly output?: string | undefined;
  /** The same, where it is kept as a blob. */
  readonly outputBlob?: BlobRef | undefined;
  /** How the person knows. */
  readonly evidence?: string | undefined;
  /** Who says so. */
  readonly by: string;
}

/** Records it, unless the very same was said before. Rejects as {@link isResolved}. */
export async function recordResolution(worker: Worker, given: OperationResolution): Promise<void> {
  if (await isResolved(worker.held.blobs, worker.state, given)) return;
  const { state } = worker;
  const { operation, run } = findOperation(state, given);
  const fact = await resolvedFact(worker, operation, given);
  await worker.commitIf(() => {
    const isUnknown = state.operations.get(operation)?.at === "unknown";
    return isUnknown && isOpen(state, run) ? [fact] : [];
  });
  // Somebody may have said something else in the same moment, or given the run up.
  await isResolved(worker.held.blobs, worker.state, given);
}

async function resolvedFact(
  worker: Worker,
  operation: string,
  given: OperationResolution,
): Promise<OperationResolved> {
  const { outcome, evidence, by } = given;
  const stored = await worker.payloads().text(await outputOf(worker.held.blobs, given));
  return {
    kind: "op.resolved",
    operation,
    outcome,
    ...(stored.blob === undefined ? { output: stored.text } : { outputBlob: stored.blob }),
    ...(evidence !== undefined && { evidence }),
    by,
  };
}

async function outputOf(
  blobs: Blobs,
  { output: text, outputBlob: blob }: Pick<OperationResolution, "output" | "outputBlob">,
): Promise<string> {
  return await storedText(blobs, { text, blob });
}

/** The operation that ids, or unambiguous parts of them, name. Rejects `not_found` or `ambiguous`. */
export function findOperation(
  state: SessionState,
  named: { readonly run: string; readonly operation: string },
): OperationState {
  const { run, operation } = named;
  const fits = [...state.operations.values()].filter(
    (one) => matches(one.run, run) && matches(one.operation, operation),
  );
  const [only] = fits;
  if (only === undefined) {
    const isThere = [...state.runs.keys()].some((id) => matches(id, run));
    const look = isThere ? `holdfast run show ${state.id} ${run}` : `holdfast run list ${state.id}`;
    throw new HoldfastError("not_found", `run ${run} of session ${state.id} has no operation ${operation}`, {
      hint: `See which there are with: ${look}`,
    });
  }
  if (fits.length === 1) return only;
  throw new HoldfastError("ambiguous", `${operation} fits ${fits.length} operations`, {
    candidates: fits.map((one) => one.operation),
  });
}

function isOpen(state: SessionState, id: string): boolean {
  const run = state.runs.get(id);
  return run !== undefined && !isOver(run);
}

/** A run that is over keeps its doubts on record as they are. */
function refuseOver(state: SessionState, id: string): void {
  if (isOpen(state, id)) return;
  const at = state.runs.get(id)?.at ?? "of another session";
  const message = `run ${id} is ${at}, so nothing of it can be resolved`;
  throw new HoldfastError("usage", message);
}

/**
 * True where the very same was said before; false where it is still to be said. Rejects `not_found`, `already_resolved`,
 * or `usage` where the operation's outcome is not unknown.
 */
export async function isResolved(
  blobs: Blobs,
  state: SessionState,
  given: OperationResolution,
): Promise<boolean> {
  const operation = findOperation(state, given);
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
  const output = await outputOf(blobs, result);
  const isSame =
    result.outcome === given.outcome &&
    output === (await outputOf(blobs, given)).toWellFormed() &&
    evidence === given.evidence;
  if (isSame) return true;
  const recorded = recordedWords(result.outcome, output, evidence);
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

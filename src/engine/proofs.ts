import type { DiskError } from "../host/index.ts";
import { isDiskError, isExhausted } from "../host/index.ts";
import type { Proof, Tool } from "../model/agent.ts";
import type { HoldfastError } from "../model/errors.ts";
import type { Evidence, OperationAsked, OperationUnknown } from "../model/facts.ts";
import type { OperationState } from "../model/operation.ts";
import type { Json } from "../model/values.ts";
import { storageError } from "../store/index.ts";
import { recordedArguments, secretIsGone } from "./operation-arguments.ts";
import { headOfText } from "./payloads.ts";
import type { ReadyOperation } from "./operation-facts.ts";
import { knownFact, maskSecrets, toolOf, toolRun } from "./operation-facts.ts";
import type { Crew } from "./worker.ts";

/** What became of an operation that started and has no outcome: known, provably not executed, or unknown. */

type Unknown = Extract<Proof, { proven: "unknown" }>;

/** Finds out after a death, and records it. */
export async function proveOperation(crew: Crew, operation: OperationState): Promise<void> {
  if (operation.at !== "started") return;
  const { evidence } = operation;
  const tool = toolOf(crew, operation);
  if (tool === undefined) {
    const reason = `the tool ${operation.tool} is not available any more`;
    await crew.worker.commit([await unknownFact(crew, operation, nothingProven(reason, evidence))]);
    return;
  }
  const run = toolRun(crew, operation, await recordedArguments(crew, operation));
  const ready = { operation, tool, run, evidence };
  await recordProof(crew, ready, await prove(ready));
}

/** Finds out after `perform` rejected: from its side, too, it is not known how it ended, or whether it began. */
export async function proveAfterFailure(crew: Crew, ready: ReadyOperation, failure: unknown): Promise<void> {
  const proof = await prove(ready);
  const reason = `${wordsOf(failure)}; ${proof.proven === "unknown" ? proof.reason : ""}`;
  await recordProof(crew, ready, proof.proven === "unknown" ? { ...proof, reason } : proof);
}

/** The error of an attempt that cannot go on for now, and of nothing else: the next one finds things as they are. */
export function endedBy(error: DiskError): HoldfastError {
  return storageError(error, error.path);
}

/** A proof that fails proves nothing, and then a person must say; but not where only space or the like is missing. */
async function prove({ tool, run, evidence }: ReadyOperation): Promise<Proof> {
  try {
    return await tool.prove(run, evidence);
  } catch (error) {
    if (isDiskError(error) && isExhausted(error)) throw endedBy(error);
    return nothingProven(`it could not be looked into: ${wordsOf(error)}`, evidence);
  }
}

/** Records that nobody knows what became of an operation that still goes on. */
export async function recordUnknown(
  crew: Crew,
  operation: OperationState,
  found: { readonly reason: string; readonly evidence: Evidence },
): Promise<void> {
  const { reason, evidence } = found;
  await crew.worker.commit([await unknownFact(crew, operation, nothingProven(reason, evidence))]);
}

function nothingProven(reason: string, evidence: Evidence): Unknown {
  return { proven: "unknown", reason, evidence: { ...evidence } as Json };
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function recordProof(crew: Crew, ready: ReadyOperation, proof: Proof): Promise<void> {
  const { operation, tool } = ready;
  const { worker } = crew;
  switch (proof.proven) {
    case "known":
      await worker.commit([await knownFact(crew, operation, proof.result)]);
      return;
    case "unknown":
      await worker.commit([await unknownFact(crew, operation, proof)]);
      return;
    case "not_executed": {
      const again = mayRepeat(crew, operation, tool);
      const details = proof.details === undefined ? {} : { details: proof.details };
      const output = outputOf(operation, again);
      const known = await knownFact(crew, operation, { outcome: "not_executed", output, ...details });
      await worker.commit(again ? [known, replacementOf(crew, operation)] : [known]);
      return;
    }
  }
}

/** As often as an effect that provably did not happen is begun anew for one call: what never gets there is told. */
const effectRetriesMax = 20;

/** Arguments that were redacted cannot be used again; everything else is begun anew a limited number of times. */
function mayRepeat(crew: Crew, operation: OperationState, tool: Tool): boolean {
  if (operation.redacted) return false;
  const { maxPureRetries } = crew.worker.state.created.definition.spec.execution;
  return operation.retry < (tool.effect === "pure" ? maxPureRetries : effectRetriesMax);
}

function outputOf(operation: OperationState, again: boolean): string {
  if (again) return "interrupted before it took effect; a new operation does it";
  const did = "this call did not take effect: it was interrupted before it could";
  return operation.redacted ? `${did}, and ${secretIsGone}` : did;
}

function replacementOf(crew: Crew, replaced: OperationState): OperationAsked {
  const { run, turn, tool, effect } = replaced;
  const operation = crew.worker.id("op");
  return { kind: "op.asked", operation, run, turn, tool, effect, replaces: replaced.operation };
}

async function unknownFact(
  crew: Crew,
  { operation }: OperationState,
  proof: Unknown,
): Promise<OperationUnknown> {
  const evidence = await crew.worker.payloads().loose(maskSecrets(crew, proof.evidence));
  return { kind: "op.unknown", operation, reason: headOfText(crew.agent.redact(proof.reason)), evidence };
}

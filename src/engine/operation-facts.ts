import type { EffectResult, Tool, ToolRun } from "../model/agent.ts";
import type { OperationKnown, OperationStarted } from "../model/facts.ts";
import type { Evidence } from "../model/facts.ts";
import type { OperationState } from "../model/operation.ts";
import type { Json } from "../model/values.ts";
import { deadlineOf } from "./limits.ts";
import { mapTexts, writeJson } from "./json-texts.ts";
import type { Crew } from "./worker.ts";

/** An operation with its tool, and what it is recorded as when it starts and ends. */

/** An operation that may start, or started. */
export interface ReadyOperation {
  readonly operation: OperationState;
  readonly tool: Tool;
  readonly run: ToolRun;
  readonly evidence: Evidence;
}

/**
 * The tool of an operation; undefined where the agent has none. One that it may use no more is the tool of what was
 * started with it, and of nothing else.
 */
export function toolOf({ agent }: Crew, operation: OperationState): Tool | undefined {
  const { tools, pastTools = [] } = agent;
  const usable = operation.at === "asked" ? tools : [...tools, ...pastTools];
  return usable.find((tool) => tool.name === operation.tool);
}

/** What a tool works with. */
export function toolRun(crew: Crew, operation: OperationState, args: Json): ToolRun {
  const { worker, brakes } = crew;
  const { run, operation: id } = operation;
  const deadlineAt = deadlineOf(crew, worker.state.runs.get(run));
  const replaced = replacedEvidence(crew, operation);
  return {
    place: worker.place(run, id),
    args,
    ...(replaced !== undefined && { replaced }),
    signal: brakes.effects,
    graceMs: brakes.graceMs,
    ...(deadlineAt !== undefined && { deadlineAt }),
    live: (text) => worker.observer.live({ type: "live.output", run, operation: id, text }),
  };
}

/** What was found when the operation began that this one stands for. */
function replacedEvidence({ worker }: Crew, { operation, origin }: OperationState): Evidence | undefined {
  if (operation === origin) return undefined;
  const found = [...worker.state.operations.values()].flatMap((one) =>
    one.origin === origin && one.operation !== operation && "evidence" in one ? (one.evidence ?? []) : [],
  );
  return found.at(-1);
}

/** The starts of operations that stand in one line. */
export async function startedFacts(
  crew: Crew,
  ready: readonly ReadyOperation[],
): Promise<OperationStarted[]> {
  const membersBytes = ready.reduce((sum, one) => sum + 320 + JSON.stringify(one.evidence).length, 0);
  const writer = crew.worker.payloads(membersBytes);
  const facts: OperationStarted[] = [];
  for (const { operation, tool, run, evidence } of ready) {
    const args = maskSecrets(crew, run.args);
    const stored = await writer.json(args);
    const redacted = operation.redacted || writeJson(args) !== writeJson(run.args);
    facts.push({
      kind: "op.started",
      operation: operation.operation,
      tool: tool.name,
      ...(stored.blob === undefined ? { args: stored.value } : { argsBlob: stored.blob }),
      ...(redacted && { redacted }),
      effect: tool.effect,
      evidence,
    });
  }
  return facts;
}

/** The outcome of an operation. */
export async function knownFact(
  crew: Crew,
  operation: OperationState,
  result: EffectResult,
): Promise<OperationKnown> {
  const { agent, worker } = crew;
  const { outcome, full, startedAt, endedAt, durationMs, details } = result;
  const payloads = worker.payloads();
  const stored = await payloads.text(agent.redact(result.output));
  return {
    kind: "op.known",
    operation: operation.operation,
    outcome,
    ...(stored.blob === undefined ? { output: stored.text } : { outputBlob: stored.blob }),
    ...(full !== undefined && { fullBlob: await worker.held.blobs.put(full) }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(durationMs !== undefined && { durationMs }),
    ...(details !== undefined && { details: await payloads.loose(maskSecrets(crew, details)) }),
  };
}

/** A value with the secrets in its texts masked. */
export function maskSecrets(crew: Crew, value: Json): Json {
  return mapTexts(value, (text) => crew.agent.redact(text));
}

import { utf8Text } from "../host/index.ts";
import type { EffectResult, Proof, Tool, ToolRun } from "../model/agent.ts";
import type { Evidence, Fact, OperationAsked, OperationKnown, Part } from "../model/facts.ts";
import type { OperationState, Result } from "../model/operation.ts";
import type { Json } from "../model/values.ts";
import { PayloadWriter } from "./payloads.ts";
import type { Crew } from "./worker.ts";

/**
 * The effects of operations. A5 An effect has its intent before it and one outcome after it, under an id given before:
 *
 *     prepare → R op.started → E perform → R op.known → clean up        R = durable, E = effect
 *     after a death: prove   → R op.known | op.unknown | op.known + op.asked (a new one in its place)
 */

/** Starts operations, those of one call together (they are pure then), and records how each ended. */
export async function beginOperations(crew: Crew, operations: readonly OperationState[]): Promise<void> {
  const ready: Ready[] = [];
  for (const operation of operations) {
    const one = await prepareOperation(crew, operation);
    if (one !== undefined) ready.push(one);
  }
  if (ready.length === 0) return;
  await crew.worker.commit(await Promise.all(ready.map((one) => startedFact(crew, one))));
  await Promise.all(ready.map((one) => performOperation(crew, one)));
}

interface Ready {
  readonly operation: OperationState;
  readonly tool: Tool;
  readonly run: ToolRun;
  readonly evidence: Evidence;
}

/** Takes the evidence; records the outcome at once where the operation must not start. */
async function prepareOperation(crew: Crew, operation: OperationState): Promise<Ready | undefined> {
  const refuse = async (result: EffectResult) => {
    await crew.worker.commit([await knownFact(crew, operation, result)]);
    return undefined;
  };
  const tool = toolOf(crew, operation);
  if (tool === undefined) return await refuse(noSuchTool(crew, operation));
  const args = await argsOf(crew, operation);
  if ("problem" in args) {
    const { run, operation: id, origin } = operation;
    // A process that had the arguments may have died while it prepared.
    await tool.cleanUp(crew.worker.place(run, id), undefined, await recordedArgs(crew, origin));
    return await refuse({ outcome: args.outcome, output: args.problem });
  }
  if (crew.worker.state.policy.policy.approvals[tool.capability] === "ask") {
    const output = `${tool.capability} needs a person's approval, and nobody could be asked here`;
    return await refuse({ outcome: "denied", output });
  }
  const run = toolRun(crew, operation, args.value);
  const prepared = await tool.prepare(run);
  if (!prepared.ready) return await refuse(prepared.result);
  return { operation, tool, run, evidence: prepared.evidence };
}

async function startedFact(crew: Crew, ready: Ready): Promise<Fact> {
  const { operation, tool, run, evidence } = ready;
  const text = JSON.stringify(run.args);
  const redactedText = crew.agent.redact(text);
  const redacted = redactedText !== text || operation.redacted;
  const stored = await new PayloadWriter(crew.worker.held.blobs).json(JSON.parse(redactedText) as Json);
  return {
    kind: "op.started",
    operation: operation.operation,
    tool: tool.name,
    ...(stored.blob === undefined ? { args: stored.value } : { argsBlob: stored.blob }),
    ...(redacted && { redacted }),
    effect: tool.effect,
    evidence,
  };
}

async function performOperation(crew: Crew, ready: Ready): Promise<void> {
  const { tool, run, evidence } = ready;
  const { clock } = crew.worker.context.host;
  const [startedAt, startedMs] = [clock.now(), clock.monotonicMs()];
  let result: EffectResult;
  try {
    result = await tool.perform(run, evidence);
  } catch (error) {
    // How it ended is not known from here; what can be proven decides, as after a death.
    await recordProof(crew, ready, await proofAfter(error, tool, run, evidence));
    return;
  }
  const durationMs = Math.round((clock.monotonicMs() - startedMs) * 1000) / 1000;
  await recordKnown(crew, ready, { startedAt, endedAt: clock.now(), durationMs, ...result });
}

async function proofAfter(error: unknown, tool: Tool, run: ToolRun, evidence: Evidence): Promise<Proof> {
  const message = error instanceof Error ? error.message : String(error);
  try {
    const proof = await tool.prove(run, evidence);
    return proof.proven === "unknown" ? { ...proof, reason: `${message}; ${proof.reason}` } : proof;
  } catch (second) {
    const again = second instanceof Error ? second.message : String(second);
    return { proven: "unknown", reason: message, evidence: { proof: again } };
  }
}

/** Finds out what happened to an operation that started and has no outcome, and records it. */
export async function proveOperation(crew: Crew, operation: OperationState): Promise<void> {
  if (operation.at !== "started") return;
  const { evidence } = operation;
  const tool = toolOf(crew, operation);
  if (tool === undefined) {
    const reason = `the tool ${operation.tool} is not available any more`;
    await crew.worker.commit([
      { kind: "op.unknown", operation: operation.operation, reason, evidence: { ...evidence } as Json },
    ]);
    return;
  }
  const args =
    operation.argsBlob === undefined ? (operation.args ?? {}) : await loadJson(crew, operation.argsBlob);
  const run = toolRun(crew, operation, args);
  const proof = await tool.prove(run, evidence);
  await recordProof(crew, { operation, tool, run, evidence }, proof);
}

async function recordProof(crew: Crew, ready: Ready, proof: Proof): Promise<void> {
  const { operation, tool } = ready;
  if (proof.proven === "known") return await recordKnown(crew, ready, proof.result);
  if (proof.proven === "unknown") {
    const evidence = JSON.parse(crew.agent.redact(JSON.stringify(proof.evidence))) as Json;
    await crew.worker.commit([
      {
        kind: "op.unknown",
        operation: operation.operation,
        reason: crew.agent.redact(proof.reason),
        evidence,
      },
    ]);
    return;
  }
  const again = mayRepeat(crew, operation, tool);
  const output = again
    ? "interrupted before it took effect; a new operation does it"
    : "this call did not take effect: it was interrupted before it could";
  const details = proof.details === undefined ? {} : { details: proof.details };
  const known = await knownFact(crew, operation, { outcome: "not_executed", output, ...details });
  await crew.worker.commit(again ? [known, replacementOf(crew, operation)] : [known]);
  await tool.cleanUp(ready.run.place, ready.evidence, ready.run.args);
}

/** Arguments that were redacted cannot be used again; an interrupted read is repeated a limited number of times. */
function mayRepeat(crew: Crew, operation: OperationState, tool: Tool): boolean {
  if (operation.redacted) return false;
  const { maxPureRetries } = crew.worker.state.created.definition.spec.execution;
  return tool.effect !== "pure" || operation.retry < maxPureRetries;
}

function replacementOf(crew: Crew, replaced: OperationState): OperationAsked {
  const { run, turn, tool, effect } = replaced;
  const operation = crew.worker.id("op");
  return { kind: "op.asked", operation, run, turn, tool, effect, replaces: replaced.operation };
}

async function recordKnown(crew: Crew, ready: Ready, result: EffectResult): Promise<void> {
  await crew.worker.commit([await knownFact(crew, ready.operation, result)]);
  // Only now: until its outcome is durable, what was staged or spooled is the proof.
  await ready.tool.cleanUp(ready.run.place, ready.evidence, ready.run.args);
}

async function knownFact(
  crew: Crew,
  operation: OperationState,
  result: EffectResult,
): Promise<OperationKnown> {
  const { agent, worker } = crew;
  const { outcome, full, startedAt, endedAt, durationMs, details } = result;
  const stored = await new PayloadWriter(worker.held.blobs).text(agent.redact(result.output));
  return {
    kind: "op.known",
    operation: operation.operation,
    outcome,
    ...(stored.blob === undefined ? { output: stored.text } : { outputBlob: stored.blob }),
    ...(full !== undefined && { fullBlob: await worker.held.blobs.put(full) }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(durationMs !== undefined && { durationMs }),
    ...(details !== undefined && { details }),
  };
}

/** Puts the results of a turn into the conversation: the tool message and the settling are one line. */
export async function settleTurn(crew: Crew, operations: readonly OperationState[]): Promise<void> {
  const { worker } = crew;
  const [first] = operations;
  if (first === undefined) return;
  const writer = new PayloadWriter(worker.held.blobs);
  const parts: Part[] = [];
  for (const operation of operations) parts.push(...(await resultPart(writer, operation)));
  const { run, turn } = first;
  const ended = [...worker.state.operations.values()].filter(
    (operation) => operation.at === "known" && operation.run === run && operation.turn === turn,
  );
  const settled = ended.map(({ operation }) => ({ kind: "op.settled", operation }) as const);
  await worker.commit([
    { kind: "message", id: worker.id("msg"), role: "tool", parts, run, turn },
    ...settled,
  ]);
}

async function resultPart(writer: PayloadWriter, operation: OperationState): Promise<Part[]> {
  if (operation.at !== "known") return [];
  const { outcome, outputBlob } = operation.result;
  const part = { type: "tool_result" as const, operation: operation.origin, outcome };
  if (outputBlob !== undefined) return [{ ...part, outputBlob }];
  const { text, blob } = await writer.text(outputOf(operation.result));
  return [{ ...part, ...(blob === undefined ? { output: text } : { outputBlob: blob }) }];
}

function outputOf(result: Result): string {
  if (result.resolution === undefined) return result.output ?? "";
  const said = result.output === undefined || result.output === "" ? "" : `\n${result.output}`;
  const what = result.outcome === "not_executed" ? "it did not happen" : "this is its result";
  return `[this call was interrupted; ${result.resolution.by} found out that ${what}]${said}`;
}

function toolOf(crew: Crew, operation: OperationState): Tool | undefined {
  return crew.agent.tools.find((tool) => tool.name === operation.tool);
}

function noSuchTool(crew: Crew, operation: OperationState): EffectResult {
  const names = crew.agent.tools.map((tool) => tool.name).join(", ");
  return { outcome: "error", output: `there is no tool ${operation.tool} here; the tools are: ${names}` };
}

function toolRun(crew: Crew, operation: OperationState, args: Json): ToolRun {
  const { worker } = crew;
  const { run, operation: id } = operation;
  return {
    place: worker.place(run, id),
    args,
    signal: new AbortController().signal,
    live: (text) => worker.observer.live({ type: "live.output", run, operation: id, text }),
  };
}

type Args =
  | { readonly value: Json }
  | { readonly problem: string; readonly outcome: "error" | "not_executed" };

/** The exact arguments of an operation that has not started. */
async function argsOf(crew: Crew, operation: OperationState): Promise<Args> {
  const { worker } = crew;
  const exact = worker.exactArgs.get(operation.origin);
  if (exact === undefined && operation.redacted) {
    const problem =
      "a secret in its arguments was not stored, so it cannot be executed any more; call it again";
    return { problem, outcome: "not_executed" };
  }
  const text = exact ?? (await rawArgs(crew, operation.origin));
  if (text !== undefined) {
    try {
      return { value: JSON.parse(text) as Json };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return { problem: `the arguments are not valid JSON: ${error.message}`, outcome: "error" };
    }
  }
  return { value: await recordedArgs(crew, operation.origin) };
}

/** The provider's own text of the arguments, where it is kept. */
async function rawArgs(crew: Crew, origin: string): Promise<string | undefined> {
  const raw = crew.worker.state.rawArgs.get(origin);
  if (raw === undefined) return undefined;
  return raw.blob === undefined ? raw.text : utf8Text(await crew.worker.held.blobs.get(raw.blob));
}

async function recordedArgs(crew: Crew, origin: string): Promise<Json> {
  for (const { message } of crew.worker.state.messages) {
    for (const part of message.parts) {
      if (part.type !== "tool_call" || part.operation !== origin) continue;
      return part.argsBlob === undefined ? (part.args ?? {}) : await loadJson(crew, part.argsBlob);
    }
  }
  return {};
}

async function loadJson(crew: Crew, reference: { sha256: string; bytes: number }): Promise<Json> {
  return JSON.parse(utf8Text(await crew.worker.held.blobs.get(reference))) as Json;
}

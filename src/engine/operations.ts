import { isDiskError, isExhausted } from "../host/index.ts";
import type { EffectResult, Prepared, Tool, ToolRun } from "../model/agent.ts";
import type { OperationState } from "../model/operation.ts";
import type { Json } from "../model/values.ts";
import { cleanUp } from "./clean-up.ts";
import { exactArguments } from "./operation-arguments.ts";
import type { ReadyOperation } from "./operation-facts.ts";
import { knownFact, maskSecrets, startedFacts, toolOf, toolRun } from "./operation-facts.ts";
import { endedBy, proveAfterFailure, recordUnknown } from "./proofs.ts";
import { untilAborted } from "./pulse.ts";
import type { Crew } from "./worker.ts";

/**
 * The effects of operations. A5 An effect has its intent before it and one outcome after it, under an id given before:
 *
 *     prepare → R op.started → E perform → R op.known        R = durable, E = effect
 *     after a death: prove   → R op.known | op.unknown | op.known + op.asked (a new one in its place)
 *     the turn is over       → clean up → R the results, op.settled
 */

/** Starts operations, those of one call together (they are pure then), and records how each ended. */
export async function beginOperations(crew: Crew, operations: readonly OperationState[]): Promise<void> {
  const ready: ReadyOperation[] = [];
  for (const operation of operations) {
    crew.worker.refuseInterrupted();
    if (crew.brakes.stop !== undefined) return await putBack(crew, ready);
    const one = await prepareOperation(crew, operation);
    if (one !== undefined) ready.push(one);
  }
  if (ready.length === 0) return;
  const started = await startedFacts(crew, ready);
  if (crew.brakes.stop !== undefined) return await putBack(crew, ready);
  await crew.worker.commit(started);
  const ended = await Promise.allSettled(ready.map((one) => performOperation(crew, one)));
  // Only when all have ended: the session is let go after a failure, and nothing may still be at work then.
  for (const one of ended) if (one.status === "rejected") throw one.reason;
}

/** Takes the evidence; records the outcome at once where the operation must not start. */
async function prepareOperation(crew: Crew, operation: OperationState): Promise<ReadyOperation | undefined> {
  const refuse = async (result: EffectResult) => {
    await crew.worker.commit([await knownFact(crew, operation, result)]);
    return undefined;
  };
  const denied = operation.approval?.decided?.decision === "deny";
  if (denied) return await refuse({ outcome: "denied", output: "denied" });
  const tool = toolOf(crew, operation);
  if (tool === undefined) return await refuse(noSuchTool(crew, operation));
  const args = await exactArguments(crew, operation);
  if ("problem" in args) return await refuse({ outcome: args.outcome, output: args.problem });
  const run = toolRun(crew, operation, args.value);
  const prepared = await prepare(tool, run);
  if (!prepared.ready) return await refuse(prepared.result);
  const { evidence } = prepared;
  if (JSON.stringify(maskSecrets(crew, { ...evidence } as Json)) === JSON.stringify(evidence)) {
    return { operation, tool, run, evidence };
  }
  // Masked, it would be a proof of something else.
  await cleanUp(tool, run.place, { evidence, args: run.args });
  return await refuse({ outcome: "error", output: secretInPlace });
}

const secretInPlace =
  "not executed: the path where it would take place holds a secret, and what happens there could not be recorded";

/** Nothing has happened yet, so whatever goes wrong here is a result; what may be there later ends the attempt. */
async function prepare(tool: Tool, run: ToolRun): Promise<Prepared> {
  try {
    return await tool.prepare(run);
  } catch (error) {
    if (isDiskError(error) && isExhausted(error)) throw endedBy(error);
    const output = `it could not be started: ${error instanceof Error ? error.message : String(error)}`;
    return { ready: false, result: { outcome: "error", output } };
  }
}

async function performOperation(crew: Crew, ready: ReadyOperation): Promise<void> {
  const { operation, tool, run, evidence } = ready;
  // Told to leave in between: it is on record as started, and provably did not happen.
  crew.worker.refuseInterrupted();
  const { clock } = crew.worker.context.host;
  const [startedAt, startedMs] = [clock.now(), clock.monotonicMs()];
  let result: EffectResult | undefined;
  try {
    result = await unlessHung(crew, tool.perform(run, evidence));
  } catch (error) {
    await proveAfterFailure(crew, ready, error);
    return;
  }
  if (result === undefined) return await giveUp(crew, ready);
  const durationMs = Math.round((clock.monotonicMs() - startedMs) * 1000) / 1000;
  const times = { startedAt, endedAt: clock.now(), durationMs };
  await crew.worker.commit([await knownFact(crew, operation, { ...times, ...result })]);
}

/** What was prepared for operations that must not start any more: they may be started by whoever goes on. */
async function putBack(crew: Crew, ready: readonly ReadyOperation[]): Promise<void> {
  for (const { tool, run, evidence } of ready) await cleanUp(tool, run.place, { evidence, args: run.args });
}

/** Records that operations which never started never will. */
export async function cancelOperations(crew: Crew, operations: readonly OperationState[]): Promise<void> {
  const { worker } = crew;
  await worker.commitIf(() =>
    operations
      // Somebody may have denied one meanwhile.
      .filter(({ operation }) => worker.state.operations.get(operation)?.at === "asked")
      .map(({ operation }) => ({ kind: "op.known", operation, outcome: "canceled", output: neverStarted })),
  );
}

const neverStarted = "canceled before it started: nothing happened";

/** From the end of a tool's grace to the moment when it is not waited for any more. */
const hungMs = 12_000;

/** What the effect came to; undefined where it was told to end, and did not in any time that it has. */
async function unlessHung(crew: Crew, effect: Promise<EffectResult>): Promise<EffectResult | undefined> {
  const { brakes, worker } = crew;
  const ended = new AbortController();
  const hung = async (): Promise<undefined> => {
    await untilAborted(AbortSignal.any([brakes.effects, ended.signal]));
    await worker.context.host.clock.sleep(brakes.graceMs + hungMs, ended.signal);
  };
  try {
    return await Promise.race([effect, hung()]);
  } finally {
    ended.abort();
  }
}

/** One that hangs is left alone. What only looks changes nothing, whenever it ends; of any other nobody knows. */
async function giveUp(crew: Crew, { operation, tool, evidence }: ReadyOperation): Promise<void> {
  const reason = "it was told to end, and did not";
  if (tool.effect === "pure") {
    const result = { outcome: "canceled", output: `canceled: ${reason}` } as const;
    await crew.worker.commit([await knownFact(crew, operation, result)]);
  } else await recordUnknown(crew, operation, { reason, evidence });
}

function noSuchTool(crew: Crew, operation: OperationState): EffectResult {
  const names = crew.agent.tools.map((tool) => tool.name).join(", ");
  return { outcome: "error", output: `there is no tool ${operation.tool} here; the tools are: ${names}` };
}

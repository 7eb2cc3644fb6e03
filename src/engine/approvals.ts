import { HoldfastError } from "../model/errors.ts";
import type { Fact } from "../model/facts.ts";
import type { SessionState } from "../model/fold.ts";
import type { OperationState } from "../model/operation.ts";
import { awaitsDecision } from "../model/operation.ts";
import type { ApprovalAnswer, ApprovalQuestion } from "./approver.ts";
import { reasonLengthMax } from "./approver.ts";
import { shownArguments } from "./operation-arguments.ts";
import { toolOf } from "./operation-facts.ts";
import type { Crew, Worker } from "./worker.ts";

/**
 * What a policy leaves to a person: asked once, on record before anybody is asked; a death while it waits asks nobody
 * anew, it only goes on waiting. A denial is the outcome of the operation, in the line that says who denied it.
 *
 *     X R approval.asked → a person, a rule or the end of a wait → X R approval.decided (denied: and op.known)
 */

/** A wait without a limit is many of these: a timer, so that the process lives while nothing else happens. */
const longMs = 3_600_000;

/** True where the policy leaves it to a person whether the operation may start. */
export function needsApproval(crew: Crew, operation: OperationState): boolean {
  const tool = toolOf(crew, operation);
  return tool !== undefined && crew.worker.state.policy.policy.approvals[tool.capability] === "ask";
}

/** Puts on record that a person is asked; where an earlier answer holds for such operations, with that answer. */
export async function askApproval(crew: Crew, operations: readonly OperationState[]): Promise<void> {
  const { worker } = crew;
  const facts = operations.flatMap((operation): Fact[] => {
    const capability = toolOf(crew, operation)?.capability ?? operation.tool;
    const asked: Fact = { kind: "approval.asked", operation: operation.operation, capability };
    const remembered = rememberedAnswer(worker, capability);
    if (remembered === undefined) return [asked];
    return [asked, ...decisionFacts({ operation: operation.operation, capability, ...remembered })];
  });
  await worker.commit(facts);
}

/**
 * Waits until something is decided about one of the operations, or the run shall stop. Whoever is quicker decides: the
 * person here, another process, or the end of the wait.
 */
export async function awaitApproval(crew: Crew, operations: readonly OperationState[]): Promise<void> {
  const { worker, approver, brakes } = crew;
  const { clock } = worker.context.host;
  worker.refuseInterrupted();
  worker.refuseEnded();
  const [operation] = operations.filter(awaitsDecision);
  if (operation === undefined) return;
  const settled = decidedSince(crew, operation);
  if (settled !== undefined) return await decide(worker, operation, settled);
  const { mode } = approver;
  const changed = AbortSignal.any([worker.commits.next, brakes.calls, worker.signal]);
  if (mode.kind === "prompt") {
    const answer = await mode.ask(await questionOf(crew, operation), changed);
    if (answer === undefined) {
      // Somebody else answered, or the work shall stop; where it is neither, nobody is there to be asked again.
      if (!changed.aborted) await clock.sleep(longMs, changed);
      return;
    }
    const by = worker.redact(worker.context.host.processes.self.user).toWellFormed();
    return await decide(worker, operation, { by, ...answer });
  }
  const leftMs = Math.min(...operations.map((one) => approver.leftMs(one.operation, clock.monotonicMs())));
  await clock.sleep(Math.min(leftMs, longMs), changed);
  if (changed.aborted || leftMs > longMs) return;
  const reason = mode.kind === "deny" ? "nobody can be asked here" : `nobody answered in ${mode.forMs} ms`;
  await decide(worker, operation, { decision: "deny", by: "holdfast", reason, remember: false });
}

/** What answers an operation that was asked about before: another policy, or a person's word that holds for it, too. */
function decidedSince(
  crew: Crew,
  operation: OperationState & { readonly approval: { readonly capability: string } },
): (ApprovalAnswer & { readonly by: string }) | undefined {
  const byPolicy = { by: "holdfast", remember: false };
  if (toolOf(crew, operation) === undefined) {
    return { ...byPolicy, decision: "deny", reason: "the policy permits it no more" };
  }
  if (!needsApproval(crew, operation)) {
    return { ...byPolicy, decision: "allow", reason: "the policy allows it" };
  }
  return rememberedAnswer(crew.worker, operation.approval.capability);
}

function rememberedAnswer(
  { state }: Worker,
  capability: string,
): (ApprovalAnswer & { readonly by: string }) | undefined {
  const rule = state.rules.get(capability);
  if (rule === undefined) return undefined;
  const { decision, by } = rule;
  return { decision, by, reason: "remembered", remember: false };
}

async function questionOf(
  crew: Crew,
  operation: OperationState & { readonly approval: { readonly capability: string } },
): Promise<ApprovalQuestion> {
  const { run, operation: id, tool, approval } = operation;
  const args = await shownArguments(crew.worker, operation.origin);
  return { session: crew.worker.state.id, run, operation: id, tool, capability: approval.capability, args };
}

/** Records a decision, unless one came first. */
async function decide(
  worker: Worker,
  { operation }: Pick<OperationState, "operation">,
  answer: ApprovalAnswer & { readonly by: string },
): Promise<void> {
  await worker.commitIf(() => {
    const current = worker.state.operations.get(operation);
    if (current === undefined || current.at !== "asked" || !awaitsDecision(current)) return [];
    const reason = answer.reason === undefined ? {} : { reason: recordableReason(worker, answer.reason) };
    return decisionFacts({ ...answer, ...reason, operation, capability: current.approval.capability });
  });
}

/** A reason as it may be recorded: its secrets masked, and short enough to stand twice in a line. */
function recordableReason(worker: Worker, reason: string): string {
  return worker.redact(reason).slice(0, reasonLengthMax).toWellFormed();
}

interface DecisionFactsOptions extends ApprovalAnswer {
  readonly operation: string;
  readonly capability: string;
  readonly by: string;
}

/** A decision as one line: with the outcome where it is a denial, and the rule where it holds for later ones. */
function decisionFacts(options: DecisionFactsOptions): Fact[] {
  const { operation, capability, decision, by, reason, remember } = options;
  const facts: Fact[] = [
    { kind: "approval.decided", operation, decision, by, ...(reason !== undefined && { reason }) },
  ];
  if (decision === "deny") {
    const why = reason === undefined ? "" : `: ${reason}`;
    facts.push({ kind: "op.known", operation, outcome: "denied", output: `denied by ${by}${why}` });
  }
  if (remember) facts.push({ kind: "approval.rule", capability, decision, by });
  return facts;
}

/** A person's word that came from another process. */
export interface GivenDecision extends ApprovalAnswer {
  readonly operation: string;
  readonly by: string;
}

/**
 * Records what a person decided. The same said again changes nothing. Rejects `already_resolved` where something else
 * was decided, `usage` where nobody asks about the operation, and `not_found` where there is none.
 */
export async function recordDecision(worker: Worker, given: GivenDecision): Promise<void> {
  if (isDecided(worker.state, given)) return await remember(worker, given);
  await decide(worker, given, given);
  // Somebody may have said something else in the same moment, or the wait ran out.
  isDecided(worker.state, given);
}

/** Has a word that was given already hold for later operations as well. */
async function remember(worker: Worker, given: GivenDecision): Promise<void> {
  await worker.commitIf(() => {
    const { decision, by, operation } = given;
    const capability = worker.state.operations.get(operation)?.approval?.capability;
    if (capability === undefined || isRemembered(worker.state, given)) return [];
    return [{ kind: "approval.rule", capability, decision, by }];
  });
}

/** True where a word is not to be remembered, or is. */
export function isRemembered(state: SessionState, given: GivenDecision): boolean {
  const capability = state.operations.get(given.operation)?.approval?.capability ?? "";
  return !given.remember || state.rules.get(capability)?.decision === given.decision;
}

/** True where the very same was decided before; false where it is still to be. Rejects as {@link recordDecision}. */
export function isDecided(state: SessionState, { operation: id, decision }: GivenDecision): boolean {
  const operation = state.operations.get(id);
  if (operation === undefined) {
    throw new HoldfastError("not_found", `session ${state.id} has no operation ${id}`);
  }
  const { approval, at } = operation;
  if (approval === undefined) {
    throw new HoldfastError("usage", `operation ${id} waits for nobody's approval: it is ${at}`);
  }
  if (approval.decided !== undefined) {
    if (approval.decided.decision === decision) return true;
    const { by, decision: before } = approval.decided;
    const message = `operation ${id} was ${before === "allow" ? "allowed" : "denied"} before, by ${by}`;
    throw new HoldfastError("already_resolved", message);
  }
  if (at === "asked") return false;
  throw new HoldfastError("usage", `operation ${id} waits for approval no more: it is ${at}`);
}

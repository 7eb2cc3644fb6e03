import type { DeliveryState } from "../../../src/model/delivery.ts";
import type { Fact } from "../../../src/model/facts.ts";
import type { OperationState, Result } from "../../../src/model/operation.ts";
import { projectPrompt } from "../../../src/model/projection.ts";
import { faultOfPrompt } from "../../model/prompt-fault.ts";
import { effectOf, timesOf } from "./effects.ts";
import type { EngineMachine, Told } from "./engine-machine.ts";
import { promised } from "./finding.ts";
import { callsOf, judgeAnswers, judgeTold, judgeTries } from "./record-judge.ts";
import type { WholeSession } from "./whole-session.ts";

/** The oracle: what people were told and what the world shows, held against what is on record. */

/**
 * Throws a finding where anything is not as it must be, whatever happened. Resolves to what was read. `isTouched`: a user
 * changed the files, so they witness nothing.
 */
export async function judgeSession(machine: EngineMachine, isTouched = false): Promise<WholeSession> {
  const whole = await machine.whole();
  judgeTold(machine.world.told, whole.commits);
  for (const told of machine.told)
    promised(holdsStill(told, whole), "lost", () => `${JSON.stringify(told)} is not so any more`);
  judgeMessages(machine, whole);
  judgeAnswers(whole.commits);
  judgeQuestions(whole);
  judgeRules(machine, whole);
  judgeResults(whole);
  for (const tries of callsOf(whole.state)) judgeCall(machine, whole, { tries, isTouched });
  const prompt = projectPrompt(whole.state, { text: () => "{}", base64: () => "" });
  const fault = faultOfPrompt(prompt);
  promised(fault === undefined, "other", () => `no provider takes this conversation: ${fault}`);
  return whole;
}

function holdsStill(told: Told, { commits, state, queue }: WholeSession): boolean {
  switch (told.is) {
    case "sent":
      return queue.deliveries.has(told.delivery);
    case "seen":
      return commits[told.seq]?.sum === told.sum;
    case "approved": {
      const found = state.operations.get(told.operation);
      return found?.approval?.decided?.decision === told.decision;
    }
    case "resolved": {
      const found = state.operations.get(told.operation);
      return found !== undefined && "result" in found && found.result.outcome === told.outcome;
    }
    case "recorded":
      return commits.flatMap(({ facts }) => facts).filter(isAnswer).length >= told.answers;
    case "saved":
      return true;
    case "stopped":
      return state.runs.get(told.run)?.at === told.as;
  }
}

const isAnswer = ({ kind }: { readonly kind: string }): boolean => kind === "model.answered";

/** Each message that was left is there once, and was given to the model once, in order; nothing else is there. */
function judgeMessages(machine: EngineMachine, { state, queue }: WholeSession): void {
  const deliveries = [...queue.deliveries.values()];
  const texts = deliveries.flatMap((one) => one.text ?? []);
  for (const text of texts) promised(machine.tried.has(text), "false success", () => `nobody sent ${text}`);
  const said = state.messages.flatMap(({ message }) =>
    message.role === "user" && message.delivery !== undefined ? [message.delivery] : [],
  );
  promised(new Set(said).size === said.length, "repeated", () => `delivered twice: ${said.join(", ")}`);
  for (const { at, delivery } of deliveries) {
    if (at === "acknowledged")
      promised(said.includes(delivery), "lost", () => `${delivery} was acknowledged and is not in the log`);
  }
  const order = (list: readonly Pick<DeliveryState, "delivery">[]) =>
    list.map(({ delivery }) => delivery).join();
  const delivered = deliveries.filter(({ delivery }) => said.includes(delivery));
  promised(order(delivered) === said.join(), "other", () => `delivered in another order: ${said.join(", ")}`);
}

/** A person is asked once about a call, whoever died over it; and decides once. */
function judgeQuestions({ commits, state }: WholeSession): void {
  const asked = new Set<string>();
  for (const fact of commits.flatMap(({ facts }) => facts as Fact[])) {
    if (fact.kind !== "approval.asked") continue;
    const origin = state.operations.get(fact.operation)?.origin ?? fact.operation;
    promised(!asked.has(origin), "repeated", () => `a person was asked again about ${origin}`);
    asked.add(origin);
  }
}

/** A word holds for later operations only where a person wanted that; what it answers then, it answers alike. */
function judgeRules(machine: EngineMachine, { commits, state }: WholeSession): void {
  const rules = new Map<string, string>();
  for (const fact of commits.flatMap(({ facts }) => facts as Fact[])) {
    if (fact.kind === "approval.rule") {
      const { capability, decision } = fact;
      const isWanted = machine.lastingWords.has(decision);
      promised(isWanted, "false success", () => `nobody said ${decision} for all of ${capability}`);
      rules.set(capability, decision);
    } else if (fact.kind === "approval.decided" && fact.reason === "remembered") {
      const rule = rules.get(state.operations.get(fact.operation)?.approval?.capability ?? "");
      promised(
        rule === fact.decision,
        "false success",
        () => `${fact.decision} is remembered, said was ${rule}`,
      );
    }
  }
}

/** What the model reads of a call is the outcome on record, and its output or what a person said it was. */
function judgeResults({ state }: WholeSession): void {
  const results = new Map<string, Pick<Result, "outcome" | "output" | "outputBlob">>();
  for (const operation of state.operations.values())
    if ("result" in operation) results.set(operation.origin, operation.result);
  for (const part of state.messages.flatMap(({ message }) => message.parts)) {
    if (part.type !== "tool_result") continue;
    const { outcome, output = "", outputBlob } = results.get(part.operation) ?? {};
    const isSame = part.outcome === outcome && (part.output ?? output).endsWith(output);
    const isThere = outputBlob === undefined || part.outputBlob !== undefined;
    promised(isSame && isThere, "false success", () => `the model reads something else of ${part.operation}`);
  }
}

function judgeCall(
  machine: EngineMachine,
  { state }: WholeSession,
  { tries, isTouched }: { readonly tries: readonly OperationState[]; readonly isTouched: boolean },
): void {
  judgeTries(tries);
  const last = tries.at(-1);
  if (last === undefined) return;
  const name = `${last.tool} ${last.operation}`;
  if (last.at === "unknown") {
    const may = isTouched || last.effect === "supervised" || last.effect === "opaque" || isNewFile(last);
    promised(may, "wrong doubt", () => `${name} is called unknown: ${last.doubt.reason}`);
  }
  const times = isTouched ? undefined : timesOf(machine.textOf, effectOf(state, last));
  if (times === undefined) return;
  promised(times <= 1, "repeated", () => `${name} happened ${times} times`);
  if (!("result" in last)) return;
  const { outcome, resolution } = last.result;
  if (outcome === "ok") promised(times === 1, "false success", () => `${name} is ok and did not happen`);
  const never = ["not_executed", "denied", "canceled"].includes(outcome) && resolution === undefined;
  if (never) promised(times === 0, "lost", () => `${name} is ${outcome} and did happen`);
}

/** The one file change that leaves nothing to prove it by: a new file between its two names. */
function isNewFile(operation: OperationState): boolean {
  const evidence = "evidence" in operation ? operation.evidence : undefined;
  return evidence?.class === "checked" && evidence.method === "create";
}

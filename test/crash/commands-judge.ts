import { isDeepStrictEqual } from "node:util";
import type { Commit } from "../../src/model/commit.ts";
import type { Fact, FactOf } from "../../src/model/facts.ts";
import type { OperationState } from "../../src/model/operation.ts";
import { promised } from "./campaign/finding.ts";
import { callsOf, judgeAnswers, judgeTold } from "./campaign/record-judge.ts";
import { readWhole } from "./campaign/whole-session.ts";
import type { EngineWorld } from "./engine-world.ts";
import { isFailing, isReordering, mayDoubtCommands, type MishapKind } from "./mishaps.ts";

/** What must be true of a run with commands when it is over, whoever died on the way. */

/** One call of the model, with the operations that were made for it, oldest first. */
export interface Call {
  readonly tool: string;
  /** What its effect leaves with the witness. */
  readonly word: string;
  readonly tries: readonly OperationState[];
}

interface Reading {
  readonly session: string;
  readonly calls: readonly Call[];
  readonly commits: readonly Commit[];
  readonly facts: readonly Fact[];
}

/** The words of the calls, in the order in which the model asks. */
const words = ["one", "two", "", "rocket", ""];

/** Reads the one session strictly. */
export async function readCalls(world: EngineWorld): Promise<Reading> {
  const { engine } = world.process();
  const [session = ""] = await engine.store.ids();
  const { state, commits } = await readWhole(engine, session);
  const calls = callsOf(state).map((tries, index) => {
    return { tool: tries[0]?.tool ?? "", word: words[index] ?? "", tries };
  });
  return { session, calls, commits, facts: commits.flatMap((commit) => commit.facts as Fact[]) };
}

/** Throws a finding where something was lost, done twice, called done that was not, or called unknown that can be known. */
export async function judgeCommands(world: EngineWorld, happened: ReadonlySet<MishapKind>): Promise<void> {
  await world.quiet();
  const reading = await readCalls(world);
  const { calls, facts, commits } = reading;
  judgeTold(world.told, commits);
  judgeAnswers(commits);
  const { failures = [] } = world.table ?? {};
  promised(
    failures.length === 0 || isFailing(happened),
    "untyped",
    () => `a program failed: ${String(failures[0])}`,
  );
  promised(calls.length === words.length, "lost", () => `there are ${calls.length} calls`);
  const ended = facts.filter((fact) => fact.kind === "run.ended").map(({ status }) => status);
  promised(isDeepStrictEqual(ended, ["completed"]), "other", () => `the run ended ${ended.join(", ")}`);
  for (const call of calls) judgeCall(world, call, happened);
  const mayDoubt = mayDoubtCommands(happened);
  for (const fact of facts)
    if (fact.kind === "op.unknown")
      judgeUnknown(fact, reading, {
        mayDoubt,
        isReordered: isReordering(happened),
        isFailed: isFailing(happened),
      });
  judgeOutside(world, calls);
}

function judgeCall(world: EngineWorld, { tool, word, tries }: Call, happened: ReadonlySet<MishapKind>): void {
  const told = (): string => `${tool} ${word}: ${tries.map((one) => JSON.stringify(one)).join("; ")}`;
  promised(
    tries.every(({ at }) => at === "settled"),
    "stuck",
    () => `not settled: ${told()}`,
  );
  const isVain = (one: OperationState): boolean => outcomeOf(one) === "not_executed";
  promised(tries.slice(0, -1).every(isVain), "repeated", () => `begun anew although it happened: ${told()}`);
  const executions = new Map(tries.map(({ operation }) => [operation, executionsOf(world, operation)]));
  const count = [...executions.values()].reduce((sum, one) => sum + one, 0);
  promised(count <= 1, "repeated", () => `executed ${count} times: ${told()}`);
  promised(world.witness.count(word) <= 1, "repeated", () => `witnessed more than once: ${told()}`);
  const mayErr = tool === "exec" && (happened.has("command") || isFailing(happened));
  for (const one of tries) {
    if (isResolved(one)) continue;
    const executed = executions.get(one.operation) ?? 0;
    promised(!isVain(one) || executed === 0, "false success", () => `it was executed: ${told()}`);
    const mayBe = isVain(one) || outcomeOf(one) === "ok" || mayErr;
    promised(mayBe, "other", () => `it ended with another outcome: ${told()}`);
    if (outcomeOf(one) !== "ok" || word === "") continue;
    promised(tool !== "exec" || executed === 1, "false success", () => `never executed: ${told()}`);
    promised(world.witness.count(word) === 1, "false success", () => `not witnessed: ${told()}`);
  }
}

function outcomeOf(operation: OperationState): string | undefined {
  return "result" in operation ? operation.result.outcome : undefined;
}

function isResolved(operation: OperationState): boolean {
  return "result" in operation && operation.result.resolution !== undefined;
}

function executionsOf({ executions }: EngineWorld, operation: string): number {
  return executions.filter(({ env }) => env["HOLDFAST_OPERATION"] === operation).length;
}

interface Doubt {
  readonly mayDoubt: boolean;
  readonly isReordered: boolean;
  readonly isFailed: boolean;
}

/** Only what claims to have been started, and has no record of its end, is unknown; and what nobody can prove at all. */
function judgeUnknown(
  fact: FactOf<"op.unknown">,
  { calls }: Reading,
  { mayDoubt, isReordered, isFailed }: Doubt,
): void {
  const tool = calls.find(({ tries }) => tries.some(({ operation }) => operation === fact.operation))?.tool;
  const told = (): string => `${tool ?? "?"} is called unknown: ${JSON.stringify(fact)}`;
  if (tool === "launch") return;
  promised(tool === "exec" && mayDoubt, "wrong doubt", told);
  const { claim, status } = fact.evidence as { claim?: { kind?: string } | null; status?: string };
  // Where a later name of a folder outlives an earlier one, it looks as if somebody had taken that away.
  const isTakenAway = isReordered && claim?.kind === "void" && fact.reason.includes("its claim is gone");
  promised(isFailed || isTakenAway || (claim?.kind === "start" && status !== "ended"), "wrong doubt", told);
}

function judgeOutside(world: EngineWorld, calls: readonly Call[]): void {
  const { done } = world.payments;
  const paid = calls.find(({ tool }) => tool === "pay")?.tries.at(-1);
  promised(done.size <= 1, "repeated", () => `paid under ${[...done.keys()].join(", ")}`);
  const isPaid = paid !== undefined && outcomeOf(paid) === "ok";
  promised(!isPaid || done.has(paid.operation), "false success", () => "nothing was paid");
  promised(isPaid, "other", () => `pay ended otherwise: ${JSON.stringify(paid)}`);
  const text = world.text("/project/counter.txt") ?? "";
  promised(text === "n+\n", text === "n\n" ? "false success" : "repeated", () => `the counter is ${text}`);
}

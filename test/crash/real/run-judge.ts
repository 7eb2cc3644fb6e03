import { join } from "node:path";
import type { EngineContext } from "../../../src/engine/index.ts";
import { SessionFold } from "../../../src/engine/worker.ts";
import type { Commit } from "../../../src/model/commit.ts";
import { applyToQueue, emptyQueueState, type QueueState } from "../../../src/model/delivery.ts";
import { isHoldfastError } from "../../../src/model/errors.ts";
import type { Fact } from "../../../src/model/facts.ts";
import type { SessionState } from "../../../src/model/fold.ts";
import type { OperationState } from "../../../src/model/operation.ts";
import { Finding, promised } from "../campaign/finding.ts";
import type { RunHome } from "./run-home.ts";

/** A session, read strictly. */
export interface ReadRun {
  readonly state: SessionState;
  readonly queue: QueueState;
  readonly commits: readonly Commit[];
  readonly voids: number;
}

/** Reads log and queue. Rejects with a finding where anything of them is not as it must be. */
export async function readRun(engine: EngineContext, session: string): Promise<ReadRun> {
  const fold = new SessionFold(session);
  const commits: Commit[] = [];
  const queue = emptyQueueState();
  try {
    const history = await engine.store.readStrictly(session, (commit) => {
      commits.push(commit);
      return fold.take(commit);
    });
    await engine.store.readQueue(session, (commit) => applyToQueue(queue, commit));
    return { state: fold.state, queue, commits, voids: history.voids.length };
  } catch (error) {
    const code = isHoldfastError(error) ? `${error.code}: ` : "";
    throw new Finding("lost", `the session cannot be read: ${code}${String(error)}`, error);
  }
}

/** What always holds: what was told is there, nothing was done twice, the world is as the record says. */
export async function judgeRun(home: RunHome): Promise<ReadRun> {
  const run = await readRun(await home.engine(), home.session);
  for (const session of home.begun)
    promised(home.sessions().includes(session), "lost", () => `${session} is gone`);
  for (const told of home.told) {
    const kept = JSON.stringify(run.commits[told.seq]) === JSON.stringify(told);
    promised(kept, "lost", () => `line ${told.seq} was told of and does not stand there`);
  }
  judgeModel(run);
  for (const tries of byOrigin(run.state)) judgeTries(home, run.state, tries);
  return run;
}

/** The turns of the recorded model, each asked until it was answered, and then never again. */
function judgeModel({ commits }: ReadRun): void {
  const answered = new Set<number>();
  let asked = -1;
  for (const fact of commits.flatMap(({ facts }) => facts as Fact[])) {
    if (fact.kind === "model.requested") {
      asked = fact.cassetteIndex ?? -1;
      promised(!answered.has(asked), "repeated", () => `turn ${asked} was asked again`);
    } else if (fact.kind === "model.answered") answered.add(asked);
  }
}

function byOrigin(state: SessionState): OperationState[][] {
  const tries = new Map<string, OperationState[]>();
  for (const one of state.operations.values()) tries.set(one.origin, [...(tries.get(one.origin) ?? []), one]);
  return [...tries.values()];
}

function judgeTries(home: RunHome, state: SessionState, tries: readonly OperationState[]): void {
  const last = tries.at(-1);
  if (last === undefined) return;
  const name = `${last.tool} ${last.operation}`;
  for (const earlier of tries.slice(0, -1)) {
    const outcome = "result" in earlier ? earlier.result.outcome : earlier.at;
    promised(outcome === "not_executed", "repeated", () => `${name} stands for one that is ${outcome}`);
  }
  const times = timesOf(home, argumentsOf(state, last), last.tool);
  if (times === undefined) return;
  promised(times <= 1, "repeated", () => `${name} happened ${times} times`);
  if (!("result" in last)) return;
  const { outcome } = last.result;
  if (outcome === "ok") promised(times === 1, "false success", () => `${name} is ok and did not happen`);
  if (outcome === "not_executed")
    promised(times === 0, "lost", () => `${name} is not_executed and did happen`);
}

/** What the model asked for. */
export function argumentsOf(
  state: SessionState,
  operation: OperationState,
): Readonly<Record<string, unknown>> {
  for (const { message } of state.messages) {
    for (const part of message.parts) {
      if (part.type === "tool_call" && part.operation === operation.origin)
        return part.args as Record<string, unknown>;
    }
  }
  throw new Finding("lost", `no call asked for ${operation.operation}`);
}

/** How often the world shows it; undefined for what leaves no trace. */
export function timesOf(
  home: RunHome,
  args: Readonly<Record<string, unknown>>,
  tool: string,
): number | undefined {
  const text = home.text(home.workspace, String(args["path"]));
  switch (tool) {
    case "exec": {
      const word = /echo (\w+) >>/.exec(String(args["command"]))?.[1];
      return word === undefined ? undefined : home.times(word);
    }
    case "write":
      return text === args["content"] ? 1 : 0;
    case "edit":
      // Each edit of these stories adds its last character, which nothing else does.
      return (text?.split(String(args["new"]).slice(-1)).length ?? 1) - 1;
    case "delete":
      return text === undefined ? 1 : 0;
    default:
      return undefined;
  }
}

/** What is open between asked and known may be called unknown only where nothing on disk proves it. */
export function judgeDoubt(home: RunHome, state: SessionState, operation: OperationState): void {
  const name = `${operation.tool} ${operation.operation}`;
  if (operation.tool === "exec") {
    const spool = home.inSession("spool", operation.operation);
    const claim = home.text(join(spool, "claim")) ?? "";
    promised(
      claim.includes('"kind":"start"'),
      "wrong doubt",
      () => `${name} is unknown and nobody claimed it`,
    );
    const status = (home.text(join(spool, "status")) ?? "").trim();
    promised(status === "", "wrong doubt", () => `${name} is unknown and its end is on record: ${status}`);
    return;
  }
  // The one change of a file that leaves nothing to prove it by: a new file between its two names.
  const isBetween = operation.tool === "write" && timesOf(home, argumentsOf(state, operation), "write") === 0;
  promised(isBetween, "wrong doubt", () => `${name} is called unknown`);
}

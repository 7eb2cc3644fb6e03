import { expect } from "vitest";
import type { EngineContext } from "../../src/engine/index.ts";
import { SessionFold } from "../../src/engine/worker.ts";
import type { Commit } from "../../src/model/commit.ts";
import type { QueueState } from "../../src/model/delivery.ts";
import { applyToQueue, emptyQueueState } from "../../src/model/delivery.ts";
import type { Fact, FactKind, FactOf } from "../../src/model/facts.ts";
import type { SessionState } from "../../src/model/fold.ts";
import type { OperationState } from "../../src/model/operation.ts";

/** A session, read strictly. */
export interface Examined {
  state: SessionState;
  queue: QueueState;
  commits: Commit[];
  facts: Fact[];
}

/** Reads log and queue strictly; fails where anything of them is not as it must be. */
export async function examine(engine: EngineContext, session: string): Promise<Examined> {
  const fold = new SessionFold(session);
  const commits: Commit[] = [];
  const history = await engine.store.readStrictly(session, (commit) => {
    commits.push(commit);
    return fold.take(commit);
  });
  expect(history.voids).toEqual([]);
  const queue = emptyQueueState();
  await engine.store.readQueue(session, (commit) => applyToQueue(queue, commit));
  return { state: fold.state, queue, commits, facts: commits.flatMap((commit) => commit.facts as Fact[]) };
}

/** The facts of one kind, in order. */
export function factsOf<K extends FactKind>({ facts }: Pick<Examined, "facts">, kind: K): FactOf<K>[] {
  return facts.filter((fact): fact is FactOf<K> => fact.kind === kind);
}

/** Every commit that some process was told of stands in the log as it was told. */
export function expectKept({ commits }: Examined, told: readonly Commit[]): void {
  for (const commit of told) expect(commits[commit.seq]).toEqual(commit);
}

/** Each call of the model came to exactly one operation that is over; what it stands for never took effect. */
export function expectSettledOnce({ state }: Examined): void {
  const byOrigin = new Map<string, OperationState[]>();
  for (const operation of state.operations.values()) {
    expect(operation).toMatchObject({ at: "settled" });
    byOrigin.set(operation.origin, [...(byOrigin.get(operation.origin) ?? []), operation]);
  }
  for (const tries of byOrigin.values()) {
    const outcomes = tries.map((one) => ("result" in one ? one.result.outcome : undefined));
    expect(outcomes.slice(0, -1).every((outcome) => outcome === "not_executed")).toBe(true);
  }
}

/** Each turn of the cassette was answered or failed once, in order, and never asked for again after that. */
export function expectCassettePlayedOnce(examined: Examined, turns: number): void {
  const played: number[] = [];
  let asked: number | undefined;
  for (const fact of examined.facts) {
    if (fact.kind === "model.requested") {
      asked = fact.cassetteIndex;
      expect(played).not.toContain(asked);
    } else if (fact.kind === "model.answered" || fact.kind === "model.failed") {
      // An answer that a stop cut is asked for again.
      if (fact.kind === "model.answered" || fact.reason !== "interrupted") played.push(asked ?? -1);
    }
  }
  expect(played).toEqual(Array.from({ length: turns }, (_, index) => index));
}

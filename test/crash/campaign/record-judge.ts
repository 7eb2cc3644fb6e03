import type { Commit } from "../../../src/model/commit.ts";
import type { Fact } from "../../../src/model/facts.ts";
import type { SessionState } from "../../../src/model/fold.ts";
import type { OperationState } from "../../../src/model/operation.ts";
import { promised } from "./finding.ts";

/** What must hold of every session by its record alone, whatever happened and whatever the world shows. */

/** Each line that somebody was told of stands where it was told to stand. */
export function judgeTold(told: readonly Commit[], commits: readonly Commit[]): void {
  for (const line of told) {
    const isKept = JSON.stringify(commits[line.seq]) === JSON.stringify(line);
    promised(isKept, "lost", () => `line ${line.seq} was told of and is not there`);
  }
}

/** Each turn of the recorded model was asked until it was answered once, and then never again. */
export function judgeAnswers(commits: readonly Commit[]): void {
  const answered = new Set<number>();
  let asked: number | undefined;
  for (const fact of commits.flatMap(({ facts }) => facts as Fact[])) {
    if (fact.kind === "model.requested") {
      asked = fact.cassetteIndex;
      const isNew = asked === undefined || !answered.has(asked);
      promised(isNew, "repeated", () => `turn ${asked} was asked again`);
    } else if (fact.kind === "model.answered" && asked !== undefined) answered.add(asked);
  }
}

/** The operations that stand for one call of the model, in the order in which they were made; call by call. */
export function callsOf(state: SessionState): readonly (readonly OperationState[])[] {
  const calls = new Map<string, OperationState[]>();
  for (const operation of state.operations.values()) {
    calls.set(operation.origin, [...(calls.get(operation.origin) ?? []), operation]);
  }
  return [...calls.values()];
}

/** A call is begun anew only where what was begun before is known not to have happened. */
export function judgeTries(tries: readonly OperationState[]): void {
  const last = tries.at(-1);
  for (const earlier of tries.slice(0, -1)) {
    const outcome = "result" in earlier ? earlier.result.outcome : earlier.at;
    promised(
      outcome === "not_executed",
      "repeated",
      () => `${last?.tool} ${last?.operation} stands for one that is ${outcome}`,
    );
  }
}

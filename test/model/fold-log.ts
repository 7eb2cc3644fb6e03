import type { Commit } from "../../src/model/commit.ts";
import type { Fact } from "../../src/model/facts.ts";
import type { SessionState } from "../../src/model/fold.ts";
import { applyCommit, beginSession } from "../../src/model/fold.ts";
import { examples } from "./fact-examples.ts";

/** When line 0 was written; every line is one second later than the one before. */
export const startedAt = 1_764_511_111_000;

/** The state of session `ses_1` after line 0 and these lines, each of the given facts. */
export function foldLines(...lines: readonly (readonly Fact[])[]): SessionState {
  const { parent: _, bases: __, ...created } = examples["session.created"];
  const commits = [[created, examples.row], ...lines].map((facts, seq): Commit => {
    const counters = { rec: 0, rev: 0, msgs: 0, row: 0 };
    const chain = { prev: "0".repeat(32), sum: "1".repeat(32) };
    return { v: 1, ses: "ses_1", seq, epoch: 1, at: startedAt + seq * 1000, ...counters, facts, ...chain };
  });
  const [first, ...rest] = commits;
  if (first === undefined) throw new Error("there is no line 0");
  const state = beginSession("ses_1", first);
  for (const commit of rest) takeIn(state, commit);
  return state;
}

/** Takes a line in that must be possible. */
export function takeIn(state: SessionState, commit: Commit): void {
  const fault = applyCommit(state, commit);
  if (fault !== undefined) throw new Error(fault);
}

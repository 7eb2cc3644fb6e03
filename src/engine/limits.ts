import type { RunLimits } from "../model/next-step.ts";
import type { RunState } from "../model/run.ts";
import type { Staff } from "./worker.ts";

/** What bounds a run: the narrower of what definition and policy allow. */
export function limitsOf({ worker }: Staff): RunLimits {
  const { execution } = worker.state.created.definition.spec;
  const { policy } = worker.state.policy;
  return {
    maxTurns: narrower(execution.maxTurns, policy.maxTurns),
    maxTokens: narrower(execution.maxTokens, policy.maxTokens),
    maxWallClockMs: narrower(execution.maxWallClockMs, policy.maxWallClockMs),
  };
}

/** Wall clock at which a running run has used up its time; undefined where nothing bounds it. */
export function deadlineOf(crew: Staff, run: RunState | undefined): number | undefined {
  const { maxWallClockMs } = limitsOf(crew);
  if (run?.at !== "running" || maxWallClockMs === undefined) return undefined;
  return run.startedAt + Math.max(0, maxWallClockMs - run.elapsedMs);
}

function narrower(left: number | undefined, right: number | undefined): number | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return Math.min(left, right);
}

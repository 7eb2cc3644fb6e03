import type { OperationFact, OperationState } from "../../src/model/operation.ts";
import { evolveOperation } from "../../src/model/operation.ts";
import type { RunFact, RunState } from "../../src/model/run.ts";
import { evolveRun } from "../../src/model/run.ts";

/** Every state that a run and an operation can be in, made by the facts that lead there. */

export const place = { at: 10, epoch: 2, lastAt: 9 };
export const run = "run_1";
export const failed = {
  kind: "model.failed",
  run,
  turn: 1,
  reason: "http",
  message: "",
  durationMs: 1,
} as const;
export const runFacts: Record<string, RunFact> = {
  "run.created": { kind: "run.created", run, message: "msg_1" },
  "run.started": { kind: "run.started", run, attempt: 1 },
  "run.suspended": { kind: "run.suspended", run, reason: "provider", elapsedMs: 1 },
  "run.input_required": { kind: "run.input_required", run, operations: [], elapsedMs: 1 },
  "run.ended": { kind: "run.ended", run, status: "completed", usage: {}, turns: 1, elapsedMs: 1 },
  "model.requested": {
    kind: "model.requested",
    run,
    turn: 1,
    role: "execution",
    provider: "p",
    model: "m",
    system: { sha256: "", bytes: 0 },
    tools: {},
  },
  "model.answered": { kind: "model.answered", run, turn: 1, durationMs: 1, stopReason: "stop" },
  "model.failed": { ...failed, retryable: true, began: false },
};

/** The fact with the number that comes next in this state. */
export function numbered(state: RunState | undefined, fact: RunFact): RunFact {
  if (fact.kind === "run.started") return { ...fact, attempt: (state?.attempts ?? 0) + 1 };
  return "turn" in fact ? { ...fact, turn: (state?.turns ?? 0) + 1 } : fact;
}

export function runAfter(...kinds: string[]): RunState | undefined {
  return kinds.reduce<RunState | undefined>((state, kind) => {
    const fact = runFacts[kind];
    if (fact === undefined) throw new Error(`there is no fact ${kind}`);
    return evolveRun(state, numbered(state, fact), place);
  }, undefined);
}

export const began = ["run.created", "run.started"];
export const runStates: Record<string, RunState | undefined> = {
  none: undefined,
  queued: runAfter("run.created"),
  running: runAfter(...began),
  "running, asking": runAfter(...began, "model.requested"),
  suspended: runAfter(...began, "run.suspended"),
  input_required: runAfter(...began, "run.input_required"),
  completed: runAfter(...began, "run.ended"),
};

export const operation = "op_1";
export const asked = {
  kind: "op.asked",
  operation,
  run,
  turn: 1,
  tool: "exec",
  effect: "supervised",
} as const;
export const operationFacts: Record<string, OperationFact> = {
  "op.asked": asked,
  "op.started": {
    kind: "op.started",
    operation,
    tool: "exec",
    effect: "supervised",
    evidence: { class: "opaque" },
  },
  "op.known": { kind: "op.known", operation, outcome: "ok" },
  "op.unknown": { kind: "op.unknown", operation, reason: "", evidence: {} },
  "op.resolved": { kind: "op.resolved", operation, outcome: "ok", by: "me" },
  "op.settled": { kind: "op.settled", operation },
  "approval.asked": { kind: "approval.asked", operation, capability: "exec" },
  "approval.decided": { kind: "approval.decided", operation, decision: "allow", by: "me" },
};

function operationAfter(...kinds: string[]): OperationState | undefined {
  return kinds.reduce<OperationState | undefined>((state, kind) => {
    const fact = operationFacts[kind];
    if (fact === undefined) throw new Error(`there is no fact ${kind}`);
    return evolveOperation(state, fact, 10);
  }, undefined);
}

export const operationStates: Record<string, OperationState | undefined> = {
  none: undefined,
  asked: operationAfter("op.asked"),
  waiting: operationAfter("op.asked", "approval.asked"),
  allowed: operationAfter("op.asked", "approval.asked", "approval.decided"),
  started: operationAfter("op.asked", "op.started"),
  unknown: operationAfter("op.asked", "op.started", "op.unknown"),
  known: operationAfter("op.asked", "op.started", "op.known"),
  settled: operationAfter("op.asked", "op.started", "op.known", "op.settled"),
};

import { describe, expect, test } from "vitest";
import { applyToQueue, emptyQueueState } from "../../src/model/delivery.ts";
import type { Fact } from "../../src/model/facts.ts";
import { examples } from "./fact-examples.ts";
import { foldLines } from "./fold-log.ts";

/** What each fact may do by itself and not beside the others. */

const run = "run_1";
const created = (id = run): Fact[] => [
  { kind: "message", id: `msg_${id}`, role: "user", parts: [{ type: "text", text: "Go" }], run: id },
  { kind: "run.created", run: id, message: `msg_${id}` },
];
const started: Fact[] = [{ kind: "run.started", run, attempt: 1 }];
const requested: Fact[] = [{ ...examples["model.requested"], run, turn: 1 }];
const asked = {
  kind: "op.asked",
  operation: "op_1",
  run,
  turn: 1,
  tool: "exec",
  effect: "supervised",
} as const;
const answered: Fact[] = [
  { kind: "model.answered", run, turn: 1, durationMs: 1, stopReason: "tool-calls" },
  asked,
];
const evidence = { class: "opaque" } as const;
const begun: Fact[] = [
  { kind: "op.started", operation: "op_1", tool: "exec", effect: "supervised", evidence },
];
const unknown: Fact[] = [{ kind: "op.unknown", operation: "op_1", reason: "r", evidence: {} }];
const ended = (status: "completed" | "failed" | "canceled"): Fact[] => [
  { kind: "run.ended", run, status, usage: {}, turns: 1, elapsedMs: 1 },
];
const inDoubt = [created(), started, requested, answered, begun, unknown];

describe("a log contradicts itself", () => {
  test.each<[string, Fact[][], RegExp]>([
    ["where a run is created beside an open one", [created(), created("run_2")], /while run run_1 is open/],
    ["where a run completes with an operation in doubt", [...inDoubt, ended("completed")], /op_1 is unknown/],
    [
      "where a run is canceled with an operation in doubt",
      [...inDoubt, ended("canceled")],
      /op_1 is unknown/,
    ],
    [
      "where a run is canceled while an operation runs",
      [created(), started, requested, answered, begun, ended("canceled")],
      /op_1 is started/,
    ],
    [
      "where an operation goes on after its run",
      [created(), started, requested, answered, ended("failed"), begun],
      /whose run is failed/,
    ],
    ["where an operation is of no run", [[asked]], /whose run is not there/],
  ])("%s", (_, lines, reason) => {
    expect(() => foldLines(...lines)).toThrow(reason);
  });

  test("not where a run that is given up leaves an operation in doubt, or one run follows another", () => {
    const state = foldLines(...inDoubt, ended("failed"), created("run_2"));
    expect([...state.runs.values()].map((one) => one.at)).toEqual(["failed", "queued"]);
    expect(state.operations.get("op_1")?.at).toBe("unknown");
  });

  test("leaves the state before the line as it was", () => {
    const before = foldLines(...inDoubt);
    expect(before.messages).toHaveLength(1);
    const after = foldLines(...inDoubt);
    expect(() => foldLines(...inDoubt, [...created("run_2"), ...ended("completed")])).toThrow();
    expect(after).toEqual(before);
  });
});

describe("a queue contradicts itself", () => {
  const delivery = { ...examples["delivery.admitted"], delivery: "dlv_1", idempotencyKey: "k" };
  const request = { ...examples["request.made"], request: "req_1" };
  const answer = { kind: "request.answered", request: "req_1", ok: true } as const;
  test.each<[string, Fact[], RegExp]>([
    ["where two deliveries have one key", [delivery, { ...delivery, delivery: "dlv_2" }], /key of another/],
    ["where a request is made twice", [request, request], /made twice/],
    ["where a request is answered twice", [request, answer, answer], /answered twice/],
  ])("%s", (_, facts, reason) => {
    const numbers = { v: 1, ses: "", seq: 0, epoch: 0, at: 1, rec: 0, rev: 0, msgs: 0, row: 0 };
    expect(applyToQueue(emptyQueueState(), { ...numbers, facts, prev: "", sum: "" })).toMatch(reason);
  });
});

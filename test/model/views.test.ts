import { describe, expect, test } from "vitest";
import type { Fact } from "../../src/model/facts.ts";
import { newestRun } from "../../src/model/fold.ts";
import { statusOf, viewRow, viewRun, viewRunSummary } from "../../src/model/views.ts";
import { examples } from "./fact-examples.ts";
import { foldLines } from "./fold-log.ts";

const run = "run_1";
const blob = { sha256: "ab".repeat(32), bytes: 40_000 };

const task: Fact[] = [
  { kind: "message", id: "msg_1", role: "user", parts: [{ type: "text", text: "Fix it" }], run },
  { kind: "run.created", run, message: "msg_1" },
];
const started: Fact[] = [{ kind: "run.started", run, attempt: 1 }];
const requested: Fact[] = [examples["model.requested"]];
const asked: Fact[] = [
  {
    kind: "message",
    id: "msg_2",
    role: "assistant",
    parts: [
      { type: "tool_call", operation: "op_1", tool: "exec", args: { command: "npm test" } },
      { type: "tool_call", operation: "op_2", tool: "write", argsBlob: blob },
    ],
    run,
    turn: 1,
  },
  {
    kind: "model.answered",
    run,
    turn: 1,
    durationMs: 5,
    usage: { input: 10, output: 2 },
    stopReason: "tool-calls",
  },
  { kind: "op.asked", operation: "op_1", run, turn: 1, tool: "exec", effect: "supervised" },
  { kind: "op.asked", operation: "op_2", run, turn: 1, tool: "write", effect: "checked" },
];
const begun: Fact[] = [
  {
    kind: "op.started",
    operation: "op_1",
    tool: "exec",
    args: { command: "npm test" },
    effect: "supervised",
    evidence: { class: "supervised", cwd: "/project/shop", nonce: "n" },
  },
];
const unknown: Fact[] = [
  {
    kind: "op.unknown",
    operation: "op_1",
    reason: "the supervisor is gone",
    evidence: { output: "1 passed" },
  },
];
const waiting: Fact[] = [{ kind: "run.input_required", run, operations: ["op_1"], elapsedMs: 900 }];

function viewAfter(lines: Fact[][], active = false) {
  const state = foldLines(...lines);
  const newest = newestRun(state);
  if (newest === undefined) throw new Error("there is no run");
  return viewRun(state, newest, active);
}

describe("a run as it is shown", () => {
  test("is interrupted where it runs and nobody holds the session", () => {
    const state = foldLines(task, started);
    const newest = newestRun(state);
    if (newest === undefined) throw new Error("there is no run");
    expect(statusOf(newest, true)).toBe("running");
    expect(statusOf(newest, false)).toBe("interrupted");
    expect(viewRunSummary(newest, false)).toEqual({
      run,
      status: "interrupted",
      attempts: 1,
      createdAt: 1_764_511_112_000,
    });
    const queued = newestRun(foldLines(task));
    expect(queued && statusOf(queued, false)).toBe("queued");
  });

  test("tells of each operation what was asked, what is known, and what proves it", () => {
    const view = viewAfter([task, started, requested, asked, begun, unknown, waiting]);
    expect(view).toMatchInlineSnapshot(`
      {
        "attempts": 1,
        "createdAt": 1764511112000,
        "operations": [
          {
            "args": {
              "command": "npm test",
            },
            "effect": "supervised",
            "evidence": {
              "output": "1 passed",
            },
            "id": "op_1",
            "reason": "the supervisor is gone",
            "startedAt": 1764511116000,
            "state": "unknown",
            "tool": "exec",
            "unknownAt": 1764511117000,
          },
          {
            "args": {
              "blob": "abababababababababababababababababababababababababababababababab",
            },
            "effect": "checked",
            "id": "op_2",
            "state": "asked",
            "tool": "write",
          },
        ],
        "run": "run_1",
        "session": "ses_1",
        "status": "input_required",
        "task": "Fix it",
        "turns": 1,
        "usage": {
          "input": 10,
          "output": 2,
        },
      }
    `);
  });

  test("tells who said what happened, and when, beside what had been found", () => {
    const resolved: Fact = {
      kind: "op.resolved",
      operation: "op_1",
      outcome: "ok",
      output: "It passed.",
      evidence: "I looked at the terminal.",
      by: "ada",
    };
    const view = viewAfter([task, started, requested, asked, begun, unknown, waiting, [resolved]]);
    expect(view.operations[0]).toMatchInlineSnapshot(`
      {
        "args": {
          "command": "npm test",
        },
        "effect": "supervised",
        "endedAt": 1764511119000,
        "evidence": {
          "output": "1 passed",
        },
        "id": "op_1",
        "outcome": "ok",
        "output": "It passed.",
        "reason": "the supervisor is gone",
        "resolution": {
          "at": 1764511119000,
          "by": "ada",
          "evidence": "I looked at the terminal.",
        },
        "startedAt": 1764511116000,
        "state": "known",
        "tool": "exec",
        "unknownAt": 1764511117000,
      }
    `);
  });

  test("keeps the arguments of a call that was rewound", () => {
    const rewound: Fact = { kind: "rewound", session: "ses_1", seq: 0 };
    const view = viewAfter([task, started, requested, asked, begun, unknown, waiting, [rewound]]);
    expect(view.operations.map(({ args }) => args)).toEqual([{ command: "npm test" }, {}]);
  });

  test("that completed has its answer, one that failed its reason, one that is suspended its error", () => {
    const ending = { kind: "run.ended", run, usage: {}, turns: 1, elapsedMs: 5 } as const;
    const after = (fact: Fact) => {
      const { status, text, error, endedAt } = viewAfter([task, started, [fact]]);
      return [status, text, error, endedAt];
    };
    const end = 1_764_511_114_000;
    expect(after({ ...ending, status: "completed", text: "Done." })).toEqual([
      "completed",
      "Done.",
      undefined,
      end,
    ]);
    const budget = { reason: "budget_turns", text: "the run used its 1 turns" };
    expect(after({ ...ending, status: "failed", ...budget })).toEqual([
      "failed",
      undefined,
      "budget_turns: the run used its 1 turns",
      end,
    ]);
    expect(after({ ...ending, status: "canceled" })).toEqual(["canceled", undefined, undefined, end]);
    const suspended = { kind: "run.suspended", run, elapsedMs: 5 } as const;
    const silent = { ...suspended, reason: "provider", message: "no answer" } as const;
    expect(after(silent)).toEqual(["suspended", undefined, "no answer", undefined]);
    expect(after({ ...suspended, reason: "signal" })).toEqual([
      "suspended",
      undefined,
      "its process was told to end by a signal",
      undefined,
    ]);
  });

  test("counts turns and tokens over all its attempts", () => {
    const view = viewAfter(
      [task, started, requested, asked, begun, [{ kind: "run.started", run, attempt: 2 }]],
      true,
    );
    expect(view).toMatchObject({ status: "running", attempts: 2, turns: 1, usage: { input: 10, output: 2 } });
  });
});

describe("a row as it is shown", () => {
  const rest = { createdAt: 1, updatedAt: 2, active: true, messages: 3 };

  test("has the members that scripts rely on", () => {
    expect(viewRow("ses_1", examples.row, rest)).toEqual({
      id: "ses_1",
      title: "Shop",
      agent: "builtin",
      model: "cassette/shop.yaml",
      workspace: "/project/shop",
      createdAt: 1,
      updatedAt: 2,
      active: true,
      messages: 3,
      archived: false,
      pinned: true,
      parent: "ses_0",
    });
  });

  test("names no model and no parent where there is none", () => {
    const { model: _, parent: __, ...row } = examples.row;
    expect(Object.keys(viewRow("ses_1", row, rest))).not.toContain("model");
    expect(Object.keys(viewRow("ses_1", row, rest))).not.toContain("parent");
  });
});

import { describe, expect, test } from "vitest";
import type { Commit } from "../../src/model/commit.ts";
import type { QueueState } from "../../src/model/delivery.ts";
import { applyToQueue, emptyQueueState } from "../../src/model/delivery.ts";
import type { ResumeBlocker, ResumeVerdict } from "../../src/model/eligibility.ts";
import type { Fact } from "../../src/model/facts.ts";
import type { SessionState } from "../../src/model/fold.ts";
import { judgeQueue } from "../../src/model/queue-hold.ts";
import { planResume } from "../../src/model/resume-plan.ts";
import { foldLines, takeIn } from "./fold-log.ts";

const run = "run_1";
const eligible: ResumeVerdict = { eligible: true, code: "yes", blockers: [] };

function stopped(...blockers: ResumeBlocker[]): ResumeVerdict {
  return { eligible: false, code: blockers[0] ?? "yes", blockers };
}

const task: Fact[] = [
  {
    kind: "message",
    id: "msg_1",
    role: "user",
    parts: [{ type: "text", text: "Fix it" }],
    run,
    delivery: "dlv_1",
  },
  { kind: "run.created", run, message: "msg_1" },
];
const started: Fact[] = [{ kind: "run.started", run, attempt: 1 }];

function ended(status: "completed" | "failed" | "canceled", reason?: string): Fact[] {
  const rest = { usage: {}, turns: 1, elapsedMs: 5, text: "" };
  return [{ kind: "run.ended", run, status, ...(reason !== undefined && { reason }), ...rest }];
}

/** An operation that started, and of which nobody knows the end. */
const doubt: Fact[][] = [
  [{ kind: "model.requested", ...requested() }],
  [
    {
      kind: "message",
      id: "msg_2",
      role: "assistant",
      parts: [{ type: "tool_call", operation: "op_1", tool: "exec", args: {} }],
      run,
      turn: 1,
    },
    { kind: "model.answered", run, turn: 1, durationMs: 1, usage: {}, stopReason: "tool-calls" },
    { kind: "op.asked", operation: "op_1", run, turn: 1, tool: "exec", effect: "supervised" },
  ],
  [
    {
      kind: "op.started",
      operation: "op_1",
      tool: "exec",
      args: {},
      effect: "supervised",
      evidence: { class: "supervised", cwd: "/", nonce: "n" },
    },
  ],
];
const unknown: Fact[] = [{ kind: "op.unknown", operation: "op_1", reason: "gone", evidence: {} }];
const waits: Fact[] = [{ kind: "run.input_required", run, operations: ["op_1"], elapsedMs: 1 }];
const resolved: Fact[] = [
  { kind: "op.resolved", operation: "op_1", outcome: "ok", output: "did it", by: "me" },
];

function requested(): Omit<Extract<Fact, { kind: "model.requested" }>, "kind"> {
  const system = { sha256: "ab".repeat(32), bytes: 1 };
  return { run, turn: 1, provider: "p", model: "m", role: "execution", system, tools: {} };
}

/** A queue with these facts, each on a line of its own, behind the delivered task. */
function queueOf(...facts: Fact[]): QueueState {
  const queue = emptyQueueState();
  const first: Fact[] = [
    admitted("dlv_1"),
    { kind: "delivery.claimed", delivery: "dlv_1", logSeq: 0 },
    { kind: "delivery.acknowledged", delivery: "dlv_1", logSeq: 1, sum: "1".repeat(32) },
  ];
  for (const fact of [...first, ...facts]) {
    const line = { at: 7, facts: [fact] } as unknown as Commit;
    expect(applyToQueue(queue, line)).toBe(undefined);
  }
  return queue;
}

function admitted(delivery: string): Fact {
  const rest = { idempotencyKey: delivery, logSeq: 0, source: "user", mode: "queue" } as const;
  return { kind: "delivery.admitted", delivery, text: delivery, ...rest };
}

/** What stands around the facts of the next line. */
function lineAfter({ seq, sum: prev, at }: SessionState): Omit<Commit, "epoch" | "facts"> {
  const chain = { prev, sum: "2".repeat(32) };
  return { v: 1, ses: "ses_1", seq: seq + 1, at: at + 1000, rec: 0, rev: 0, msgs: 0, row: 0, ...chain };
}

const one = queueOf(admitted("dlv_2"));

function judge(state: SessionState, queue = one, live = false, resume = eligible) {
  return judgeQueue({ state, queue, live, resume });
}

/** What is said of a queue that nobody holds and nothing blocks. */
const rest = { blocked: [], live: false, underWay: false };

describe("a queue in which a message waits", () => {
  test.each([
    ["failed", "the run failed (budget_turns)", [ended("failed", "budget_turns")]],
    ["canceled", "the run was canceled", [ended("canceled")]],
    [
      "suspended",
      "the run is suspended (provider)",
      [[{ kind: "run.suspended", run, reason: "provider", message: "429", elapsedMs: 1 }]],
    ],
    ["interrupted", "the run was interrupted", []],
    ["interrupted", "the run was interrupted", doubt],
    ["input_required", "a person must say what happened to an operation", [...doubt, unknown, waits]],
    // Whoever found it out died before he could say that the run waits.
    ["input_required", "a person must say what happened to an operation", [...doubt, unknown]],
    [
      "input_required",
      "the run waits to go on, now that all is answered",
      [...doubt, unknown, waits, resolved],
    ],
  ] as [string, string, Fact[][]][])("is held as %s: %s", (reason, why, lines) => {
    const state = foldLines(task, started, ...lines);
    const mustSpeak = why.startsWith("a person");
    const next = mustSpeak ? "holdfast run show ses_1 run_1" : "holdfast resume ses_1";
    expect(judge(state)).toEqual({
      waiting: 1,
      blocked: [],
      live: false,
      underWay: false,
      held: { reason, run, why, next },
    });
    // A process that took the session since then may take it; what a person must say it cannot say itself.
    takeIn(state, { ...lineAfter(state), epoch: 2, facts: [] });
    expect(judge(state, one, true).held?.reason).toBe(mustSpeak ? "input_required" : undefined);
  });

  test("is not held after a completed run, nor before the first one: a resume takes it", () => {
    for (const state of [foldLines(task, started, ended("completed")), foldLines()])
      expect(judge(state)).toEqual({ waiting: 1, ...rest });
  });

  test("of a session that cannot go on leads to why not, whatever else holds it", () => {
    const explain = "holdfast resume ses_1 --explain";
    expect(judge(foldLines(), one, false, stopped("cwd-missing")).held).toEqual({
      reason: "not_resumable",
      why: "the session cannot be resumed (cwd-missing)",
      next: explain,
    });
    const failed = foldLines(task, started, ended("failed"));
    expect(judge(failed, one, false, stopped("damaged")).held).toMatchObject({
      reason: "failed",
      next: explain,
    });
    // That somebody runs it is what gets it going.
    expect(judge(foldLines(), one, true, stopped("active")).held).toBe(undefined);
  });
});

describe("a queue whose session a process holds", () => {
  test("is taken from when the run that this process works on completes, and only then", () => {
    const working = foldLines(task, started);
    expect(judge(working, one, true)).toEqual({ waiting: 1, blocked: [], live: true, underWay: true });
    // Somebody who came after that and has started no run is there for something else, or has only begun.
    const taken: Commit = { ...lineAfter(working), epoch: 2, facts: [] };
    takeIn(working, taken);
    for (const state of [working, foldLines(), foldLines(task, started, ended("completed"))])
      expect(judge(state, one, true)).toEqual({ waiting: 1, blocked: [], live: true, underWay: false });
  });

  test("is held as soon as this process came to anything but a completed run: it is about to let go", () => {
    const suspended: Fact[] = [
      { kind: "run.suspended", run, reason: "provider", message: "429", elapsedMs: 1 },
    ];
    for (const [reason, facts] of [
      ["failed", ended("failed")],
      ["canceled", ended("canceled")],
      ["suspended", suspended],
    ] as const) {
      const state = foldLines(task, started, facts);
      expect(judge(state, one, true)).toMatchObject({ live: true, underWay: false, held: { reason } });
      // Whoever takes the session after that may take the message.
      takeIn(state, { ...lineAfter(state), epoch: 2, facts: [] });
      expect(judge(state, one, true).held).toBe(undefined);
    }
  });

  test("waits with it for a person whom it asks; whoever resumes after its death asks anew", () => {
    const asked: Fact[] = [{ kind: "approval.asked", operation: "op_1", capability: "exec" }];
    const state = foldLines(task, started, ...doubt.slice(0, 2), asked);
    expect(judge(state, one, true).held).toEqual({
      reason: "input_required",
      run,
      why: "a person must allow or deny an operation",
      next: "holdfast run show ses_1 run_1",
    });
    expect(judge(state).held).toMatchObject({ reason: "interrupted" });
    const allowed: Fact[] = [{ kind: "approval.decided", operation: "op_1", decision: "allow", by: "me" }];
    const going = foldLines(task, started, ...doubt.slice(0, 2), asked, allowed);
    expect(judge(going, one, true).held).toBe(undefined);
  });
});

describe("a queue", () => {
  test("in which nothing waits is not held, however the run ended", () => {
    const delivered = queueOf();
    const removed = queueOf(admitted("dlv_2"), { kind: "delivery.removed", delivery: "dlv_2" });
    for (const queue of [delivered, removed, emptyQueueState()]) {
      const failed = foldLines(task, started, ended("failed"));
      expect(judge(failed, queue)).toEqual({ waiting: 0, ...rest });
    }
  });

  test("whose messages are blocked says of each why, and is held by that where nothing else waits", () => {
    const block = (delivery: string, reason: string): Fact => ({
      kind: "delivery.blocked",
      delivery,
      reason,
    });
    const two = queueOf(
      admitted("dlv_2"),
      block("dlv_2", "its text is gone"),
      admitted("dlv_3"),
      block("dlv_3", "imported"),
    );
    const state = foldLines(task, started, ended("completed"));
    expect(judge(state, two)).toEqual({
      waiting: 0,
      live: false,
      underWay: false,
      blocked: [
        { delivery: "dlv_2", why: "its text is gone" },
        { delivery: "dlv_3", why: "it came with an imported session and nobody has let it go on yet" },
      ],
      held: { reason: "blocked", why: "its text is gone", next: "holdfast queue list ses_1" },
    });
    const unblocked = queueOf(admitted("dlv_2"), block("dlv_2", "imported"), {
      kind: "delivery.unblocked",
      delivery: "dlv_2",
      by: "me",
    });
    expect(judge(state, unblocked)).toEqual({ waiting: 1, ...rest });
    const mixed = queueOf(admitted("dlv_2"), block("dlv_2", "imported"), admitted("dlv_3"));
    expect(judge(state, mixed)).toMatchObject({ waiting: 1, blocked: [{ delivery: "dlv_2" }] });
    expect(judge(state, mixed).held).toBe(undefined);
  });

  test("counts a message as waiting that a dead holder claimed and never said, and no other claimed one", () => {
    const claimed = queueOf(admitted("dlv_2"), { kind: "delivery.claimed", delivery: "dlv_2", logSeq: 1 });
    const state = foldLines(task, started, ended("completed"));
    expect(judge(state, claimed).waiting).toBe(1);
    const said: Fact[] = [
      { kind: "message", id: "msg_9", role: "user", parts: [{ type: "text", text: "x" }], delivery: "dlv_2" },
    ];
    expect(judge(foldLines(task, started, ended("completed"), said), claimed).waiting).toBe(0);
  });

  test("keeps who allowed a message to wake the session until that is taken back", () => {
    const authorisation = { by: "me", until: 9 };
    const armed: Fact = { kind: "delivery.armed", delivery: "dlv_2", authorisation };
    expect(queueOf(admitted("dlv_2"), armed).deliveries.get("dlv_2")?.authorisation).toEqual(authorisation);
    const disarmed: Fact = { kind: "delivery.disarmed", delivery: "dlv_2", reason: "expired" };
    const after = queueOf(admitted("dlv_2"), armed, disarmed);
    expect(after.deliveries.get("dlv_2")?.authorisation).toBe(undefined);
  });
});

test("a resume is foretold: the open run with what it proves and asks, then what waits", () => {
  const two = queueOf(admitted("dlv_2"), admitted("dlv_3"));
  expect(planResume(foldLines(task, started, ...doubt), two)).toEqual({
    run,
    prove: 1,
    unknown: 0,
    deliver: 2,
  });
  expect(planResume(foldLines(task, started, ...doubt, unknown), one)).toEqual({
    run,
    prove: 0,
    unknown: 1,
    deliver: 1,
  });
  const over = foldLines(task, started, ended("failed"));
  expect(planResume(over, queueOf())).toEqual({ prove: 0, unknown: 0, deliver: 0 });
});

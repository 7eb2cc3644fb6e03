import { describe, expect, test } from "vitest";
import type { DeliveryFact, DeliveryState } from "../../src/model/delivery.ts";
import { applyToQueue, emptyQueueState, evolveDelivery } from "../../src/model/delivery.ts";
import { isHoldfastError } from "../../src/model/errors.ts";
import type { Fact } from "../../src/model/facts.ts";
import type { OperationFact, OperationState } from "../../src/model/operation.ts";
import { evolveOperation } from "../../src/model/operation.ts";
import type { RunFact, RunLimits, RunState } from "../../src/model/run.ts";
import { evolveRun, modelAttemptsMax, next, parallelMax, retryAfterMsMax } from "../../src/model/run.ts";

/** What a pair comes to, in one word; `—` where the log would contradict itself. */
function outcomeOf(evolve: () => string): string {
  try {
    return evolve();
  } catch (error) {
    if (isHoldfastError(error, "log_damaged", "queue_damaged")) return "—";
    throw error;
  }
}

/** A table of all states by all facts. */
function matrix<State, F extends Fact>(
  states: Record<string, State>,
  facts: Record<string, F>,
  evolve: (state: State, fact: F) => string,
): string {
  const names = Object.keys(states);
  const width = Math.max(...Object.keys(facts).map((name) => name.length));
  const cell = (text: string, index: number) => text.padEnd(Math.max(15, (names[index] ?? "").length));
  const line = (head: string, cells: string[]) =>
    `${head.padEnd(width)} ${cells.map(cell).join(" ")}`.trimEnd();
  const rows = Object.entries(facts).map(([name, fact]) =>
    line(
      name,
      Object.values(states).map((state) => outcomeOf(() => evolve(state, fact))),
    ),
  );
  return `\n${[line("", names), ...rows].join("\n")}\n`;
}

const place = { at: 10, epoch: 2, lastAt: 9 };
const run = "run_1";
const failed = { kind: "model.failed", run, turn: 1, reason: "http", message: "", durationMs: 1 } as const;
const runFacts: Record<string, RunFact> = {
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
function numbered(state: RunState | undefined, fact: RunFact): RunFact {
  if (fact.kind === "run.started") return { ...fact, attempt: (state?.attempts ?? 0) + 1 };
  return "turn" in fact ? { ...fact, turn: (state?.turns ?? 0) + 1 } : fact;
}

function runAfter(...kinds: string[]): RunState | undefined {
  return kinds.reduce<RunState | undefined>((state, kind) => {
    const fact = runFacts[kind];
    if (fact === undefined) throw new Error(`there is no fact ${kind}`);
    return evolveRun(state, numbered(state, fact), place);
  }, undefined);
}

const began = ["run.created", "run.started"];
const runStates: Record<string, RunState | undefined> = {
  none: undefined,
  queued: runAfter("run.created"),
  running: runAfter(...began),
  "running, asking": runAfter(...began, "model.requested"),
  suspended: runAfter(...began, "run.suspended"),
  input_required: runAfter(...began, "run.input_required"),
  completed: runAfter(...began, "run.ended"),
};

const operation = "op_1";
const asked = { kind: "op.asked", operation, run, turn: 1, tool: "exec", effect: "supervised" } as const;
const operationFacts: Record<string, OperationFact> = {
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
};

function operationAfter(...kinds: string[]): OperationState | undefined {
  return kinds.reduce<OperationState | undefined>((state, kind) => {
    const fact = operationFacts[kind];
    if (fact === undefined) throw new Error(`there is no fact ${kind}`);
    return evolveOperation(state, fact, 10);
  }, undefined);
}

const operationStates: Record<string, OperationState | undefined> = {
  none: undefined,
  asked: operationAfter("op.asked"),
  started: operationAfter("op.asked", "op.started"),
  unknown: operationAfter("op.asked", "op.started", "op.unknown"),
  known: operationAfter("op.asked", "op.started", "op.known"),
  settled: operationAfter("op.asked", "op.started", "op.known", "op.settled"),
};

const delivery = "dlv_1";
const deliveryFacts: Record<string, DeliveryFact> = {
  "delivery.edited": { kind: "delivery.edited", delivery, text: "b" },
  "delivery.claimed": { kind: "delivery.claimed", delivery, logSeq: 1 },
  "delivery.released": { kind: "delivery.released", delivery },
  "delivery.acknowledged": { kind: "delivery.acknowledged", delivery, logSeq: 2, sum: "s" },
  "delivery.blocked": { kind: "delivery.blocked", delivery, reason: "r" },
  "delivery.unblocked": { kind: "delivery.unblocked", delivery, by: "me" },
  "delivery.removed": { kind: "delivery.removed", delivery },
  "delivery.armed": { kind: "delivery.armed", delivery, authorisation: "me" },
  "delivery.disarmed": { kind: "delivery.disarmed", delivery, reason: "r" },
};

function deliveryAfter(...kinds: string[]): DeliveryState {
  const queue = emptyQueueState();
  const admitted = {
    kind: "delivery.admitted",
    delivery,
    idempotencyKey: "k",
    logSeq: 0,
    source: "user",
    text: "a",
    mode: "queue",
  } as const;
  const facts: Fact[] = [admitted, ...kinds.flatMap((kind) => deliveryFacts[kind] ?? [])];
  const numbers = { v: 1, ses: "", seq: 0, epoch: 0, at: 1, rec: 0, rev: 0, msgs: 0, row: 0 };
  applyToQueue(queue, { ...numbers, facts, prev: "", sum: "" });
  const state = queue.deliveries.get(delivery);
  if (state === undefined) throw new Error("it was not admitted");
  return state;
}

const deliveryStates: Record<string, DeliveryState> = {
  admitted: deliveryAfter(),
  claimed: deliveryAfter("delivery.claimed"),
  acknowledged: deliveryAfter("delivery.claimed", "delivery.acknowledged"),
  blocked: deliveryAfter("delivery.blocked"),
  removed: deliveryAfter("delivery.removed"),
};

describe("a machine allows what may follow, and nothing else", () => {
  test("a run", () => {
    expect(matrix(runStates, runFacts, (state, fact) => evolveRun(state, numbered(state, fact), place).at))
      .toMatchInlineSnapshot(`
      "
                         none            queued          running         running, asking suspended       input_required  completed
      run.created        queued          —               —               —               —               —               —
      run.started        —               running         running         running         running         running         —
      run.suspended      —               —               suspended       suspended       —               —               —
      run.input_required —               —               input_required  input_required  —               input_required  —
      run.ended          —               completed       completed       completed       completed       completed       —
      model.requested    —               —               running         —               —               —               —
      model.answered     —               —               —               running         —               —               —
      model.failed       —               —               —               running         —               —               —
      "
    `);
  });

  test("an attempt and a turn of a run come one after the other, and none is left out", () => {
    for (const state of Object.values(runStates)) {
      for (const fact of Object.values(runFacts)) {
        const next = numbered(state, fact);
        for (const off of [-1, 1]) {
          const wrong =
            next.kind === "run.started"
              ? { ...next, attempt: next.attempt + off }
              : "turn" in next
                ? { ...next, turn: next.turn + off }
                : undefined;
          if (wrong !== undefined) expect(outcomeOf(() => evolveRun(state, wrong, place).at)).toBe("—");
        }
      }
    }
  });

  test("an operation", () => {
    expect(matrix(operationStates, operationFacts, (state, fact) => evolveOperation(state, fact, 10).at))
      .toMatchInlineSnapshot(`
      "
                  none            asked           started         unknown         known           settled
      op.asked    asked           —               —               —               —               —
      op.started  —               started         —               —               —               —
      op.known    —               known           known           —               —               —
      op.unknown  —               —               unknown         —               —               —
      op.resolved —               —               —               known           —               —
      op.settled  —               —               —               —               settled         —
      "
    `);
  });

  test("a delivery", () => {
    expect(matrix(deliveryStates, deliveryFacts, (state, fact) => evolveDelivery(state, fact).at))
      .toMatchInlineSnapshot(`
        "
                              admitted        claimed         acknowledged    blocked         removed
        delivery.edited       admitted        —               —               blocked         —
        delivery.claimed      claimed         —               —               —               —
        delivery.released     —               admitted        —               —               —
        delivery.acknowledged —               acknowledged    —               —               —
        delivery.blocked      blocked         blocked         blocked         —               —
        delivery.unblocked    —               —               —               admitted        —
        delivery.removed      removed         —               —               removed         —
        delivery.armed        admitted        claimed         acknowledged    blocked         removed
        delivery.disarmed     admitted        claimed         acknowledged    blocked         removed
        "
      `);
  });

  test("an operation stands only for one that provably did not happen", () => {
    const notExecuted = { kind: "op.known", operation, outcome: "not_executed" } as const;
    const states = {
      ...operationStates,
      never: evolveOperation(operationStates["started"], notExecuted, 10),
    };
    for (const [name, state] of Object.entries(states)) {
      const fact = { ...asked, operation: "op_2", replaces: operation };
      const allowed = outcomeOf(() => evolveOperation(undefined, fact, 10, state).at);
      expect(allowed, name).toBe(name === "never" ? "asked" : "—");
    }
  });
});

/** The next step of a run with these operations open, under an epoch of this or of another process. */
function stepOf(state: RunState | undefined, open: (OperationState | undefined)[], epoch = place.epoch) {
  if (state === undefined) throw new Error("there is no run");
  const present = open.filter((one): one is OperationState => one !== undefined);
  return next(state, present, { epoch, limits: { maxTurns: 2 }, elapsedMs: 0 });
}

describe("what happens next", () => {
  test("for every state of a run and of its one open operation", () => {
    const lines = Object.entries(runStates)
      .filter(([name]) => name !== "none")
      .flatMap(([name, state]) =>
        [place.epoch, place.epoch + 1].map((epoch) => {
          const steps = [undefined, ...Object.values(operationStates).slice(1, -1)].map(
            (one) => stepOf(state, [one], epoch).do,
          );
          return `${name.padEnd(16)} ${epoch === place.epoch ? "same" : "next"} ${steps.map((one) => one.padEnd(14)).join("")}`.trimEnd();
        }),
      );
    const head =
      `${"".padEnd(22)}${["no operation", ...Object.keys(operationStates).slice(1, -1)].map((one) => one.padEnd(14)).join("")}`.trimEnd();
    expect(`\n${[head, ...lines].join("\n")}\n`).toMatchInlineSnapshot(`
      "
                            no operation  asked         started       unknown       known
      queued           same start         start         start         start         start
      queued           next start         start         start         start         start
      running          same call          begin         prove         require_input settle
      running          next start         start         start         start         start
      running, asking  same call          begin         prove         require_input settle
      running, asking  next start         start         start         start         start
      suspended        same start         start         start         start         start
      suspended        next start         start         start         start         start
      input_required   same start         start         start         require_input start
      input_required   next start         start         start         require_input start
      completed        same stop          stop          stop          stop          stop
      completed        next stop          stop          stop          stop          stop
      "
    `);
  });

  test("reads start together, so many at a time; an effect starts alone", () => {
    const of = (id: string, effect: "pure" | "checked"): OperationState =>
      evolveOperation(undefined, { ...asked, operation: id, effect }, 1);
    const begin = (open: OperationState[]): string[] => {
      const step = stepOf(runStates["running"], open);
      return step.do === "begin" ? step.operations.map((one) => one.operation) : [];
    };
    expect(begin([of("a", "pure"), of("b", "pure"), of("c", "checked"), of("d", "pure")])).toEqual([
      "a",
      "b",
    ]);
    expect(begin([of("c", "checked"), of("d", "pure")])).toEqual(["c"]);
    const many = Array.from({ length: 1000 }, (_, index) => of(`op_${index}`, "pure"));
    expect(begin(many)).toHaveLength(parallelMax);
  });

  test("a call that failed is made again, unless that is hopeless, too often, or too long to wait for", () => {
    const after = (
      ...failures: (Partial<typeof failed> & { retryable: boolean; retryAfterMs?: number })[]
    ) => {
      const state = failures.reduce<RunState | undefined>((one, failure) => {
        const asking = runFacts["model.requested"];
        if (asking === undefined) throw new Error("no such fact");
        return evolveRun(evolveRun(one, asking, place), { ...failed, ...failure, began: false }, place);
      }, runStates["running"]);
      return stepOf(state, []);
    };
    expect(after({ retryable: true })).toMatchObject({ do: "call", turn: 1, failed: 1 });
    expect(after({ retryable: true, retryAfterMs: 50 })).toMatchObject({ do: "call", retryAfterMs: 50 });
    expect(after({ retryable: true, retryAfterMs: retryAfterMsMax + 1 })).toMatchObject({ do: "suspend" });
    expect(after({ retryable: false })).toMatchObject({ do: "suspend", reason: "provider" });
    const often = Array.from({ length: modelAttemptsMax }, () => ({ retryable: true }));
    expect(after(...often.slice(1))).toMatchObject({ do: "call" });
    expect(after(...often)).toMatchObject({ do: "suspend" });
  });

  test("budgets are counted over all attempts", () => {
    const answered = ["model.requested", "model.answered"];
    const two = runAfter(...began, ...answered, "run.suspended", "run.started", ...answered);
    if (two === undefined) throw new Error("there is no run");
    const used = { ...two, usage: { input: 70, output: 30 } };
    const stepWith = (limits: RunLimits, elapsedMs = 0) =>
      next(used, [], { epoch: place.epoch, limits, elapsedMs });
    expect(stepWith({ maxTurns: 2 })).toMatchObject({ do: "fail", reason: "budget_turns" });
    expect(stepWith({ maxTokens: 100 })).toMatchObject({ do: "fail", reason: "budget_tokens" });
    // One millisecond in the attempt that was suspended, nine in this one.
    expect(stepWith({ maxWallClockMs: 10 }, 9)).toMatchObject({ do: "fail", reason: "budget_wall_clock" });
    expect(stepWith({ maxTurns: 3, maxTokens: 101, maxWallClockMs: 11 }, 9)).toMatchObject({
      do: "call",
      turn: 3,
    });
  });
});

describe("what a run used", () => {
  test("is a lower bound after a call of which nobody knows what it cost, and only then", () => {
    const requested = runFacts["model.requested"];
    if (requested === undefined) throw new Error("no such fact");
    const asking = runStates["running, asking"];
    const usageAfter = (fact: RunFact) => evolveRun(asking, fact, place).usage;
    expect(usageAfter({ ...failed, retryable: true, began: false, status: 429 })).toEqual({});
    expect(usageAfter({ ...failed, retryable: true, began: true })).toEqual({ lowerBound: true });
    expect(usageAfter({ ...failed, retryable: true, began: false })).toEqual({ lowerBound: true });
    // The process died before it could say what came.
    expect(usageAfter({ kind: "run.started", run, attempt: 2 })).toEqual({ lowerBound: true });
    const usage = { input: 5, output: 1 };
    expect(
      usageAfter({ kind: "model.answered", run, turn: 1, durationMs: 1, stopReason: "stop", usage }),
    ).toEqual(usage);
  });

  test("takes the time of an attempt that died from its lines", () => {
    const died = evolveRun(
      runStates["running"],
      { kind: "run.started", run, attempt: 2 },
      { at: 99, epoch: 3, lastAt: 60 },
    );
    expect(died).toMatchObject({ elapsedMs: 50, attempts: 2, epoch: 3 });
    const back = evolveRun(
      runStates["running"],
      { kind: "run.started", run, attempt: 2 },
      { at: 5, epoch: 3, lastAt: 4 },
    );
    expect(back).toMatchObject({ elapsedMs: 0 });
  });
});

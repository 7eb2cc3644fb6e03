import { describe, expect, test } from "vitest";
import type { DeliveryFact, DeliveryState } from "../../src/model/delivery.ts";
import { applyToQueue, emptyQueueState, evolveDelivery } from "../../src/model/delivery.ts";
import { isHoldfastError } from "../../src/model/errors.ts";
import type { Fact } from "../../src/model/facts.ts";
import { evolveOperation } from "../../src/model/operation.ts";
import type { RunFact } from "../../src/model/run.ts";
import { evolveRun } from "../../src/model/run.ts";

import {
  asked,
  numbered,
  failed,
  operation,
  operationFacts,
  operationStates,
  place,
  run,
  runFacts,
  runStates,
} from "./machine-states.ts";

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
                         none            asked           waiting         allowed         started         unknown         known           settled
        op.asked         asked           —               —               —               —               —               —               —
        op.started       —               started         —               started         —               —               —               —
        op.known         —               known           known           known           known           —               —               —
        op.unknown       —               —               —               —               unknown         —               —               —
        op.resolved      —               —               —               —               —               known           —               —
        op.settled       —               —               —               —               —               —               settled         —
        approval.asked   —               asked           —               —               —               —               —               —
        approval.decided —               —               asked           —               —               —               —               —
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

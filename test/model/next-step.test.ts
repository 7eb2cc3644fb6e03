import { describe, expect, test } from "vitest";
import type { Holder, RunLimits } from "../../src/model/next-step.ts";
import { modelAttemptsMax, next, parallelMax, retryAfterMsMax } from "../../src/model/next-step.ts";
import type { OperationState } from "../../src/model/operation.ts";
import { evolveOperation } from "../../src/model/operation.ts";
import type { RunState } from "../../src/model/run.ts";
import { evolveRun } from "../../src/model/run.ts";
import type { Stop } from "../../src/model/stop.ts";
import {
  asked,
  began,
  failed,
  operationStates,
  place,
  runAfter,
  runFacts,
  runStates,
} from "./machine-states.ts";

/** Who holds the run, with good defaults. */
function holder(members: Partial<Holder> = {}): Holder {
  return { epoch: place.epoch, limits: {}, elapsedMs: 0, needsApproval: () => false, ...members };
}

/** The next step of a run with these operations open, under an epoch of this or of another process. */
function stepOf(state: RunState | undefined, open: (OperationState | undefined)[], epoch = place.epoch) {
  if (state === undefined) throw new Error("there is no run");
  const present = open.filter((one): one is OperationState => one !== undefined);
  return next(state, present, holder({ epoch, limits: { maxTurns: 2 } }));
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
                            no operation  asked         waiting       allowed       started       unknown       known
      queued           same start         start         start         start         start         start         start
      queued           next start         start         start         start         start         start         start
      running          same call          begin         await         begin         prove         require_input settle
      running          next start         start         start         start         start         start         start
      running, asking  same call          begin         await         begin         prove         require_input settle
      running, asking  next start         start         start         start         start         start         start
      suspended        same start         start         start         start         start         start         start
      suspended        next start         start         start         start         start         start         start
      input_required   same start         start         start         start         start         require_input start
      input_required   next start         start         start         start         start         require_input start
      completed        same stop          stop          stop          stop          stop          stop          stop
      completed        next stop          stop          stop          stop          stop          stop          stop
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

  test("once the run shall stop nothing is begun, and what is unknown outranks all but giving up", () => {
    const stops: Stop[] = [
      { kind: "suspend", reason: "signal" },
      { kind: "budget" },
      { kind: "cancel", by: "me" },
      { kind: "abandon", by: "me" },
    ];
    const open = [undefined, ...Object.values(operationStates).slice(1, -1)];
    const lines = stops.flatMap((stop) =>
      ["queued", "running", "running, asking", "suspended", "input_required"].flatMap((name) =>
        [place.epoch, place.epoch + 1].map((epoch) => {
          const state = runStates[name];
          if (state === undefined) throw new Error("there is no run");
          const steps = open.map((one) => {
            const step = next(state, one === undefined ? [] : [one], holder({ epoch, stop }));
            return step.do === "end" ? (step.reason ?? step.status) : step.do;
          });
          const head = `${stop.kind.padEnd(8)} ${name.padEnd(16)} ${epoch === place.epoch ? "same" : "next"}`;
          return `${head} ${steps.map((one) => one.padEnd(18)).join("")}`.trimEnd();
        }),
      ),
    );
    expect(`\n${lines.join("\n")}\n`).toMatchInlineSnapshot(`
      "
      suspend  queued           same stop              stop              stop              stop              stop              stop              stop
      suspend  queued           next stop              stop              stop              stop              stop              stop              stop
      suspend  running          same suspend           suspend           suspend           suspend           prove             require_input     suspend
      suspend  running          next stop              stop              stop              stop              stop              stop              stop
      suspend  running, asking  same suspend           suspend           suspend           suspend           prove             require_input     suspend
      suspend  running, asking  next stop              stop              stop              stop              stop              stop              stop
      suspend  suspended        same stop              stop              stop              stop              stop              stop              stop
      suspend  suspended        next stop              stop              stop              stop              stop              stop              stop
      suspend  input_required   same stop              stop              stop              stop              stop              stop              stop
      suspend  input_required   next stop              stop              stop              stop              stop              stop              stop
      budget   queued           same budget_wall_clock cancel            cancel            cancel            prove             require_input     settle
      budget   queued           next budget_wall_clock cancel            cancel            cancel            prove             require_input     settle
      budget   running          same budget_wall_clock cancel            cancel            cancel            prove             require_input     settle
      budget   running          next budget_wall_clock cancel            cancel            cancel            prove             require_input     settle
      budget   running, asking  same budget_wall_clock cancel            cancel            cancel            prove             require_input     settle
      budget   running, asking  next budget_wall_clock cancel            cancel            cancel            prove             require_input     settle
      budget   suspended        same budget_wall_clock cancel            cancel            cancel            prove             require_input     settle
      budget   suspended        next budget_wall_clock cancel            cancel            cancel            prove             require_input     settle
      budget   input_required   same budget_wall_clock cancel            cancel            cancel            prove             require_input     settle
      budget   input_required   next budget_wall_clock cancel            cancel            cancel            prove             require_input     settle
      cancel   queued           same canceled          cancel            cancel            cancel            prove             require_input     settle
      cancel   queued           next canceled          cancel            cancel            cancel            prove             require_input     settle
      cancel   running          same canceled          cancel            cancel            cancel            prove             require_input     settle
      cancel   running          next canceled          cancel            cancel            cancel            prove             require_input     settle
      cancel   running, asking  same canceled          cancel            cancel            cancel            prove             require_input     settle
      cancel   running, asking  next canceled          cancel            cancel            cancel            prove             require_input     settle
      cancel   suspended        same canceled          cancel            cancel            cancel            prove             require_input     settle
      cancel   suspended        next canceled          cancel            cancel            cancel            prove             require_input     settle
      cancel   input_required   same canceled          cancel            cancel            cancel            prove             require_input     settle
      cancel   input_required   next canceled          cancel            cancel            cancel            prove             require_input     settle
      abandon  queued           same abandoned         cancel            cancel            cancel            prove             abandoned         settle
      abandon  queued           next abandoned         cancel            cancel            cancel            prove             abandoned         settle
      abandon  running          same abandoned         cancel            cancel            cancel            prove             abandoned         settle
      abandon  running          next abandoned         cancel            cancel            cancel            prove             abandoned         settle
      abandon  running, asking  same abandoned         cancel            cancel            cancel            prove             abandoned         settle
      abandon  running, asking  next abandoned         cancel            cancel            cancel            prove             abandoned         settle
      abandon  suspended        same abandoned         cancel            cancel            cancel            prove             abandoned         settle
      abandon  suspended        next abandoned         cancel            cancel            cancel            prove             abandoned         settle
      abandon  input_required   same abandoned         cancel            cancel            cancel            prove             abandoned         settle
      abandon  input_required   next abandoned         cancel            cancel            cancel            prove             abandoned         settle
      "
    `);
  });

  test("a person is asked once, about what stands next, and what was decided starts or is told", () => {
    const needs = holder({ needsApproval: () => true });
    const running = runStates["running"];
    const stepWith = (...names: string[]) => {
      if (running === undefined) throw new Error("there is no run");
      return next(
        running,
        names.map((name) => operationStates[name]).filter((one) => one !== undefined),
        needs,
      ).do;
    };
    expect(["asked", "waiting", "allowed"].map((name) => stepWith(name))).toEqual(["ask", "await", "begin"]);
    expect(stepWith("known", "waiting")).toBe("await");
  });

  test("budgets are counted over all attempts", () => {
    const answered = ["model.requested", "model.answered"];
    const two = runAfter(...began, ...answered, "run.suspended", "run.started", ...answered);
    if (two === undefined) throw new Error("there is no run");
    const used = { ...two, usage: { input: 70, output: 30 } };
    const stepWith = (limits: RunLimits, elapsedMs = 0) => next(used, [], holder({ limits, elapsedMs }));
    expect(stepWith({ maxTurns: 2 })).toMatchObject({ do: "end", status: "failed", reason: "budget_turns" });
    expect(stepWith({ maxTokens: 100 })).toMatchObject({ do: "end", reason: "budget_tokens" });
    // One millisecond in the attempt that was suspended, nine in this one.
    expect(stepWith({ maxWallClockMs: 10 }, 9)).toMatchObject({ do: "end", reason: "budget_wall_clock" });
    expect(stepWith({ maxTurns: 3, maxTokens: 101, maxWallClockMs: 11 }, 9)).toMatchObject({
      do: "call",
      turn: 3,
    });
    const failing = { ...used, failures: [{ ...failed, began: false, retryable: true, retryAfterMs: 5 }] };
    const stepAfter = (elapsedMs: number) =>
      next(failing, [], holder({ limits: { maxWallClockMs: 10 }, elapsedMs }));
    expect(stepAfter(1)).toMatchObject({ do: "call" });
    expect(stepAfter(5)).toMatchObject({ do: "suspend", reason: "provider" });
    expect(stepAfter(9)).toMatchObject({ do: "end", reason: "budget_wall_clock" });
  });
});

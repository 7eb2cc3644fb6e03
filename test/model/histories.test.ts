import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Fact, Row } from "../../src/model/facts.ts";
import type { SessionState } from "../../src/model/fold.ts";
import { newestRun, openOperations, openRun } from "../../src/model/fold.ts";
import { projectPrompt } from "../../src/model/projection.ts";
import { asking, foldEach, foldPrefix, History, stops } from "./history.ts";
import { faultOfPrompt } from "./prompt-fault.ts";

const tapes = fc.array(fc.nat({ max: 59 }), { minLength: 4, maxLength: 160, size: "max" });

function forAllHistories(holds: (history: History) => void, numRuns = 300): void {
  fc.assert(
    fc.property(tapes, (tape) => {
      holds(new History(tape).grow());
    }),
    { numRuns },
  );
}

const nothing = { text: () => "", base64: () => "" };

describe("a history with deaths, unknown outcomes, replacements and rewinds", () => {
  test("folds from any prefix to what it was when that was all", () => {
    forAllHistories(({ commits, state }) => {
      expect(foldPrefix(commits, commits.length)).toEqual(state);
      for (let lines = 1; lines <= commits.length; lines++) foldPrefix(commits, lines);
    }, 150);
  });

  test("is, after every line, a conversation that every provider takes", () => {
    forAllHistories(({ commits }) => {
      for (const state of foldEach(commits)) {
        const prompt = projectPrompt(state, nothing);
        const fault = faultOfPrompt(prompt);
        if (fault !== undefined) throw new Error(`${fault}: ${JSON.stringify(prompt)}`);
      }
    }, 1000);
  });

  test("is sent the same way later: what was said before is only added to", () => {
    forAllHistories(({ commits }) => {
      let before: string[] = [];
      for (let lines = 1; lines <= commits.length; lines++) {
        const state = foldPrefix(commits, lines);
        const isRewind = commits[lines - 1]?.facts.some((fact) => fact.kind === "rewound") === true;
        // While results are missing, what stands in for them may change.
        if (openOperations(state).length > 0) continue;
        const now = projectPrompt(state, nothing).map((message) => JSON.stringify(message));
        if (!isRewind) expect(now.slice(0, before.length)).toEqual(before);
        before = now;
      }
    }, 150);
  });

  test("never asks for an effect again that began or ended", () => {
    forAllHistories((history) => {
      const begun = new Set<string>();
      const ended = new Set<string>();
      for (const step of history.steps) {
        if (step.do === "begin") {
          for (const { operation, origin } of step.operations) {
            expect(begun.has(operation)).toBe(false);
            expect(ended.has(origin)).toBe(false);
            begun.add(operation);
          }
          const effects = step.operations.filter((one) => one.effect !== "pure");
          expect(effects.length === 0 || step.operations.length === 1).toBe(true);
        }
        if (step.do === "prove") expect(step.operation.at).toBe("started");
        if (step.do === "settle") {
          for (const one of step.operations) {
            expect(one.at).toBe("known");
            ended.add(one.origin);
          }
        }
      }
    });
  });

  test("goes on to an end in bounded steps once nothing bad happens any more", () => {
    forAllHistories((history) => expect(history.settles(80)).toBe(true));
  });

  test("begins nothing that a person has not allowed, and nothing at all once it shall stop", () => {
    const beginnings = new Set(["start", "call", "ask", "await", "begin"]);
    let asked = 0;
    let stopped = 0;
    forAllHistories(({ steps, stops: wanted }) => {
      for (const [index, step] of steps.entries()) {
        if (wanted[index] !== undefined) {
          stopped++;
          expect(beginnings.has(step.do)).toBe(false);
        }
        if (step.do !== "begin") continue;
        for (const { approval, tool } of step.operations) {
          if (approval === undefined) expect(asking.has(tool)).toBe(false);
          else expect(approval.decided?.decision).toBe("allow");
          if (approval !== undefined) asked++;
        }
      }
    });
    expect(Math.min(asked, stopped)).toBeGreaterThan(50);
  });

  test("stops in few steps whenever it shall, in the way that is wanted or since a person must say what happened", () => {
    const ways = new Set<string>();
    fc.assert(
      fc.property(tapes, tapes, (tape, rest) => {
        for (const stop of stops) {
          const history = new History(tape).grow();
          const run = openRun(history.state);
          if (run === undefined) return;
          history.tape.push(...rest);
          const last = history.stopsBy(stop, 40);
          const { at } = history.state.runs.get(run.run) ?? {};
          ways.add(`${stop.kind}: ${last?.do}, ${last?.do === "stop" ? "as it was" : at}`);
        }
      }),
      { numRuns: 600 },
    );
    const usual = [
      "abandon: end, failed",
      "budget: end, failed",
      "cancel: end, canceled",
      "suspend: stop, as it was",
      "suspend: suspend, suspended",
    ];
    const unknown = ["budget", "cancel", "suspend"].map((kind) => `${kind}: require_input, input_required`);
    expect([...ways]).toEqual(expect.arrayContaining(usual));
    expect([...ways].filter((way) => !usual.includes(way) && !unknown.includes(way))).toEqual([]);
  });

  test("has after each line the row that its facts make", () => {
    forAllHistories(({ commits }) => {
      for (let lines = 2; lines <= commits.length; lines++)
        expectRow(
          foldPrefix(commits, lines),
          commits.slice(0, lines).flatMap((commit) => commit.facts as Fact[]),
        );
    }, 150);
  });
});

test("the time between an attempt that died and the next one is nobody's", () => {
  const history = new History([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]).grow();
  const [before] = history.state.runs.values();
  if (before?.at !== "running") throw new Error("it does not run");
  const [lastAt, startedAt] = [history.state.at, before.startedAt];
  history.passTime(86_400_000);
  // Somebody looks in between, as a resolution does.
  history.takeLease();
  history.passTime(86_400_000);
  history.settles(1);
  const [after] = history.state.runs.values();
  expect(lastAt).toBeGreaterThan(startedAt);
  expect(after).toMatchObject({ at: "running", attempts: 2, elapsedMs: lastAt - startedAt });
});

function expectRow({ row, ...state }: SessionState, facts: readonly Fact[]): void {
  const run = newestRun({ row, ...state });
  const unknown = [...state.operations.values()].filter((operation) => operation.at === "unknown");
  const title = facts.flatMap((fact) =>
    fact.kind === "message" && fact.role === "user"
      ? fact.parts.flatMap((part) => (part.type === "text" ? [part.text?.trim() ?? ""] : []))
      : [],
  );
  const expected: Partial<Row> = {
    state: run?.at ?? "idle",
    openUnknowns: unknown.length,
    title: title.find((one) => one !== "")?.replace("\u2028", " ") ?? "",
    ...(run !== undefined && { run: run.run }),
  };
  expect(row).toMatchObject(expected);
}

import { describe, expect, test } from "vitest";
import type { Fact } from "../../src/model/facts.ts";
import { Recording } from "../../src/model/recording.ts";

const run = "run_1";
const blob = { sha256: "ab".repeat(32), bytes: 1 };

const requested: Fact = {
  kind: "model.requested",
  run,
  turn: 1,
  role: "execution",
  provider: "anthropic",
  model: "m",
  system: blob,
  tools: {},
};
const answered: Fact = { kind: "model.answered", run, turn: 1, durationMs: 1, stopReason: "stop" };
const message: Fact = { kind: "message", id: "msg_1", role: "assistant", parts: [] };
const failed = (reason: string): Fact => ({
  kind: "model.failed",
  run,
  turn: 1,
  reason,
  message: "why",
  retryable: true,
  began: false,
  durationMs: 1,
});

/** What is recorded of these lines: `a` for an answer, else the reason of a failure; and how much was cut. */
function recorded(...lines: readonly Fact[][]): { calls: string[]; cut: number; exhausted: number } {
  const recording = new Recording();
  for (const facts of lines) recording.take({ facts });
  recording.end();
  const exhausted = recording.dropExhausted();
  const calls = recording.calls.map((call) => ("failed" in call ? call.failed.reason : "a"));
  return { calls, cut: recording.cut, exhausted };
}

describe("of a log is recorded", () => {
  test("each whole answer and each failure, in order, whatever run they belong to", () => {
    const lines = [
      [requested],
      [failed("http")],
      [requested],
      [message, answered],
      [requested],
      [message, answered],
    ];
    expect(recorded(...lines)).toEqual({ calls: ["http", "a", "a"], cut: 0, exhausted: 0 });
  });

  test("no call that was cut: by a death, by being told to stop, with a part of its answer or without", () => {
    const partial: Fact = { kind: "message", id: "msg_2", role: "assistant", parts: [], interrupted: true };
    expect(recorded([requested], [requested], [message, answered])).toMatchObject({ calls: ["a"], cut: 1 });
    expect(recorded([requested], [failed("interrupted")])).toMatchObject({ calls: [], cut: 1 });
    expect(recorded([requested], [partial], [requested], [message, answered])).toMatchObject({
      calls: ["a"],
      cut: 1,
    });
    expect(recorded([requested], [partial, failed("http")])).toMatchObject({ calls: ["http"], cut: 0 });
    expect(recorded([requested], [partial, failed("interrupted")])).toMatchObject({ calls: [], cut: 1 });
    expect(recorded([requested], [partial, answered])).toMatchObject({ calls: [], cut: 1 });
    expect(recorded([requested], [message, answered], [requested])).toMatchObject({ calls: ["a"], cut: 1 });
  });

  test("that a cassette was exhausted only where something was answered after it", () => {
    const over = failed("cassette_exhausted");
    expect(recorded([requested], [over], [requested], [message, answered], [requested], [over])).toEqual({
      calls: ["cassette_exhausted", "a"],
      cut: 0,
      exhausted: 1,
    });
    expect(recorded([requested], [over], [requested], [over])).toEqual({ calls: [], cut: 0, exhausted: 2 });
  });
});

import { describe, expect, test } from "vitest";
import { evidenceSentences, survivorsOf } from "../../src/cli/text/evidence.ts";
import { unknownLines } from "../../src/cli/text/unknown.ts";
import { widthOf } from "../../src/cli/text/width.ts";
import type { OperationView, RunView } from "../../src/model/views.ts";
import type { Json } from "../../src/model/values.ts";
import { commandsIn } from "./hints.ts";

const at = Date.UTC(2026, 2, 1, 14, 5, 9);
const session = "ses_01m8przqmpfx81qrqzwwv0wwr3";
const run = "run_01m8przqp1kgz3y78sm52xd798";

function evidenceOf(survivors: Json[]): Json {
  const supervisor = { pid: 7, startTime: "1", bootId: "b", isSameBoot: true, pidExists: false };
  return { claim: null, supervisor, status: "blank", output: { bytes: 8, tail: "started\n" }, survivors };
}

function linesAbout(
  operation: Partial<OperationView>,
  status: RunView["status"] = "input_required",
): string[] {
  const view: RunView = {
    run,
    session,
    status,
    attempts: 1,
    createdAt: at,
    turns: 1,
    usage: {},
    operations: [
      {
        id: "op_01m8przqprv717ctxydtv2hjpv",
        tool: "exec",
        args: { command: "sleep 300" },
        effect: "supervised",
        state: "unknown",
        startedAt: at,
        reason: "Its supervisor is gone and left no record of its end.",
        unknownAt: at + 1000,
        ...operation,
      },
    ],
  };
  const spans = unknownLines(view, { program: "holdfast", columns: 80 });
  return spans.map((line) => line.map((span) => (typeof span === "string" ? span : span[1])).join(""));
}

describe("an operation whose outcome is unknown", () => {
  test("what still runs is told first, with the time at which it was seen, and before the answers", () => {
    const lines = linesAbout({ evidence: evidenceOf([{ pid: 19_942, command: "sleep 300" }]) });
    const text = lines.join("\n");
    expect(text).toMatch(/STILL RUNNING at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d[^]*pid 19942: sleep 300/);
    expect(text.indexOf("STILL RUNNING")).toBeLessThan(text.indexOf("why:"));
    expect(text).toMatch(/Wait until it has ended[^]*If it happened/);
    expect(text).toContain("If it did not happen, once nothing of it runs:");
    expect(lines.filter((line) => widthOf(line) > 80)).toEqual([]);
  });

  test("no answer is offered once its run is over, since none is taken any more", () => {
    const text = linesAbout({ evidence: evidenceOf([]) }, "failed").join("\n");
    expect(text).toContain("The run is over");
    expect(commandsIn(text)).toEqual([]);
  });

  test("three answers are offered, each as a command: it happened, it failed, it did not happen", () => {
    const text = linesAbout({ evidence: evidenceOf([]) }).join("\n");
    expect(text).not.toContain("STILL RUNNING");
    expect(commandsIn(text).map((command) => command.slice(command.indexOf("--")))).toEqual([
      `--output "what it did"`,
      `--output "how it failed" --is-error`,
      "--not-executed",
    ]);
  });
});

describe("evidence", () => {
  test("of a command says in sentences whether its end is known, what runs and what was kept", () => {
    expect(evidenceSentences(evidenceOf([]), undefined)).toEqual([
      "The command was handed over to be started; no end of it is on record.",
      "No process of it was found; 8 bytes of its output were kept.",
    ]);
    expect(evidenceSentences(evidenceOf([{ pid: 1, command: "x" }]), at)[1]).toMatch(
      /^A process of it was still running \(at 2026-.*\); 8 bytes of its output were kept\.$/,
    );
  });

  test("of a file says how the file is", () => {
    const found = { kind: "file", sha256: "00" };
    expect(evidenceSentences({ path: "/w/a", found, equals_before: true }, undefined)).toEqual([
      "/w/a is as it was before the change.",
    ]);
    expect(evidenceSentences({ path: "/w/a", found: { kind: "absent" } }, undefined)).toEqual([
      "/w/a does not exist.",
    ]);
  });

  test("of an unfamiliar form is no reason to fail", () => {
    for (const evidence of [null, "text", [1], { survivors: "many" }, { survivors: [1, { pid: "x" }] }]) {
      expect(survivorsOf(evidence)).toEqual([]);
      expect(() => evidenceSentences(evidence, at)).not.toThrow();
    }
  });
});

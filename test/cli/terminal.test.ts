import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, test, beforeEach } from "vitest";
import { widthOf } from "../../src/cli/text/width.ts";
import { Place, sessionIn } from "./program.ts";
import { columns, hasTerminal, shownLines, startInTerminal } from "./terminal.ts";

const place = new Place();
afterAll(() => place.remove());

// oxlint-disable-next-line no-control-regex
const ownSequences = /\u001b\[(?:\d+A|J|\d+(?:;\d+)*m)/g;
const hostile =
  "\u001b]0;owned\u0007 \u001b[2J\u001b[H \u009b31m \u202eevil\u202c \u001b[31mred \u0008\u0008\r back";

describe("in a terminal", () => {
  beforeEach((context) => {
    if (!hasTerminal) context.skip("the program `script`, which makes a terminal, is not installed");
  });

  test("a run is told line by line, and nothing of what was live is left", async () => {
    const model = place.cassette(
      {
        reasoning:
          "The task is clear, so there is nothing to think about for long, and I can start at once with it.",
        text: "Let me look.",
        firstTokenMs: 300,
        perTokenMs: 5,
        calls: [{ tool: "read", args: { path: "none.txt" } }],
        usage: { input: 1500, output: 20 },
      },
      {
        text: "Now I run it.",
        calls: [
          { tool: "exec", args: { command: "for i in 1 2 3; do echo line $i; sleep 0.15; done; exit 4" } },
          { tool: "write", args: { path: `${"deep/".repeat(20)}file.txt`, content: "x" } },
        ],
        usage: { input: 1500, output: 20 },
      },
      { text: "Done: 日本語 and more.\n\n- one\n- two\n", usage: { input: 1500, output: 20 } },
    );
    const call = startInTerminal(place, ["run", "--task", "Go", "--model", model, "--allow-shell"]);
    await call.seen(/⠋|⠙|⠹|⠸/);
    await call.seen(/line 2/);
    const { code, written } = await call.ended;
    expect(code).toBe(0);
    const session = sessionIn(written);
    const lines = shownLines(written).map((line) =>
      line.replace(/ +\d+(\.\d)? m?s$/, " (time)").replace(/ · \d.* m?s$/, " · (time)"),
    );
    expect(lines).toEqual([
      `session    ${session}`,
      `builtin · cassette/${model.split("/").at(-1)} · ${place.workspace}`,
      "",
      "The task is clear, so there is nothing to think about for long, and I can start",
      "at once with it.",
      "",
      "Let me look.",
      "",
      "✗ read   none.txt (time)",
      "    none.txt does not exist. Use glob to find the right path.",
      "",
      "Now I run it.",
      "",
      "✗ exec   for i in 1 2 3; do echo line $i; sleep 0.15; done; exit 4 (time)",
      "    line 2",
      "    line 3",
      "    [exit code 4]",
      expect.stringMatching(/^✓ write {2}deep\/deep\/.*… \(time\)$/),
      "",
      "Done: 日本語 and more.",
      "",
      "- one",
      "- two",
      "",
      "completed  3 turns · 3 tool calls (2 failed) · (time)",
      "tokens     4 500 in, 60 out",
      `session    ${session}`,
      `next       holdfast resume ${session} --task "…"`,
      "",
    ]);
    for (const line of shownLines(written)) expect(widthOf(line)).toBeLessThanOrEqual(columns);
  });

  test("nothing that a model, a tool, a file or a title says reaches the terminal as a command to it", async () => {
    writeFileSync(join(place.workspace, "bell\u0007.txt"), hostile);
    const model = place.cassette(
      {
        reasoning: hostile,
        text: hostile,
        calls: [
          { tool: "exec", args: { command: `printf '%s' '${hostile}'; exit 1` } },
          { tool: "read", args: { path: "bell\u0007.txt" } },
          { tool: hostile, args: {} },
          { tool: "read", args: { path: hostile } },
        ],
      },
      { error: { status: 429, message: hostile, retryAfterMs: 1 } },
      { text: hostile },
    );
    const run = startInTerminal(place, [
      "run",
      "--task",
      hostile,
      "--title",
      hostile,
      "--model",
      model,
      "--allow-shell",
    ]);
    const ended = await run.ended;
    expect(ended.code).toBe(0);
    const session = sessionIn(ended.written);
    const outputs = [ended.written];
    for (const args of [
      ["session", "list"],
      ["session", "list", "--plain"],
      ["session", "show", session],
      ["run", "show", session],
      ["run", "list", session],
      ["session", "show", hostile],
    ]) {
      outputs.push((await startInTerminal(place, args).ended).written);
    }
    for (const written of outputs) {
      const rest = written.replaceAll(ownSequences, "").replaceAll("\r\n", "\n").replaceAll("\r", "");
      // oxlint-disable-next-line no-control-regex
      expect(rest.match(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)).toBeNull();
    }
    expect(outputs[0]).toContain("␛]0;owned␇");
  });

  test("NO_COLOR takes the colours away and nothing else", async () => {
    const args = ["run", "--task", "Go", "--model", place.cassette({ reasoning: "Hm.", text: "Done." })];
    const [plain, coloured] = await Promise.all([
      startInTerminal(place, args, { NO_COLOR: "1" }).ended,
      startInTerminal(place, args).ended,
    ]);
    // oxlint-disable-next-line no-control-regex
    const colour = /\u001b\[\d+(?:;\d+)*m/;
    expect(coloured.written).toMatch(colour);
    expect(plain.written).not.toMatch(colour);
    const shape = (written: string) =>
      shownLines(written).map((line) =>
        line.replaceAll(/ses_\w+/g, "ses").replace(/\d+(\.\d)? m?s$/, "time"),
      );
    expect(shape(plain.written)).toEqual(shape(coloured.written));
  });

  test("Ctrl-C cancels and says so, and leaves at once when it comes again; resume finds out what had become of it", async () => {
    const command = "trap '' TERM; echo now: $((6*7)); while ! [ -e go ]; do sleep 0.05; done; rm go; exit 3";
    const model = place.cassette({ calls: [{ tool: "exec", args: { command } }] }, { text: "Done." });
    const flags = ["--allow-shell", "--cancel-grace", "1h"];
    const run = startInTerminal(place, ["run", "--task", "Wait", "--model", model, ...flags]);
    await run.seen(/now: 42/);
    run.type("\u0003");
    await run.seen(/canceling: what runs is told to stop; Ctrl-C again leaves at once/);
    await delay(100);
    run.type("\u0003");
    const { code, written } = await run.ended;
    const session = sessionIn(written);
    const lines = shownLines(written.replaceAll("^C", ""));
    expect(code).toBe(11);
    expect(lines.slice(-3)).toEqual([
      `holdfast: interrupted; session ${session} is kept`,
      `  Go on with: holdfast resume ${session}`,
      "",
    ]);
    const again = startInTerminal(place, ["resume", session]);
    // The command that is still running is shown again, with what it had said.
    await again.seen(/attempt 2/);
    await again.seen(/⠹/);
    expect(shownLines(again.written).join("\n")).toContain("exec   trap '' TERM; echo now:");
    writeFileSync(join(place.workspace, "go"), "");
    const ended = await again.ended;
    expect(ended.code).toBe(0);
    expect(shownLines(ended.written).join("\n")).toMatch(/■ exec {3}trap '' TERM;[^]*\nDone\.\n\ncompleted/);
  });

  test("Ctrl-C in the middle of an answer says that it was cut and is kept, and who canceled", async () => {
    const model = place.cassette({ text: "one two three four five six", perTokenMs: 300 });
    const run = startInTerminal(place, ["run", "--task", "Wait", "--model", model]);
    await run.seen(/two/);
    run.type("\u0003");
    const { code, written } = await run.ended;
    expect(code).toBe(4);
    expect(shownLines(written).join("\n")).toMatch(
      /one two[^]*\nthe answer was cut; what had come of it is kept\n\ncanceled {2}0 turns[^]*\nwhy {8}canceled by ./,
    );
  });

  test("a model that is asked again says when, and how often it may be", async () => {
    const model = place.cassette(
      { error: { status: 429, message: "slow down", retryAfterMs: 1500 } },
      { text: "Done." },
    );
    const { code, written } = await startInTerminal(place, ["run", "--task", "Go", "--model", model]).ended;
    expect(code).toBe(0);
    expect(shownLines(written).join("\n")).toMatch(
      /the model did not answer: .*slow down\ntrying again in 1\.5 s, attempt 2 of 5\n/,
    );
  });

  test("a list fits the screen; a path gives way first, then a title", async () => {
    const model = place.cassette({ text: "Done." });
    await place.call([
      "run",
      "--task",
      "A title that is so long that it cannot stay as it is 日本語日本語",
      "--model",
      model,
    ]);
    const { written } = await startInTerminal(place, ["session", "list", "--limit", "1"]).ended;
    const [head = "", row = "", ...rest] = shownLines(written);
    expect(head).toMatch(/^ID {14}AGENT {4}UPDATED {2}ACTIVE {2}RESUME {2}TITLE +PATH$/);
    expect(row).toMatch(/^ses_\w{10} {2}builtin {2}\S+( ago)? +no {6}yes {5}A title.*… {2}…\S{11}$/);
    expect(widthOf(row)).toBeLessThanOrEqual(columns);
    expect(rest[0]).toMatch(/^shown 1 of \d+$/);
  });

  test("help and errors fit the screen", async () => {
    for (const args of [["--help"], ["run", "--help"], ["run", "--task", "x"]]) {
      const { written } = await startInTerminal(place, args).ended;
      const raw = written.replaceAll(ownSequences, "").split("\r\n");
      for (const line of raw) expect(widthOf(line)).toBeLessThanOrEqual(columns);
    }
  });
});

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { bundleForNode } from "../peers/bundle.ts";
import { askFor } from "./asking.ts";
import { commandsOf, documentIn, Place, sessionIn } from "./program.ts";
import type { TerminalCall } from "./terminal.ts";
import { hasTerminal, shellWords, shownLines, startInTerminal, startShellInTerminal } from "./terminal.ts";

const place = new Place();
afterAll(() => place.remove());

const [down, enter, interrupt] = ["\u001b[B", "\r", "\u0003"];
/** The last line of a question. */
const question = /No, and no exec of this session/;

function argumentsOf(...commands: string[]): string[] {
  const calls = commands.map((command) => ({ calls: [{ tool: "exec", args: { command } }] }));
  const model = place.cassette(...calls, { text: "Done." });
  return ["run", "--task", "Go", "--model", model, ...askFor(place)];
}

/** A run in a terminal whose settings are looked at when it has ended. */
function start(...commands: string[]): TerminalCall {
  return startInTerminal(place, argumentsOf(...commands), {}, "stty -a");
}

/** A terminal as a shell wants it: lines, an echo, and keys that signal; the cursor is shown. */
function expectOrdinary(written: string): void {
  for (const setting of ["icanon", "echo", "isig"]) {
    expect(written.slice(written.lastIndexOf("baud"))).toMatch(new RegExp(`(?:^|\\s)${setting}\\s`));
  }
  expect(written.lastIndexOf("\u001b[?25h")).toBeGreaterThanOrEqual(written.lastIndexOf("\u001b[?25l"));
}

async function runOf(written: string) {
  return documentIn((await place.call(["run", "show", sessionIn(written), "--json"])).stdout).data;
}

beforeEach((context) => {
  if (!hasTerminal) context.skip("the program `script`, which makes a terminal, is not installed");
});

describe("a person at the terminal", () => {
  test("sees what is asked, whole and cleaned, and allows it once", async () => {
    const call = start("echo one\necho two # \u001b[2J\u202e", "echo three");
    await call.seen(question);
    const lines = shownLines(call.written);
    const session = sessionIn(call.written);
    expect(lines.slice(-13)).toEqual([
      "! exec asks to start:",
      "    echo one",
      "    echo two # ␛[2J\ufffd",
      `  session    ${session}`,
      expect.stringMatching(/^ {2}run {8}run_\w{26}$/),
      expect.stringMatching(/^ {2}operation {2}op_\w{26}$/),
      "◆  May it start?",
      "● Yes, once",
      "○ Yes, and each exec of this session",
      "○ No",
      "○ No, and no exec of this session",
      "",
      "",
    ]);
    call.type(enter);
    await call.seen(/echo three[^]*No, and no exec/);
    call.type(down + down + enter);
    const { code, written } = await call.ended;
    expect(code).toBe(0);
    expectOrdinary(written);
    const shown = shownLines(written).join("\n");
    expect(shown).toMatch(/◇ {2}May it start\?\nYes, once\n\nallowed by \S+\n\n✓ exec/);
    expect(shown).toMatch(/⊘ exec {3}echo three\n {4}denied by \S+\n/);
    const { operations } = await runOf(written);
    expect(operations).toMatchObject([{ outcome: "ok" }, { outcome: "denied" }]);
  });

  test("allows all of its kind, or denies them", async () => {
    for (const [keys, outcome] of [
      [down + enter, "ok"],
      [down + down + down + enter, "denied"],
    ] as const) {
      const call = start("echo one", "echo two", "echo three");
      await call.seen(question);
      call.type(keys);
      const { code, written } = await call.ended;
      expect(code).toBe(0);
      expectOrdinary(written);
      const { operations } = await runOf(written);
      expect(operations.map((one: { outcome: string }) => one.outcome)).toEqual([outcome, outcome, outcome]);
    }
  });

  test("cancels the run with Ctrl-C, and nothing else than an answer is one", async () => {
    const call = start("touch canceled");
    await call.seen(question);
    // Escape, the end of input, a letter.
    call.type("\u001b");
    await delay(100);
    call.type("\u0004x");
    await delay(100);
    expect(call.written).not.toContain("canceling");
    call.type(interrupt);
    const { code, written } = await call.ended;
    expect(code).toBe(4);
    expectOrdinary(written);
    expect(shownLines(written).join("\n")).toMatch(/\ncanceling: [^]*\ncanceled {2}1 turn/);
    expect((await runOf(written)).operations).toMatchObject([{ outcome: "canceled" }]);
    expect(existsSync(join(place.workspace, "canceled"))).toBe(false);
  });

  test("answers nothing by what was typed before the question", async () => {
    const reader = await bundleForNode("test/peers/keys-reader.ts");
    const call = startShellInTerminal(place, `exec ${shellWords([process.execPath, reader])}`);
    await call.seen(/ready/);
    call.type(`${enter}${down}y${interrupt}`);
    await call.seen(/open/);
    call.type("q");
    const { written } = await call.ended;
    // Of all that only Ctrl-C is passed on.
    expect(written.match(/got ".*"/g)).toEqual([String.raw`got "\u0003"`, `got "q"`]);
  });

  test("is told where somebody else was quicker, and sees of a long command how much more there is", async () => {
    const call = start(Array.from({ length: 60 }, (_, index) => `echo line ${index}`).join("\n"));
    await call.seen(question);
    expect(shownLines(call.written).join("\n")).toMatch(
      /echo line 28\n {4}… 31 more lines; all of it with holdfast run show\n/,
    );
    const session = sessionIn(call.written);
    const { run, operations } = await runOf(call.written);
    const answered = await place.call(["run", "approve", session, run, operations[0].id, "--by", "ada"]);
    expect(answered.code).toBe(0);
    const { code, written } = await call.ended;
    expect(code).toBe(0);
    expectOrdinary(written);
    expect(shownLines(written).join("\n")).toMatch(/\nallowed by ada\n\n✓ exec/);
  });

  test("is asked no more when the process is suspended", async () => {
    const call = start("touch suspended");
    await call.seen(question);
    const session = sessionIn(call.written);
    const { data } = documentIn((await place.call(["session", "show", session, "--json"])).stdout);
    process.kill(data.holder.pid, "SIGTERM");
    const { code, written } = await call.ended;
    expect(code).toBe(11);
    expectOrdinary(written);
    expect(shownLines(written).join("\n")).toMatch(
      /\nsuspending: [^]*\nsuspended {2}1 turn[^]*To allow it:\n {4}holdfast run approve/,
    );
  });
});

describe("a terminal that is closed", () => {
  /** Starts the program below a process that leads the terminal, passes SIGHUP on, and tells how the program ended. */
  function startLed(args: readonly string[], told: string): TerminalCall {
    const leader = `
      const child = require("node:child_process").spawn(process.execPath, process.argv.slice(1), { stdio: "inherit" });
      process.on("SIGHUP", () => child.kill("SIGHUP"));
      child.on("exit", (code, signal) => require("node:fs").writeFileSync(${JSON.stringify(told)}, String(code ?? signal)));
    `;
    return startShellInTerminal(
      place,
      `exec ${shellWords([process.execPath, "-e", leader, "--", place.program, ...args])}`,
    );
  }

  async function exitIn(told: string): Promise<string> {
    while (!existsSync(told) || readFileSync(told, "utf8") === "") await delay(20);
    return readFileSync(told, "utf8");
  }

  test("suspends the run durably, with its exit code, whatever the run was at", async () => {
    for (const [index, how] of ["command", "question"].entries()) {
      const told = join(place.folder, `told-${index}`);
      const args = argumentsOf("echo started; sleep 300");
      const asked = how === "question" ? ["exec"] : ["read"];
      const call = startLed([...args.slice(0, -2), ...askFor(place, ...asked), "--cancel-grace", "0"], told);
      await call.seen(how === "command" ? /\[2mstarted/ : question);
      const session = sessionIn(call.written);
      call.close();
      expect([how, await exitIn(told)]).toEqual([how, "11"]);
      const { data } = documentIn((await place.call(["run", "show", session, "--json"])).stdout);
      expect([how, data.status]).toEqual([how, "suspended"]);
      expect(commandsOf(session)).toEqual([]);
    }
  });
});

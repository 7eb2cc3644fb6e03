import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { widthOf } from "../../src/cli/text/width.ts";
import { documentIn, Place, sessionIn } from "./program.ts";
import { columns } from "./terminal.ts";

const place = new Place();
afterAll(() => place.remove());

const sentence = "This is a sentence that goes on for a while and says the same in many words. ";
// A word that is wider, as a path may be, stays whole.
const tooWide = (text: string) =>
  text.split("\n").filter((line) => widthOf(line) > columns && line.trim().includes(" "));

describe("text for people", () => {
  test("is no wider than 80 columns where no terminal says how wide it is", async () => {
    const path = `${"deep/".repeat(20)}file.txt`;
    const model = place.cassette(
      {
        reasoning: sentence.repeat(3),
        text: sentence.repeat(5),
        calls: [
          { tool: "exec", args: { command: `: ${sentence.repeat(2)}; echo ${sentence.repeat(2)}; exit 3` } },
          { tool: "write", args: { path, content: "x" } },
          { tool: "no such tool", args: { query: sentence.repeat(3) } },
        ],
      },
      { error: { status: 500, message: sentence.repeat(2), retryAfterMs: 1 } },
      { text: `${sentence.repeat(3)}\n\n- one\n- two` },
    );
    const task = sentence.repeat(4);
    const flags = ["--format", "text", "--task", task, "--title", task];
    const run = await place.call(["run", ...flags, "--model", model, "--allow-shell"]);
    const session = sessionIn(run.stdout);
    expect([run.code, tooWide(run.stdout)]).toEqual([0, []]);
    for (const args of [
      ["session", "list"],
      ["session", "show", session],
      ["run", "show", session],
      ["run", "list", session],
    ]) {
      const { code, stdout } = await place.call(args);
      expect([args, code, tooWide(stdout)]).toEqual([args, 0, []]);
    }
    // What is to be copied stays whole, and so does a message.
    const drift = await place.call(["resume", session, "--format", "text", "--pass-env", "A"]);
    expect(drift.stderr.split("\n").slice(-6)).toEqual([
      '  passEnv: [] is recorded, ["A"] was given',
      "  Accept the one that was given with:",
      `    holdfast resume ${session} --accept-policy --pass-env A`,
      "  Without policy flags the recorded policy holds:",
      `    holdfast resume ${session}`,
      "",
    ]);
    const none = await place.call(["run", "--format", "text", "--task", "x"]);
    expect(tooWide(none.stderr)).toEqual([]);
  });

  test("shows what stands in a blob; --json names the blob", async () => {
    const long = `the beginning ${"filler ".repeat(6000)}\nthe second line\n`;
    const command = `echo seen; : ${"x".repeat(40_000)}`;
    const model = place.cassette(
      {
        calls: [
          { tool: "exec", args: { command } },
          { tool: "read", args: { path: "long.txt" } },
        ],
      },
      { text: long },
    );
    const run = await place.call(["run", "--task", long, "--model", model, "--allow-shell"]);
    const session = sessionIn(run.stdout);
    const shown = await place.call(["session", "show", session]);
    expect(shown.stdout.match(/ {2}the beginning filler filler/g)?.length).toBe(2);
    expect(shown.stdout).toMatch(/→ exec echo seen; :\n {2}xxx/);
    expect(shown.stdout.split("\n").filter((line) => line.length > 5000)).toEqual([]);
    expect(shown.stdout).toContain("… the rest of this line and 1 more line; all of it with --json");
    const whole = await place.call(["run", "show", session]);
    expect(whole.stdout).toContain("echo seen");
    const { data } = documentIn((await place.call(["session", "show", session, "--json"])).stdout);
    const { blob } = data.messages[0].parts[0];
    expect(blob).toEqual({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/), bytes: long.length });
    // A blob that is gone is missed where it was, and nowhere else.
    const folder = join(place.state, "sessions", session, "blobs");
    expect(readdirSync(folder)).toContain(blob.sha256);
    rmSync(join(folder, blob.sha256));
    const damaged = await place.call(["session", "show", session]);
    expect(damaged.code).toBe(0);
    expect(damaged.stdout.replaceAll(/\s+/g, " ")).toContain("of text, which cannot be read: blob");
    expect(damaged.stdout).toContain("→ exec echo seen");
  });
});

describe("the page of a run", () => {
  test("has the task, each command as it was asked, its exit code and its output, cut where they are long", async () => {
    const command = "echo one\nfor i in $(seq 40); do echo line $i; done\nexit 3";
    const model = place.cassette(
      { calls: [{ tool: "exec", args: { command } }] },
      { calls: [{ tool: "read", args: { path: "none.txt" } }] },
      { text: "Done." },
    );
    const task = "Count to forty\nand say so";
    const run = await place.call(["run", "--task", task, "--model", model, "--allow-shell"]);
    const session = sessionIn(run.stdout);
    const { data } = documentIn((await place.call(["run", "show", session, "--json"])).stdout);
    const [exec, read] = data.operations;
    expect(data.task).toBe(task);
    expect(exec).toMatchObject({ details: { exitCode: 3 }, durationMs: expect.any(Number) });
    const shown = await place.call(["run", "show", session]);
    for (const said of ["    Count to forty\n    and say so\n", "exit code 3", "; all of it with --full"])
      expect(shown.stdout).toContain(said);
    expect(shown.stdout).toContain(
      "    echo one\n    for i in $(seq 40); do echo line $i; done\n    exit 3\n",
    );
    // In a table, a line end is seen as one.
    expect(shown.stdout).toMatch(/^✗ .*echo one( ⏎|…)/m);
    expect([tooWide(shown.stdout), shown.stdout.includes("line 40")]).toEqual([[], false]);
    for (const args of [[data.run, exec.id], [data.run, exec.id.slice(-8)], ["--full"]])
      expect((await place.call(["run", "show", session, ...args])).stdout).toContain("    line 40\n");
    const one = documentIn((await place.call(["run", "show", session, data.run, read.id, "--json"])).stdout);
    expect(one.data.operations).toEqual([read]);
    const none = await place.call(["run", "show", session, data.run, "op_zzz", "--json"]);
    expect([none.code, documentIn(none.stdout).error?.code]).toEqual([8, "not_found"]);
  });

  test("fits 80 columns also with an answer of a person, of which nobody knows how long it took", async () => {
    const { session, operation } = await place.killedInCommand();
    await place.call(["resume", session]);
    const run = documentIn((await place.call(["run", "show", session, "--json"])).stdout).data.run;
    await place.call(["run", "resolve", session, run, operation, "--not-executed", "--by", "Ada"]);
    const shown = await place.call(["run", "show", session]);
    const row = shown.stdout.split("\n").find((line) => line.startsWith(`–  ${operation}`)) ?? "";
    expect(row).toMatch(/exec +not executed {2,}echo/);
    expect(shown.stdout).toContain("was resolved by Ada at ");
    expect(shown.stdout.split("\n").filter((line) => widthOf(line) > columns)).toEqual([]);
  });
});

describe("the page of a session", () => {
  test("says what the agent may do, and shows as many messages as are asked for", async () => {
    const call = { calls: [{ tool: "read", args: { path: "none.txt" } }] };
    const session = await place.completed("Look", call, call, call, call, { text: "Done." });
    const shown = await place.call(["session", "show", session]);
    expect(shown.stdout).toMatch(/policy +may run commands\n/);
    expect(shown.stdout).toContain("the last 8 of 10 messages; more with --messages COUNT");
    const more = await place.call(["session", "show", session, "--messages", "99"]);
    expect(more.stdout.match(/msg_/g)?.length).toBe(10);
    expect((await place.call(["session", "show", session, "--messages", "x"])).code).toBe(2);
    const { data } = documentIn((await place.call(["session", "show", session, "--json"])).stdout);
    expect(data.policy).toMatchObject({ allowShell: true, passEnv: [] });
  });

  test("keeps wide characters in their indent, the lines of a command, and ids whole", async () => {
    const text = "漢字".repeat(60);
    const command = "echo one\necho two";
    const session = await place.completed(
      "Wide",
      { text, calls: [{ tool: "exec", args: { command } }] },
      { text: "Done." },
    );
    const { stdout } = await place.call(["session", "show", session]);
    expect(stdout.split("\n").filter((line) => widthOf(line) > columns)).toEqual([]);
    expect(stdout).toMatch(/ {2}→ exec echo one\n {2}echo two\n {4}op_\w{26}\n/);
    const wide = stdout.split("\n").filter((line) => line.includes("漢"));
    expect(wide.every((line) => line.startsWith("  "))).toBe(true);
    expect(wide.map((line) => line.trim()).join("")).toBe(text);
  });
});

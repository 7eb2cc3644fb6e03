import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { askFor } from "./asking.ts";
import { commandsIn, runHint } from "./hints.ts";
import type { Line, Running } from "./program.ts";
import { documentIn, linesOf, Place, sessionIn } from "./program.ts";

const place = new Place();
afterAll(() => place.remove());

/** One command after the other, each of which somebody must allow. */
function start(commands: readonly string[], ...flags: string[]): Running {
  const calls = commands.map((command) => ({ calls: [{ tool: "exec", args: { command } }] }));
  const model = place.cassette(...calls, { text: "Done." });
  return place.start(["run", "--task", "Go", "--model", model, ...askFor(place), ...flags]);
}

interface Asked {
  readonly session: string;
  readonly run: string;
  readonly operation: string;
}

/** The `count`-th operation about which somebody is asked. */
async function asked(running: Running, count = 1): Promise<Asked> {
  const line = `"type":"approval\\.asked","operation":"op_\\w{26}`;
  const text = await running.seen(new RegExp(`(?:${line}[^]*){${count}}`));
  const operation = [...text.matchAll(new RegExp(line, "g"))].at(-1)?.[0].slice(-29) ?? "";
  const run = (await running.seen(/run_[0-9a-z]{26}/)) ?? "";
  return { session: sessionIn(await running.seen(/ses_[0-9a-z]{26}/)), run, operation };
}

async function approve({ session, run, operation }: Asked, ...flags: string[]) {
  return await place.call(["run", "approve", session, run, operation, ...flags]);
}

function ofType(lines: readonly Line[], type: string): Line[] {
  return lines.filter((line) => line.type === type);
}

describe("what a policy leaves to a person", () => {
  test("is denied where nobody can be asked, and the model goes on with that", async () => {
    for (const flags of [[], ["--approvals", "deny"]]) {
      const { code, stdout } = await start(["touch denied"], ...flags).ended;
      const lines = linesOf(stdout);
      expect(code).toBe(0);
      expect(ofType(lines, "approval.decided")).toMatchObject([
        { decision: "deny", by: "holdfast", reason: "nobody can be asked here" },
      ]);
      expect(ofType(lines, "op.known")).toMatchObject([{ outcome: "denied" }]);
    }
    expect(existsSync(join(place.workspace, "denied"))).toBe(false);
  });

  test("waits for another process, which allows it in its own name", async () => {
    const running = start(["echo ran"], "--approvals", "wait");
    const question = await asked(running);
    const answered = await approve(question, "--by", "ada", "--reason", "fine", "--json");
    const { kind, data } = documentIn(answered.stdout);
    expect([answered.code, kind, data.run]).toEqual([0, "run_approve", question.run]);
    expect(data.operations[0].approval).toMatchObject({
      capability: "exec",
      decision: "allow",
      by: "ada",
      reason: "fine",
    });
    const { code, stdout } = await running.ended;
    expect([code, ofType(linesOf(stdout), "op.known")]).toMatchObject([0, [{ outcome: "ok" }]]);
    const shown = await place.call(["run", "show", question.session]);
    expect(shown.stdout.replaceAll(/\s+/g, " ")).toMatch(
      /approval of exec was asked for at \S+ \S+; allowed by ada at \S+ \S+: fine/,
    );
    // Said again it changes nothing; anything else is refused.
    expect((await approve(question)).code).toBe(0);
    const other = await approve(question, "--deny", "--json");
    expect([other.code, documentIn(other.stdout).error?.code]).toEqual([2, "already_resolved"]);
  });

  test("is denied with a reason that the model reads, and remembered where that is said", async () => {
    const running = start(["touch never", "touch nor", "touch this"], "--approvals", "wait");
    const question = await asked(running);
    await approve(question, "--deny", "--remember", "--by", "ada", "--reason", "not on a Friday");
    const { code, stdout } = await running.ended;
    const lines = linesOf(stdout);
    expect(code).toBe(0);
    expect(ofType(lines, "op.known").map((line) => line["output"])).toEqual([
      "denied by ada: not on a Friday",
      "denied by ada: remembered",
      "denied by ada: remembered",
    ]);
    expect(["never", "nor", "this"].filter((name) => existsSync(join(place.workspace, name)))).toEqual([]);
  });

  test("is denied by the end of a wait", async () => {
    const { code, stdout } = await start(["touch late"], "--approvals", "wait:50ms").ended;
    expect([code, ofType(linesOf(stdout), "approval.decided")]).toMatchObject([
      0,
      [{ decision: "deny", by: "holdfast" }],
    ]);
    expect(existsSync(join(place.workspace, "late"))).toBe(false);
  });

  test("is canceled by Ctrl-C while it waits, and never starts", async () => {
    const running = start(["touch canceled"], "--approvals", "wait");
    await asked(running);
    running.child.kill("SIGINT");
    const { code, stdout } = await running.ended;
    expect([code, ofType(linesOf(stdout), "op.known")]).toMatchObject([4, [{ outcome: "canceled" }]]);
    expect(linesOf(stdout).at(-1)).toMatchObject({ type: "run.ended", status: "canceled" });
    expect(existsSync(join(place.workspace, "canceled"))).toBe(false);
  });

  test("outlives the process that asked: what is shown says how to answer it, and resume goes by that", async () => {
    const running = start(["touch allowed", "touch second"], "--approvals", "wait");
    const { session } = await asked(running);
    running.child.kill("SIGTERM");
    const { code, stdout } = await running.ended;
    expect([code, linesOf(stdout).at(-1)?.type]).toEqual([11, "run.suspended"]);
    const shown = await place.call(["run", "show", session]);
    expect(shown.stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(shown.stdout).toMatch(/^! waits for approval, since \S+ \S+:\n {4}exec touch allowed\n/m);
    const [allow = "", deny = ""] = commandsIn(shown.stdout);
    expect(deny).toBe(`${allow} --deny`);
    const answered = await runHint(place, allow);
    expect(answered.stdout).toMatch(
      new RegExp(`^allowed {4}op_\\w+\n +exec touch allowed\nnext {7}holdfast resume ${session}\n$`),
    );
    const resumed = await place.call(["resume", session, "--format", "text"]);
    expect(resumed.code).toBe(0);
    expect(resumed.stdout).toMatch(/✓ exec {3}touch allowed/);
    expect(resumed.stdout).toMatch(
      /⊘ exec {3}touch second\n {4}denied by holdfast: nobody can be asked here/,
    );
    expect(existsSync(join(place.workspace, "allowed"))).toBe(true);
    expect(existsSync(join(place.workspace, "second"))).toBe(false);
  });

  test("shows people who wait which commands answer it, and by whom it was", async () => {
    const running = start(["echo one", "echo two"], "--approvals", "wait", "--format", "text");
    const first = commandsIn(await running.seen(/To allow it:[^]*--deny\n/))[0] ?? "";
    expect((await runHint(place, first, ["--by", "ada", "--remember"])).stdout).toContain(
      "the process that runs it goes on",
    );
    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(stdout).toMatch(/\nallowed by ada\neach exec of this session is allowed from now on\n/);
    expect(stdout).toMatch(/\nallowed by ada: remembered\n\n✓ exec {3}echo two/);
  });

  test("is nobody's to answer where nobody asks", async () => {
    const { stdout } = await place.start([
      "run",
      "--task",
      "Go",
      "--allow-shell",
      "--model",
      place.cassette({ calls: [{ tool: "exec", args: { command: "true" } }] }, { text: "Done." }),
    ]).ended;
    const [operation = ""] = /op_\w{26}/.exec(stdout) ?? [];
    const [run = ""] = /run_\w{26}/.exec(stdout) ?? [];
    const ended = await approve({ session: sessionIn(stdout), run, operation }, "--json");
    expect([ended.code, documentIn(ended.stdout).error?.code]).toEqual([2, "usage"]);
  });
});

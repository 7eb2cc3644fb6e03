import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { runHint } from "./hints.ts";
import type { Line, Running } from "./program.ts";
import { commandsOf, documentIn, linesOf, Place, sessionIn } from "./program.ts";

const place = new Place();
afterAll(() => place.remove());

/** Calls of the shell one after the other, then the end. */
function commands(...lines: string[]): unknown[] {
  const calls = lines.map((command) => ({ calls: [{ tool: "exec", args: { command } }] }));
  return [...calls, { text: "Done." }];
}

function start(turns: readonly unknown[], ...flags: string[]): Running {
  const model = place.cassette(...turns);
  return place.start(["run", "--task", "Go", "--model", model, "--allow-shell", ...flags]);
}

function typesOf(stdout: string): string[] {
  return linesOf(stdout).map(({ type }) => type);
}

function outcomesOf(lines: readonly Line[]): unknown[] {
  return lines.filter(({ type }) => type === "op.known").map((line) => line["outcome"]);
}

/** Two keys that are two. */
const betweenKeysMs = 100;

// A child that does not obey: its group is killed when the grace is over.
const stubborn = "(trap '' TERM INT HUP; while :; do sleep 0.1; done) & echo started; wait";

describe("Ctrl-C", () => {
  test("in the middle of an answer cancels the run, keeps what had come, and the next task can follow", async () => {
    const running = start([{ text: "one two three four five six", perTokenMs: 300 }, { text: "Done." }]);
    await running.seen(/"type":"live\.text"[^\n]*two/);
    running.child.kill("SIGINT");
    const { code, stdout, stderr } = await running.ended;
    const session = sessionIn(stdout);
    expect([code, stderr]).toEqual([4, ""]);
    expect(linesOf(stdout).at(-1)).toMatchObject({
      type: "run.ended",
      status: "canceled",
      by: expect.stringMatching(/./),
      turns: 0,
    });
    const shown = documentIn((await place.call(["session", "show", session, "--json"])).stdout).data;
    expect(shown.messages.at(-1)).toMatchObject({ role: "assistant", interrupted: true });
    expect(shown.messages.at(-1).parts[0].text).toMatch(/^one two/);
    expect((await place.call(["session", "show", session])).stdout).toMatch(/^assistant .* cut short$/m);
    const next = await place.call(["resume", session, "--task", "Again"]);
    expect([next.code, linesOf(next.stdout).at(-1)?.["status"]]).toEqual([0, "completed"]);
  });

  test("stops a command with all its children, also one that does not obey, and records its real end", async () => {
    const running = start(commands(stubborn, "echo never"), "--cancel-grace", "300ms");
    await running.seen(/"type":"live\.output"/);
    const session = sessionIn(await running.seen(/ses_[0-9a-z]{26}/));
    expect(commandsOf(session)).not.toEqual([]);
    // npm passes on the key that its child has got already.
    running.child.kill("SIGINT");
    running.child.kill("SIGINT");
    const { code, stdout } = await running.ended;
    expect([code, outcomesOf(linesOf(stdout))]).toEqual([4, ["canceled"]]);
    expect(linesOf(stdout).at(-1)).toMatchObject({ type: "run.ended", status: "canceled", turns: 1 });
    expect(commandsOf(session)).toEqual([]);
  });

  test("a second one leaves at once, and resume finds out what had become of it", async () => {
    const running = start(commands(stubborn), "--cancel-grace", "1h");
    await running.seen(/"type":"live\.output"/);
    running.child.kill("SIGINT");
    await delay(betweenKeysMs);
    running.child.kill("SIGINT");
    const { code, stdout, stderr } = await running.ended;
    const session = sessionIn(stdout);
    expect(code).toBe(11);
    expect(linesOf(stdout).at(-1)).toMatchObject({ schema: 1, type: "error", code: "interrupted" });
    expect(stderr).toBe(
      `holdfast: interrupted; session ${session} is kept\n  Go on with: holdfast resume ${session}\n`,
    );
    expect(typesOf(stdout)).not.toContain("op.known");
    for (const pid of commandsOf(session)) process.kill(pid, "SIGKILL");
    const again = await runHint(place, `holdfast resume ${session}`);
    expect([again.code, outcomesOf(linesOf(again.stdout))]).toEqual([0, ["canceled"]]);
    expect(typesOf(again.stdout)).not.toContain("op.started");
  });

  test("answers with one document where that was asked for", async () => {
    const running = start(commands("touch here; sleep 300"), "--json");
    while (!existsSync(join(place.workspace, "here"))) await delay(20);
    running.child.kill("SIGINT");
    const { code, stdout } = await running.ended;
    const { ok, kind, data, error } = documentIn(stdout);
    expect([code, ok, kind, error?.code, data.status]).toEqual([4, false, "run", "canceled", "canceled"]);
    expect(error?.message).toMatch(/^the run was canceled by ./);
  });
});

describe.each(["SIGTERM", "SIGHUP"] as const)("%s", (signal) => {
  test("suspends: what runs may finish, nothing new begins, and a resume goes on from there", async () => {
    const running = start(commands("echo started; sleep 0.7; echo finished", "echo second"));
    await running.seen(/"type":"live\.output"/);
    running.child.kill(signal);
    await delay(betweenKeysMs);
    // A supervisor repeats it.
    running.child.kill(signal);
    const { code, stdout, stderr } = await running.ended;
    const session = sessionIn(stdout);
    expect(code).toBe(11);
    expect(linesOf(stdout).at(-1)).toMatchObject({ type: "run.suspended", reason: "signal" });
    expect(outcomesOf(linesOf(stdout))).toEqual(["ok"]);
    expect(typesOf(stdout).filter((type) => type === "op.started")).toHaveLength(1);
    expect(stderr).toBe(
      `holdfast: the run was suspended by a signal\n  Go on with: holdfast resume ${session}\n`,
    );
    expect(commandsOf(session)).toEqual([]);
    const again = await runHint(place, stderr);
    expect([again.code, outcomesOf(linesOf(again.stdout))]).toEqual([0, ["ok"]]);
  });
});

describe("SIGTERM", () => {
  test("stops what does not finish within the grace, and leaves the run open", async () => {
    const running = start(commands(stubborn, "echo second"), "--cancel-grace", "0.2");
    await running.seen(/"type":"live\.output"/);
    running.child.kill("SIGTERM");
    const { code, stdout } = await running.ended;
    const session = sessionIn(stdout);
    expect([code, outcomesOf(linesOf(stdout))]).toEqual([11, ["canceled"]]);
    expect(linesOf(stdout).at(-1)).toMatchObject({ type: "run.suspended" });
    expect(commandsOf(session)).toEqual([]);
    const shown = documentIn((await place.call(["run", "show", session, "--json"])).stdout).data;
    expect(shown.status).toBe("suspended");
    expect((await place.call(["resume", session])).code).toBe(0);
  });

  test("cuts an answer, keeps what had come of it, and the call is made again", async () => {
    const running = start([{ text: "one two three four five six", perTokenMs: 300 }, { text: "Done." }]);
    await running.seen(/"type":"live\.text"[^\n]*two/);
    running.child.kill("SIGTERM");
    const { code, stdout } = await running.ended;
    const session = sessionIn(stdout);
    expect([code, linesOf(stdout).at(-1)?.type]).toEqual([11, "run.suspended"]);
    const again = await place.call(["resume", session, "--json"]);
    expect([again.code, documentIn(again.stdout).data.turns]).toEqual([0, 1]);
  });

  test("and then Ctrl-C cancels", async () => {
    const running = start(commands("echo started; sleep 300"), "--cancel-grace", "1h");
    await running.seen(/"type":"live\.output"/);
    running.child.kill("SIGTERM");
    await delay(betweenKeysMs);
    running.child.kill("SIGINT");
    const { code, stdout } = await running.ended;
    expect([code, linesOf(stdout).at(-1)?.["status"]]).toEqual([4, "canceled"]);
    expect(commandsOf(sessionIn(stdout))).toEqual([]);
  });

  test("says as one document how to go on", async () => {
    const running = start(commands("touch there; sleep 300"), "--json", "--cancel-grace", "0");
    while (!existsSync(join(place.workspace, "there"))) await delay(20);
    running.child.kill("SIGTERM");
    const { code, stdout } = await running.ended;
    const { error, data } = documentIn(stdout);
    expect([code, error?.code, data.status]).toEqual([11, "suspended", "suspended"]);
    expect((await runHint(place, error?.hint ?? "")).code).toBe(0);
  });
});

describe("run cancel", () => {
  test("from another process ends the run where it is worked on, in the name that is given", async () => {
    const running = start(commands(stubborn, "echo never"), "--cancel-grace", "300ms");
    await running.seen(/"type":"live\.output"/);
    const session = sessionIn(await running.seen(/ses_[0-9a-z]{26}/));
    const canceled = await place.call(["run", "cancel", session, "--by", "ada", "--json"]);
    const { kind, data } = documentIn(canceled.stdout);
    expect([canceled.code, kind, data.status, data.error]).toEqual([
      0,
      "run_cancel",
      "canceled",
      "canceled by ada",
    ]);
    expect(data.operations).toMatchObject([{ outcome: "canceled" }]);
    const { code, stdout } = await running.ended;
    expect([code, linesOf(stdout).at(-1)]).toEqual([
      4,
      expect.objectContaining({ type: "run.ended", status: "canceled", by: "ada" }),
    ]);
    expect(commandsOf(session)).toEqual([]);
    // The same again changes nothing.
    const again = await place.call(["run", "cancel", session, data.run]);
    expect([again.code, again.stdout]).toEqual([
      0,
      `canceled   ${data.run} of ${session}\nnext       holdfast resume ${session} --task "…"\n`,
    ]);
    expect((await place.call(["run", "show", session])).stdout).toContain("canceled by ada");
  });

  test("gets through to a worker whose reader stopped reading", async () => {
    const unread = startUnread();
    const session = await unread.session;
    const canceled = await place.call(["run", "cancel", session, "--json"]);
    expect([canceled.code, documentIn(canceled.stdout).data.status]).toEqual([0, "canceled"]);
    unread.drop();
  });

  test("ends what a dead process left open; of what nobody knows it says so, and abandon leaves it open", async () => {
    const { session, operation } = await place.killedInCommand();
    const canceled = await place.call(["run", "cancel", session, "--json"]);
    const { error } = documentIn(canceled.stdout);
    expect([canceled.code, error?.code]).toEqual([3, "input_required"]);
    expect((await runHint(place, error?.hint ?? "")).stdout).toContain(operation);
    const leave = error?.hint?.split("\n")[1] ?? "";
    const abandoned = await runHint(place, leave, ["--by", "ada"]);
    expect(abandoned.code).toBe(0);
    expect(abandoned.stdout).toMatch(/^abandoned {2}run_\w+ of ses_\w+\nleft open {2}1 operation\n/);
    const shown = documentIn((await place.call(["run", "show", session, "--json"])).stdout).data;
    expect(shown).toMatchObject({ status: "failed", error: "abandoned by ada" });
    expect(shown.operations).toMatchObject([{ id: operation, state: "unknown" }]);
    const late = await place.call(["run", "cancel", session, shown.run]);
    expect([late.code, late.stderr]).toEqual([
      2,
      expect.stringContaining("cannot be canceled: it is failed"),
    ]);
  });

  test("of a session without a run says so", async () => {
    const session = await place.completed();
    const ended = await place.call(["run", "cancel", session, "run_none", "--json"]);
    expect([ended.code, documentIn(ended.stdout).error?.code]).toEqual([8, "not_found"]);
  });
});

describe("a reader that stopped reading", () => {
  test("keeps no process that is told to go: the run is suspended, and people are told how to go on", async () => {
    const unread = startUnread();
    const session = await unread.session;
    unread.child.kill("SIGTERM");
    const { code, stderr } = await unread.told;
    expect([code, stderr]).toEqual([
      11,
      `holdfast: the run was suspended by a signal\n  Go on with: holdfast resume ${session}\n`,
    ]);
    const shown = documentIn((await place.call(["run", "show", session, "--json"])).stdout).data;
    expect(shown.status).toBe("suspended");
    unread.drop();
  });
});

/** A run whose output nobody reads, when it has more to say than is kept for its reader. */
function startUnread(): {
  child: ReturnType<typeof spawn>;
  session: Promise<string>;
  told: Promise<{ code: number | null; stderr: string }>;
  drop: () => void;
} {
  const marker = join(place.workspace, `unread-${Math.random()}`);
  const model = place.cassette(
    { calls: [{ tool: "exec", args: { command: `echo $HOLDFAST_SESSION > ${marker}` } }] },
    // Durable lines, which are never left out.
    ...Array.from({ length: 80 }, () => ({
      text: "y".repeat(30_000),
      calls: [{ tool: "glob", args: { pattern: "*" } }],
    })),
    { text: "Done." },
  );
  const args = [place.program, "run", "--task", "x", "--model", model, "--allow-shell"];
  const child = spawn(process.execPath, args, {
    cwd: place.workspace,
    env: place.env(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const told = new Promise<{ code: number | null; stderr: string }>((done) =>
    child.on("exit", (code) => done({ code, stderr })),
  );
  const session = (async () => {
    while (!existsSync(marker) || readFileSync(marker, "utf8") === "") await delay(20);
    const id = readFileSync(marker, "utf8").trim();
    // It waits for its reader when its log does not grow any more.
    for (let size = -1; ;) {
      const now = readFileSync(place.log(id)).length;
      if (now === size && now > 500_000) return id;
      size = now;
      await delay(300);
    }
  })();
  return { child, session, told, drop: () => void child.stdout?.destroy() };
}

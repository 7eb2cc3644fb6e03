import { spawnSync } from "node:child_process";
import { closeSync, cpSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { codeOfEnding, exitCodeOfEnding } from "../../src/model/ending.ts";
import { runHint } from "./hints.ts";
import { documentIn, linesOf, Place, sessionIn } from "./program.ts";

const place = new Place();
afterAll(() => place.remove());

const writeCall = (path: string) => ({ tool: "write", args: { path, content: "hello\n" } });

const good = () => ["--task", "x", "--model", place.cassette({ text: "Done." })];

describe("exit codes", () => {
  test("every ending has the exit code of the one table", () => {
    const reasons = [
      undefined,
      "provider",
      "agent",
      "signal",
      "stop",
      "cassette_exhausted",
      "budget_turns",
      "busy",
    ];
    const codes = (["completed", "idle", "failed", "canceled", "input_required", "suspended"] as const).map(
      (ending) => [ending, reasons.map((reason) => exitCodeOfEnding({ ending, reason }))],
    );
    expect(Object.fromEntries(codes)).toEqual({
      completed: Array(8).fill(0),
      idle: Array(8).fill(0),
      failed: Array(8).fill(1),
      canceled: Array(8).fill(4),
      input_required: Array(8).fill(3),
      suspended: [11, 10, 10, 11, 11, 11, 11, 11],
    });
    expect(codeOfEnding({ ending: "failed", reason: "context_overflow" })).toBe("context_overflow");
  });

  test("a failed run ends with 1 and its own last line", async () => {
    const ended = await place.call([
      "run",
      "--task",
      "x",
      "--model",
      place.cassette({ calls: [writeCall("d.txt")] }),
    ]);
    expect(linesOf(ended.stdout).at(-1)).toMatchObject({
      type: "run.ended",
      status: "failed",
      reason: "cassette_exhausted",
    });
    expect([ended.code, ended.stderr]).toEqual([1, ""]);
  });

  test("a provider that fails suspends the run, with 10 and an error line at the very end", async () => {
    const refused = { error: { status: 401, message: "bad key" } };
    const ended = await place.call([
      "run",
      "--task",
      "x",
      "--model",
      place.cassette(refused, { text: "Done." }),
    ]);
    const [suspended, error] = linesOf(ended.stdout).slice(-2);
    expect(suspended).toMatchObject({ type: "run.suspended", reason: "provider" });
    expect(error).toMatchObject({ schema: 1, type: "error", code: "provider_failed" });
    expect(ended.code).toBe(10);
    expect(ended.stderr).toMatch(/^holdfast: the run is suspended: provider: .*bad key/);
    // The hint is a command that goes on.
    const again = await runHint(place, String(error?.["hint"]));
    expect(again.code).toBe(0);
    const idle = await runHint(place, String(error?.["hint"]));
    expect([idle.code, idle.stderr]).toEqual([
      0,
      `holdfast: nothing to do in session ${sessionIn(ended.stdout)}\n`,
    ]);
    const document = await place.call(["resume", sessionIn(ended.stdout), "--json"]);
    expect(documentIn(document.stdout)).toMatchObject({
      ok: true,
      kind: "resume",
      data: { idle: true, status: "completed" },
    });
  });

  test("a workspace that is gone is 6, and the hint goes on once it is back", async () => {
    const session = await place.completed();
    const away = `${place.workspace}-away`;
    renameSync(place.workspace, away);
    const ended = await place.call(["resume", session, "--task", "next", "--json"], { cwd: place.folder });
    renameSync(away, place.workspace);
    const { error } = documentIn(ended.stdout);
    expect([ended.code, error?.code]).toEqual([6, "workspace_mismatch"]);
    expect((await runHint(place, error?.hint ?? "")).code).toBe(0);
  });

  test("a policy that differs is 6, names the difference, and the hint goes on without it", async () => {
    const session = await place.completed();
    const ended = await place.call(["resume", session, "--pass-env", "B", "--pass-env", "A", "--json"]);
    const { error } = documentIn(ended.stdout);
    expect([ended.code, error?.code]).toEqual([6, "policy_drift"]);
    expect(error?.message).toMatch(/passEnv: \[\] is recorded, \["A","B"\] was given/);
    expect((await runHint(place, error?.hint ?? "")).code).toBe(0);
  });

  test("a damaged log is 7, refuses to run, stays as it is, and can be shown", async () => {
    const session = await place.completed();
    const bytes = readFileSync(place.log(session));
    bytes[bytes.indexOf(0x0a) + 200] = 0x21;
    writeFileSync(place.log(session), bytes);
    for (const args of [
      ["resume", session],
      ["session", "repair", session],
    ]) {
      const ended = await place.call([...args, "--json"]);
      expect([args, ended.code, documentIn(ended.stdout).error?.code]).toEqual([args, 7, "log_damaged"]);
    }
    expect(readFileSync(place.log(session)).equals(bytes)).toBe(true);
    const shown = await place.call(["session", "show", session]);
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringMatching(/damaged +line 2, byte \d+/)]);
  });

  test("an ambiguous id is 8, with what it could mean", async () => {
    await place.completed();
    await place.completed();
    for (const args of [
      ["session", "show", "ses_"],
      ["resume", "0"],
    ]) {
      const ended = await place.call([...args, "--json"]);
      const { error } = documentIn(ended.stdout);
      expect([ended.code, error?.code]).toEqual([8, "ambiguous"]);
      expect(error?.candidates?.length).toBeGreaterThan(1);
      for (const id of error?.candidates ?? []) expect(id).toMatch(/^ses_[0-9a-z]{26}$/);
    }
  });

  test("an output that cannot be written is 7; the run goes on to its end all the same", async () => {
    const full = openSync("/dev/full", "w");
    const model = place.cassette({ calls: [writeCall("full.txt")] }, { text: "Done." });
    for (const form of [["--json"], ["--format", "jsonl"], ["--format", "text"]]) {
      const ended = await place.call(["run", ...form, "--task", "x", "--model", model], { stdout: full });
      expect([form, ended.code]).toEqual([form, 7]);
      expect(ended.stderr).toMatch(/^holdfast: the output cannot be written: ENOSPC\n {2}Go on with: /);
      const view = await place.call(["run", "show", sessionIn(ended.stderr), "--json"]);
      expect(documentIn(view.stdout).data).toMatchObject({ status: "completed", turns: 2 });
    }
    for (const args of [["session", "list"], ["session", "list", "--json"], ["--help"]]) {
      const ended = await place.call(args, { stdout: full });
      expect([args, ended.code, ended.stderr]).toEqual([
        args,
        7,
        "holdfast: the output cannot be written: ENOSPC\n",
      ]);
    }
    closeSync(full);
  });

  test("where nothing can be said at all, the exit code says what it would have said", async () => {
    const full = openSync("/dev/full", "w");
    const model = place.cassette({ text: "Done." });
    const calls: (readonly [code: number, args: readonly string[]])[] = [
      ...[["--json"], ["--format", "jsonl"], ["--format", "text"]].map(
        (form) => [7, ["run", ...form, "--task", "x", "--model", model]] as const,
      ),
      [7, ["session", "list"]],
      [7, ["session", "list", "--json"]],
      [7, ["--help"]],
      [7, ["--version"]],
      [8, ["session", "show", "ses_none"]],
      [8, ["session", "show", "ses_none", "--json"]],
      [2, ["run"]],
      [2, ["session"]],
    ];
    for (const [code, args] of calls) {
      const ended = await place.call(args, { stdout: full, stderr: full });
      expect([args, ended.code]).toEqual([args, code]);
    }
    closeSync(full);
  });

  test("a directory that was removed under us is missed only by what needs it", async () => {
    const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"';
    const call = (...args: string[]) =>
      spawnSync("sh", ["-c", script, "sh", process.execPath, place.program, ...args], {
        cwd: place.folder,
        env: place.env(),
        encoding: "utf8",
      });
    expect(call("session", "list", "--json").status).toBe(0);
    const lost = call("run", ...good());
    expect([lost.status, lost.stderr]).toEqual([
      2,
      expect.stringMatching(/the workspace \S+\/gone does not exist/),
    ]);
    expect(call("run", ...good(), "--workspace", place.workspace).status).toBe(0);
  });

  test("a system that opens no more files refused that: it is 7 and no fault of ours", () => {
    const program = [process.execPath, place.program, "run", ...good(), "--workspace", place.workspace];
    const told = [24, 26, 28].map((limit) => {
      const args = ["-c", `ulimit -n ${limit}; exec "$@"`, "sh", ...program];
      const { status, stderr } = spawnSync("sh", args, { env: place.env(), encoding: "utf8" });
      return { status, stderr };
    });
    for (const one of told) {
      expect(one).toEqual({ status: 7, stderr: expect.stringMatching(/^holdfast: [^\n]*EMFILE/) });
      expect(one.stderr).not.toContain("internal");
    }
  });

  test("a fault of ours is 1, one line, and a stack only where somebody asks", async () => {
    // A broken installation: a part of the program is missing.
    const broken = join(place.folder, "broken");
    cpSync(join(place.program, ".."), broken, { recursive: true });
    const { stdout } = await place.call(["session", "list", "--plain"]);
    const session = sessionIn(stdout);
    const chunk =
      readFileSync(join(broken, "commands.js"), "utf8").match(/chunks\/session-show-\w+\.js/)?.[0] ?? "";
    rmSync(join(broken, chunk));
    const program = join(broken, "main.cjs");
    const call = (env: Record<string, string>) => place.call(["session", "show", session], { env, program });
    const quiet = await call({});
    expect(quiet).toMatchObject({ code: 1, stdout: "" });
    expect(quiet.stderr).toMatch(/^holdfast: internal: [^\n]+\n$/);
    expect((await call({ HOLDFAST_DEBUG: "1" })).stderr).toMatch(/\n +at /);
  });
});

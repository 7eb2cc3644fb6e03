import { createHash } from "node:crypto";
import { appendFileSync, cpSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { commandsIn, runHint } from "./hints.ts";
import { documentIn, linesOf, Place, sessionIn } from "./program.ts";

const place = new Place();
afterAll(() => place.remove());

describe("a session that was killed", () => {
  test("two resumes at once: one waits for the command, the other ends with 5, names it and touches nothing", async () => {
    const { session } = await killedWhileWaiting(place);
    const first = place.start(["resume", session]);
    await first.seen(/"type":"run\.started"/);
    const before = hashOf(place.log(session));
    const second = await place.call(["resume", session]);
    const after = hashOf(place.log(session));
    expect(second.code).toBe(5);
    expect(linesOf(second.stdout)).toMatchObject([{ type: "error", code: "busy" }]);
    expect(second.stderr).toContain(`process ${first.child.pid} on ${hostname()}`);
    writeFileSync(join(place.workspace, "go"), "");
    const ended = await first.ended;
    expect(ended.code).toBe(0);
    // While the loser looked, only the winner may have written; here it was waiting.
    expect(after).toBe(before);
    expect(linesOf(ended.stdout).at(-1)).toMatchObject({ type: "run.ended", status: "completed" });
    rmSync(join(place.workspace, "go"));
  });

  test("a command whose end nobody saw is 3; what is shown names it, and the commands that are offered work", async () => {
    const { session, operation } = await place.killedInCommand();
    const ended = await place.call(["resume", session]);
    expect(ended.code).toBe(3);
    expect(linesOf(ended.stdout).at(-1)).toMatchObject({
      type: "run.input_required",
      operations: [operation],
    });
    const document = await place.call(["resume", session, "--json"]);
    const { error, data } = documentIn(document.stdout);
    expect([document.code, error?.code, data.status]).toEqual([3, "input_required", "input_required"]);
    const shown = await runHint(place, error?.hint ?? "");
    for (const said of [operation, "sleep 300", "bytes: 8", "--output", "--not-executed"])
      expect(shown.stdout).toContain(said);
    expect(shown.stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
    const text = await place.call(["resume", session, "--format", "text"]);
    const commands = commandsIn(text.stdout).filter((command) => command.includes("run resolve"));
    expect(commands.map((command) => command.replace(/^.* --/, "--"))).toEqual([
      `--output "what it did"`,
      "--is-error",
      "--not-executed",
    ]);
    const resolved = await runHint(place, commands[2] ?? "");
    expect([resolved.code, resolved.stderr]).toEqual([0, ""]);
    const other = await runHint(place, commands[0] ?? "", ["--json"]);
    expect([other.code, documentIn(other.stdout).error?.code]).toEqual([2, "already_resolved"]);
    expect(documentIn(other.stdout).error?.message).toMatch(/: that it did not happen is recorded$/);
    expect((await runHint(place, commands[2] ?? "")).code).toBe(0);
    const next = commandsIn(text.stdout).find((command) => command.startsWith("holdfast resume")) ?? "";
    const gone = await runHint(place, next);
    expect([gone.code, linesOf(gone.stdout).at(-1)]).toEqual([
      0,
      expect.objectContaining({ status: "completed" }),
    ]);
    const view = documentIn((await place.call(["run", "show", session, "--json"])).stdout).data;
    expect(view.operations[0]).toMatchObject({
      id: operation,
      outcome: "not_executed",
      resolution: { by: expect.any(String) },
    });
  });

  test("an unfinished run takes no other task; the hint finishes it", async () => {
    const { session } = await killedWhileWaiting(place);
    writeFileSync(join(place.workspace, "go"), "");
    const ended = await place.call(["--resume", session, "--task", "Another", "--json"]);
    const { error, kind } = documentIn(ended.stdout);
    expect([ended.code, kind, error?.code]).toEqual([2, "resume", "usage"]);
    expect((await runHint(place, error?.hint ?? "")).code).toBe(0);
    rmSync(join(place.workspace, "go"));
  });
});

describe("the store", () => {
  test("a tail that nobody was told of is mended on request, and the place of the original bytes is printed", async () => {
    const session = await place.completed();
    appendFileSync(place.log(session), '{"v":1,"ses":');
    const ended = await place.call(["session", "repair", session]);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(/the log was repaired: 13 bytes from byte \d+ on were cut off/);
    const saved = /the original bytes are in (\S+)/.exec(ended.stdout)?.[1] ?? "";
    expect(readFileSync(saved, "utf8")).toBe('{"v":1,"ses":');
    expect(statSync(saved).mode & 0o777).toBe(0o600);
    const again = documentIn((await place.call(["session", "repair", session, "--json"])).stdout);
    expect(again).toMatchObject({
      kind: "session_repair",
      data: { files: [{ file: "log" }, { file: "queue" }], saved: [] },
    });
  });

  test("a copy of a state directory runs nothing until it is adopted, by the command that the hint names", async () => {
    const session = await place.completed();
    const copy = `${place.state} copy`;
    cpSync(place.state, copy, { recursive: true });
    const ended = await place.call(["--state-dir", copy, "resume", session, "--json"]);
    const { error } = documentIn(ended.stdout);
    expect([ended.code, error?.code]).toEqual([7, "store_copied"]);
    expect((await runHint(place, error?.hint ?? "")).code).toBe(0);
    expect((await place.call(["--state-dir", copy, "resume", session])).code).toBe(0);
    const twice = await place.call(["--state-dir", copy, "store", "adopt", "--json"]);
    expect([twice.code, documentIn(twice.stdout).error?.code]).toEqual([2, "usage"]);
  });
});

/** A session whose program was killed while a command waits for the file `go`; the supervisor lives. */
async function killedWhileWaiting(where: Place): Promise<{ session: string }> {
  const command = "echo started; while ! [ -e go ]; do sleep 0.05; done";
  const model = where.cassette({ calls: [{ tool: "exec", args: { command } }] }, { text: "Done." });
  const running = where.start(["run", "--task", "Wait", "--model", model, "--allow-shell"]);
  await running.seen(/"type":"live\.output"/);
  const session = sessionIn(await running.seen(/ses_[0-9a-z]{26}/));
  running.child.kill("SIGKILL");
  await running.ended;
  return { session };
}

function hashOf(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

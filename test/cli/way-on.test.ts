import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { commandsIn, runHint } from "./hints.ts";
import { documentIn, Place, sessionIn } from "./program.ts";

const place = new Place();
afterAll(() => place.remove());

describe("the way on that pages show", () => {
  test("leads to the person's answer where one is missing, and on from there once it is given", async () => {
    const { session, operation } = await place.killedInCommand();
    const interrupted = await place.call(["run", "show", session]);
    expect(interrupted.stdout).toContain(`\nnext  holdfast resume ${session}\n`);
    expect((await place.call(["resume", session])).code).toBe(3);
    const early = await place.call(["resume", session, "--task", "Another", "--json"]);
    const { error } = documentIn(early.stdout);
    expect([early.code, commandsIn(error?.hint ?? "")]).toEqual([
      2,
      [`holdfast run show ${session} — then give the next task.`],
    ]);
    const shown = await place.call(["session", "show", session]);
    expect(shown.stdout).toContain(`next  holdfast run show ${session}`);
    const { data } = documentIn((await place.call(["run", "show", session, "--json"])).stdout);
    const answer = ["run", "resolve", session, data.run, operation, "--not-executed"];
    expect((await place.call(answer)).code).toBe(0);
    const answered = await place.call(["run", "show", session]);
    expect(answered.stdout).toContain(`\nnext  holdfast resume ${session}\n`);
    expect((await runHint(place, answered.stdout.slice(answered.stdout.indexOf("\nnext ")))).code).toBe(0);
  });

  test("does not offer what cannot succeed: a damaged log, a missing workspace, a recording that is used up", async () => {
    const model = place.cassette({ calls: [{ tool: "read", args: { path: "none" } }] });
    const failed = await place.call(["run", "--task", "x", "--model", model, "--format", "text"]);
    const session = sessionIn(failed.stdout);
    const offers = (text: string) => commandsIn(text).filter((command) => command.includes(" resume "));
    for (const text of [failed.stdout, ...(await pagesOf(session))]) {
      expect(text.replaceAll(/\s+/g, " ")).toContain("has no further answer, so a next task fails too");
      expect(offers(text)).toEqual([]);
    }
    renameSync(place.workspace, `${place.workspace}-away`);
    const [, missing] = await pagesOf(session);
    expect(missing).toContain("the workspace is not there");
    expect(missing).toContain("It cannot go on until its workspace is there again");
    renameSync(`${place.workspace}-away`, place.workspace);

    const path = place.log(session);
    const lines = readFileSync(path, "utf8").split("\n");
    writeFileSync(
      path,
      lines.map((line, index) => (index === 4 ? line.replace(/\d/, "x") : line)).join("\n"),
    );
    for (const text of await pagesOf(session)) {
      expect(text).toMatch(/damaged +line 5, byte \d+/);
      expect(text).toContain("It cannot go on: its log is damaged.");
      expect(offers(text)).toEqual([]);
    }
    rmSync(join(place.state, "sessions", session), { recursive: true });
  });

  test("of a refused command keeps the state directory that the command was given", async () => {
    const session = await place.completed();
    const elsewhere = { env: { HOLDFAST_STATE_DIR: `${place.folder}/other` } };
    const flags = ["--state-dir", place.state];
    const ended = await place.call([...flags, "run", "show", session, "run_zzz"], elsewhere);
    expect(ended.code).not.toBe(0);
    expect((await runHint(place, ended.stderr)).code).toBe(0);
    const [command = ""] = commandsIn(ended.stderr);
    expect(command.startsWith(`holdfast --state-dir ${place.state} run list`)).toBe(true);
  });
});

/** What `run show` and `session show` print, called from elsewhere: the workspace may be gone. */
async function pagesOf(session: string): Promise<readonly [string, string]> {
  const from = { cwd: place.folder };
  const run = await place.call(["run", "show", session], from);
  const whole = await place.call(["session", "show", session], from);
  expect([run.code, whole.code]).toEqual([0, 0]);
  return [run.stdout, whole.stdout];
}

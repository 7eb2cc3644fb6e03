import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { resumeBlockers } from "../../src/model/eligibility.ts";
import { commandsIn, runHint } from "./hints.ts";
import { documentIn, Place, sessionIn } from "./program.ts";

const places: Place[] = [];
afterAll(() => {
  for (const place of places) place.remove();
});

function newPlace(): Place {
  const place = new Place();
  places.push(place);
  return place;
}

/** Every byte of the state directory, by name. */
function bytesOf(place: Place): string {
  const files = readdirSync(place.state, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name))
    // Who resumes writes there who he is, also where he is refused after that.
    .filter((path) => !path.endsWith("/lease"))
    .toSorted();
  return JSON.stringify(files.map((path) => [path, readFileSync(path, "latin1")]));
}

interface Spoiled {
  readonly place: Place;
  readonly session: string;
  /** Flags of the resume. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A finished session with a message in its queue. */
async function finished(): Promise<Spoiled> {
  const place = newPlace();
  const session = await place.completed("A task", { text: "1" }, { text: "2" }, { text: "3" });
  await place.call(["send", session, "Next."]);
  return { place, session };
}

/** The path of a file of the session. */
const fileOf = ({ place, session }: Spoiled, name: string): string =>
  join(place.state, "sessions", session, name);

function edit(spoiled: Spoiled, name: string, change: (lines: string[]) => string[]): Spoiled {
  const path = fileOf(spoiled, name);
  writeFileSync(path, change(readFileSync(path, "utf8").split("\n")).join("\n"));
  return spoiled;
}

const spoilLine = (at: number) => (lines: string[]) => lines.with(at, (lines[at] ?? "").replace(/\d/, "x"));

const git = (place: Place, ...args: string[]): void =>
  void execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
    cwd: place.workspace,
    stdio: "ignore",
  });

/** What stands in the way, how to bring it about, and what the verdict calls it. */
const cases: readonly [what: string, code: string, spoil: () => Promise<Spoiled>][] = [
  ["its log is damaged", "damaged", async () => edit(await finished(), "log.jsonl", spoilLine(4))],
  [
    "its log was put back",
    "damaged",
    async () => edit(await finished(), "log.jsonl", (lines) => [...lines.slice(0, 3), ""]),
  ],
  [
    "nothing of its log can be read",
    "damaged",
    async () => edit(await finished(), "log.jsonl", spoilLine(0)),
  ],
  [
    "its directory is gone",
    "cwd-missing",
    async () => {
      const spoiled = await finished();
      renameSync(spoiled.place.workspace, `${spoiled.place.workspace}-away`);
      return spoiled;
    },
  ],
  [
    "its directory is another one",
    "workspace_mismatch",
    async () => {
      const spoiled = await finished();
      renameSync(spoiled.place.workspace, `${spoiled.place.workspace}-away`);
      mkdirSync(spoiled.place.workspace);
      return spoiled;
    },
  ],
  [
    "another branch is checked out",
    "branch_mismatch",
    async () => {
      const place = newPlace();
      git(place, "init", "-b", "main");
      git(place, "commit", "--allow-empty", "-m", "x");
      const session = await place.completed();
      git(place, "switch", "-c", "other");
      return { place, session };
    },
  ],
  [
    "its state directory is a copy",
    "store_copied",
    async () => {
      const { place, session } = await finished();
      cpSync(place.state, `${place.state}-copy`, { recursive: true });
      rmSync(place.state, { recursive: true });
      renameSync(`${place.state}-copy`, place.state);
      return { place, session };
    },
  ],
  [
    "another policy is given",
    "policy_drift",
    async () => ({ ...(await finished()), flags: ["--pass-env", "X"] }),
  ],
  [
    "another task is given than that of the open run",
    "usage",
    async () => {
      const place = newPlace();
      const model = place.cassette({ error: { status: 401, message: "no" } });
      const session = sessionIn((await place.call(["run", "--task", "x", "--model", model])).stdout);
      return { place, session, flags: ["--task", "other"] };
    },
  ],
  ["its queue is damaged", "queue_damaged", async () => edit(await finished(), "queue.jsonl", spoilLine(1))],
  [
    "its log was put back and its queue knows more",
    "queue_damaged",
    async () => {
      const spoiled = edit(await finished(), "log.jsonl", (lines) => [...lines.slice(0, 2), ""]);
      writeFileSync(fileOf(spoiled, "head"), "");
      return spoiled;
    },
  ],
  [
    "its queue was put back",
    "rolled_back",
    async () => edit(await finished(), "queue.jsonl", (lines) => [...lines.slice(0, 1), ""]),
  ],
  [
    "the key for its model is not there",
    "provider_failed",
    async () => {
      const place = newPlace();
      const env = { OPENAI_API_KEY: "sk-1", OPENAI_BASE_URL: "http://127.0.0.1:9/v1" };
      const ended = place.start(["run", "--task", "x", "--model", "openai/gpt-5"], { env });
      const session = sessionIn(await ended.seen(/ses_[0-9a-z]{26}/));
      await ended.seen(/"type":"model\.requested"/);
      ended.child.kill("SIGKILL");
      await ended.ended;
      return { place, session };
    },
  ],
  [
    "its recorded model is lost",
    "log_damaged",
    async () => {
      const spoiled = await finished();
      rmSync(fileOf(spoiled, "blobs"), { recursive: true });
      return spoiled;
    },
  ],
];

describe("resume --explain says before what resume would say", () => {
  test.each(cases)("where %s: %s", async (_, code, spoil) => {
    const { place, session, flags = [] } = await spoil();
    const before = bytesOf(place);
    const from = { cwd: place.folder };
    const explained = await place.call(["resume", session, ...flags, "--explain", "--json"], from);
    const page = await place.call(["resume", session, ...flags, "--explain"], from);
    expect(bytesOf(place)).toBe(before);
    const { ok, kind, data, error } = documentIn(explained.stdout);
    expect([ok, kind, data.eligible, data.code, data.blockers[0]]).toEqual([
      false,
      "resume",
      false,
      code,
      code,
    ]);
    const failed = data.checks.find((check: { ok: boolean }) => !check.ok);
    expect(failed).toMatchObject({ reason: error?.message, error: error?.code });
    // The same words, the same code, the same exit.
    const refused = await place.call(["resume", session, ...flags, "--json"], from);
    expect(documentIn(refused.stdout).error).toEqual(error);
    expect([explained.code, page.code]).toEqual([refused.code, refused.code]);
    expect(page.stdout.split("\n")[0]).toBe(`${session}  no(${code})`);
    expect(page.stdout).toMatch(new RegExp(`\n  ✗ ${failed.check} +\\S`));
  });

  test("where a process runs it, names that one and a command that works meanwhile", async () => {
    const place = newPlace();
    const model = place.cassette({ text: "So slowly that it is met at work.", perTokenMs: 3000 });
    const running = place.start(["run", "--task", "x", "--model", model]);
    const session = sessionIn(await running.seen(/ses_[0-9a-z]{26}/));
    await running.seen(/"type":"live\.text"/);
    const explained = await place.call(["resume", session, "--explain", "--json"]);
    const { data } = documentIn(explained.stdout);
    expect([explained.code, data.code, data.blockers]).toEqual([5, "active", ["active"]]);
    expect(data.checks.find(({ check }: { check: string }) => check === "active").reason).toContain(
      `process ${running.child.pid}`,
    );
    const shown = documentIn((await place.call(["session", "show", session, "--json"])).stdout).data;
    expect(shown.holder).toMatchObject({ pid: running.child.pid });
    expect(shown.holder.since).toBeGreaterThan(shown.createdAt - 1);
    const sent = await runHint(place, data.next, ["--json"]);
    expect(documentIn(sent.stdout).data).toMatchObject({ live: true, state: "admitted" });
    running.child.kill("SIGKILL");
    await running.ended;
    const after = documentIn((await place.call(["session", "show", session, "--json"])).stdout).data;
    expect([after.active, after.holder]).toEqual([false, undefined]);
  });
});

describe("resume --explain of a session that can be resumed", () => {
  test("passes every check in order, says what comes first, and starts nothing", async () => {
    const place = newPlace();
    const { session, operation } = await place.killedInCommand();
    await place.call(["send", session, "Next."]);
    const before = bytesOf(place);
    const explained = await place.call(["resume", session, "--explain", "--json"]);
    const page = await place.call(["resume", session, "--explain"]);
    expect(bytesOf(place)).toBe(before);
    const { ok, data } = documentIn(explained.stdout);
    const beyond = ["workspace", "policy", "queue", "model"];
    expect(data.checks).toEqual(
      ["exists", "store", ...resumeBlockers, ...beyond].map((check) => ({ check, ok: true })),
    );
    expect([explained.code, ok, data.eligible, data.code, data.blockers]).toEqual([0, true, true, "yes", []]);
    expect(data.plan).toMatchObject({ prove: 1, unknown: 0, deliver: 1 });
    expect(data.next).toBe(`holdfast resume ${session}`);
    expect(page.code).toBe(0);
    expect(page.stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(page.stdout.replaceAll(/\s+/g, " ")).toContain(
      `it finishes ${data.plan.run}: 1 operation to prove first; then it takes 1 message from the queue`,
    );
    // Nothing can be proven here, so that a person is asked: also that is told before.
    expect((await runHint(place, data.next)).code).toBe(3);
    const asked = documentIn((await place.call(["resume", session, "--explain", "--json"])).stdout).data;
    expect(asked.plan).toMatchObject({ run: data.plan.run, prove: 0, unknown: 1, deliver: 1 });
    expect(commandsIn(asked.next)).toEqual([`holdfast run show ${session} ${data.plan.run}`]);
    const list = documentIn((await place.call(["queue", "list", session, "--json"])).stdout).data;
    expect(list.held).toMatchObject({ reason: "input_required", next: asked.next });
    expect((await runHint(place, asked.next)).stdout).toContain(operation);
  });

  test("with nothing to do offers the next task, and with an accepted rollback its flag", async () => {
    const { place, session } = await finished();
    expect((await place.call(["resume", session])).code).toBe(0);
    const idle = documentIn((await place.call(["resume", session, "--explain", "--json"])).stdout).data;
    expect([idle.plan, idle.next]).toEqual([
      { prove: 0, unknown: 0, deliver: 0 },
      `holdfast resume ${session} --task "…"`,
    ]);
    const back = edit({ place, session }, "log.jsonl", (lines) => [...lines.slice(0, 5), ""]);
    const refused = documentIn((await place.call(["resume", session, "--explain", "--json"])).stdout).data;
    expect([refused.code, refused.next]).toEqual(["damaged", `holdfast resume ${session} --accept-rollback`]);
    const accepted = await runHint(back.place, refused.next, ["--explain", "--json"]);
    expect([accepted.code, documentIn(accepted.stdout).data.eligible]).toEqual([0, true]);
    expect((await runHint(back.place, refused.next)).code).toBe(0);
  });
});

import { execFileSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createSession } from "../../src/engine/create-session.ts";
import { nodeHost } from "../../src/host/index.ts";
import { defaultDefinition } from "../../src/model/default-definition.ts";
import type { Fact } from "../../src/model/facts.ts";
import { evolveRow } from "../../src/model/row.ts";
import { openEngine } from "../../src/open.ts";
import { HeadKeeper } from "../../src/store/head-keeper.ts";
import { folderOf } from "../../src/store/session-folder.ts";
import { examine } from "../engine/examine.ts";
import { commandsIn, runHint, runInShell } from "./hints.ts";
import type { Ended } from "./program.ts";
import { documentIn, linesOf, Place, sessionIn } from "./program.ts";

/**
 * Every command that a message of ours offers, found in the sources, each brought about with the program as it is
 * published, and run as it stands.
 */

const places: Place[] = [];
afterAll(() => {
  for (const place of places) place.remove();
});

function newPlace(): Place {
  const place = new Place();
  places.push(place);
  return place;
}

const refused = { error: { status: 401, message: "no" } };
const fails = { calls: [{ tool: "read", args: { path: "none" } }] };

/** A text that somebody was told, and what the command in it is promised to come to. */
interface Told {
  readonly place: Place;
  readonly text: string;
  /** What the command says behind the program's name, but for its ids. */
  readonly offers: string;
  readonly promise: (ended: Ended) => unknown;
}

const code = (exit: number) => (ended: Ended) =>
  expect([ended.code, ended.stderr]).toEqual([exit, ended.stderr]);
const shows = (pattern: RegExp) => (ended: Ended) => {
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(pattern) as string });
};

function engineOn(place: Place) {
  return openEngine({
    host: nodeHost({ environment: {} }),
    stateDirectory: place.state,
    singleWriter: false,
    environment: {},
    version: "0.0.0",
    supervisorProgram: { file: "none", args: [] },
  });
}

async function completed(...turns: unknown[]): Promise<{ place: Place; session: string }> {
  const place = newPlace();
  return { place, session: await place.completed("A task", { text: "1" }, ...turns) };
}

async function suspended(...turns: unknown[]): Promise<{ place: Place; session: string; ended: Ended }> {
  const place = newPlace();
  const ended = await place.call(["run", "--task", "x", "--model", place.cassette(refused, ...turns)]);
  return { place, session: sessionIn(ended.stdout), ended };
}

/** A session whose command nobody knows the end of, and what its resume said. */
async function unknown(
  form: string,
): Promise<{ place: Place; session: string; operation: string; ended: Ended }> {
  const place = newPlace();
  const { session, operation } = await place.killedInCommand();
  return { place, session, operation, ended: await place.call(["resume", session, "--format", form]) };
}

const fileOf = (place: Place, session: string, name: string) => join(place.state, "sessions", session, name);

function edit(path: string, change: (lines: string[]) => string[]): void {
  writeFileSync(path, change(readFileSync(path, "utf8").split("\n")).join("\n"));
}

const hintOf = ({ stdout }: Ended): string => documentIn(stdout).error?.hint ?? "";

/** By name: how a message comes about. */
const scenes: Readonly<Record<string, () => Promise<Told>>> = {
  "a task without its flag": async () => {
    const place = newPlace();
    const model = place.cassette({ text: "Done." });
    const ended = await place.call(["run", "Fix it, now", "--model", model]);
    return {
      place,
      text: ended.stderr,
      offers: `run --task 'Fix it, now' --model ${model}`,
      promise: code(0),
    };
  },
  "an unknown flag": async () => {
    const place = newPlace();
    const ended = await place.call(["queue", "list", "--bogus"]);
    return {
      place,
      text: ended.stderr,
      offers: "queue list --help",
      promise: shows(/^Usage: holdfast queue list/),
    };
  },
  "a list of nothing": async () => {
    const place = newPlace();
    const { stdout } = await place.call(["session", "list"]);
    return { place, text: stdout, offers: "run --help", promise: shows(/^Usage: holdfast run/) };
  },
  "a page of a list": async () => {
    const { place } = await completed();
    await place.completed();
    const { stdout } = await place.call(["session", "list", "--limit", "1"]);
    const offers = "session list --limit 1 --cursor";
    return { place, text: stdout, offers, promise: shows(/ses_/) };
  },
  "a resume of nothing": async () => {
    const { place } = await completed();
    const ended = await place.call(["resume", "--json"]);
    return { place, text: hintOf(ended), offers: "session list --resumable", promise: shows(/ses_/) };
  },
  "a session that is not there": async () => {
    const { place } = await completed();
    const ended = await place.call(["send", "ses_x", "a", "--json"]);
    return { place, text: hintOf(ended), offers: "session list", promise: shows(/ses_/) };
  },
  "a session without a run": async () => {
    const place = newPlace();
    const engine = engineOn(place);
    const model = place.cassette({ text: "Done." });
    const request = { workspace: place.workspace, agent: "builtin", model, policy: {}, task: "x" };
    const session = await createSession(engine, request);
    const { stdout } = await place.call(["session", "show", session]);
    return { place, text: stdout, offers: `resume ${session}`, promise: code(0) };
  },
  "a run that is not there": async () => {
    const { place, session } = await completed();
    const ended = await place.call(["run", "show", session, "run_x", "--json"]);
    return { place, text: hintOf(ended), offers: `run list ${session}`, promise: shows(/run_/) };
  },
  "an operation that is not there": async () => {
    const { place, session } = await completed();
    const { runs } = documentIn((await place.call(["run", "list", session, "--json"])).stdout).data;
    const ended = await place.call(["run", "show", session, runs[0].run, "op_x", "--json"]);
    return {
      place,
      text: hintOf(ended),
      offers: `run show ${session} ${runs[0].run}`,
      promise: shows(/completed/),
    };
  },
  "a resolution in a run that is not there": async () => {
    const { place, session } = await completed();
    const ended = await place.call(["run", "resolve", session, "run_x", "op_x", "--not-executed", "--json"]);
    return { place, text: hintOf(ended), offers: `run list ${session}`, promise: shows(/run_/) };
  },
  "a resolution of an operation that is not there": async () => {
    const { place, session } = await completed();
    const { runs } = documentIn((await place.call(["run", "list", session, "--json"])).stdout).data;
    const resolution = ["run", "resolve", session, runs[0].run, "op_x", "--not-executed"];
    const ended = await place.call([...resolution, "--json"]);
    const offers = `run show ${session} ${runs[0].run}`;
    return { place, text: hintOf(ended), offers, promise: shows(/completed/) };
  },
  "work that is idle": async () => {
    const { place, session } = await completed({ text: "2" });
    const { stdout } = await place.call(["resume", session, "--format", "text"]);
    return { place, text: stdout, offers: `resume ${session} --task "…"`, promise: code(0) };
  },
  "a run that is over": async () => {
    const { place, session } = await completed({ text: "2" });
    const { stdout } = await place.call(["run", "show", session]);
    return { place, text: stdout, offers: `resume ${session} --task "…"`, promise: code(0) };
  },
  "a run that is over, and a message that waits": async () => {
    const { place, session } = await completed({ text: "2" });
    await place.call(["send", session, "Next."]);
    const { stdout } = await place.call(["session", "show", session]);
    return {
      place,
      text: stdout.slice(stdout.indexOf("\nnext")),
      offers: `resume ${session}`,
      promise: code(0),
    };
  },
  "a run that is suspended": async () => {
    const { place, session, ended } = await suspended({ text: "Done." });
    return { place, text: ended.stderr, offers: `resume ${session}`, promise: code(0) };
  },
  "a page of a suspended run": async () => {
    const { place, session } = await suspended({ text: "Done." });
    const { stdout } = await place.call(["run", "show", session]);
    return { place, text: stdout, offers: `resume ${session}`, promise: code(0) };
  },
  "a process that was told to leave": async () => {
    const place = newPlace();
    const model = place.cassette({ text: "So slowly that it is met at work.", perTokenMs: 300 });
    const running = place.start(["run", "--task", "x", "--model", model]);
    const session = sessionIn(await running.seen(/ses_[0-9a-z]{26}/));
    await running.seen(/"type":"live\.text"/);
    running.child.kill("SIGTERM");
    const ended = await running.ended;
    return { place, text: ended.stderr, offers: `resume ${session}`, promise: code(0) };
  },
  "an outcome that is unknown": async () => {
    const { place, session, operation, ended } = await unknown("jsonl");
    const error = await place.call(["resume", session, "--json"]);
    expect(ended.code).toBe(3);
    return {
      place,
      text: hintOf(error),
      offers: `run show ${session}`,
      promise: shows(new RegExp(operation)),
    };
  },
  "a page of an unknown outcome": async () => {
    const { place, session, operation } = await unknown("jsonl");
    const { stdout } = await place.call(["session", "show", session]);
    return { place, text: stdout, offers: `run show ${session}`, promise: shows(new RegExp(operation)) };
  },
  ...Object.fromEntries(
    ['--output "what it did"', '--output "how it failed" --is-error', "--not-executed"].map(
      (answer, index) => [
        `a person's answer: ${answer}`,
        async () => {
          const { place, session, ended } = await unknown("text");
          const commands = commandsIn(ended.stdout).filter((command) => command.includes(" run resolve "));
          const promise = shows(/^recorded/);
          return { place, text: commands[index] ?? "", offers: `run resolve ${session}`, promise };
        },
      ],
    ),
  ),
  "what comes after a person's answer": async () => {
    const { place, session, ended } = await unknown("text");
    const [answer = ""] = commandsIn(ended.stdout).filter((command) => command.includes(" run resolve "));
    const then = ended.stdout.slice(ended.stdout.indexOf("\nthen "));
    expect(commandsIn(then)).toEqual([`holdfast resume ${session}`]);
    const resolved = await runHint(place, answer);
    expect(resolved.stdout).toMatch(new RegExp(`next +holdfast resume ${session}`));
    return { place, text: then, offers: `resume ${session}`, promise: code(0) };
  },
  "another task while a person must speak": async () => {
    const { place, session, operation } = await unknown("jsonl");
    const ended = await place.call(["resume", session, "--task", "y", "--json"]);
    return {
      place,
      text: hintOf(ended),
      offers: `run show ${session}`,
      promise: shows(new RegExp(operation)),
    };
  },
  "another task while a run is open": async () => {
    const { place, session } = await suspended({ text: "Done." });
    const ended = await place.call(["resume", session, "--task", "y", "--json"]);
    return { place, text: hintOf(ended), offers: `resume ${session}`, promise: code(0) };
  },
  "another policy": async () => {
    const { place, session } = await suspended({ text: "Done." });
    const ended = await place.call(["resume", session, "--allow-shell", "--json"]);
    const [accept = "", without = ""] = hintOf(ended).split("\n");
    expect(accept).toContain(`resume ${session} --accept-policy --allow-shell`);
    return { place, text: without, offers: `resume ${session}`, promise: code(0) };
  },
  "another definition": async () => {
    const { place, session } = await suspended({ text: "Done." });
    const spec = join(place.folder, "agent.json");
    writeFileSync(spec, JSON.stringify({ ...defaultDefinition, metadata: { name: "other" } }));
    const ended = await place.call(["resume", session, "--spec", spec, "--json"]);
    return { place, text: hintOf(ended), offers: `resume ${session}`, promise: code(0) };
  },
  "nothing that could be accepted yet": async () => {
    const place = newPlace();
    const ended = await place.call(["run", "--task", "x", "--accept-policy", "--json"]);
    return { place, text: hintOf(ended), offers: "resume --help", promise: shows(/--accept-policy/) };
  },
  "an archived session": async () => {
    const { place, session } = await completed();
    const engine = engineOn(place);
    const { state } = await examine(engine, session);
    const held = await engine.store.hold(session, {
      version: "0",
      acceptRollback: false,
      visit: () => undefined,
      visitQueue: () => undefined,
    });
    const fact: Fact = { kind: "session.changed", archived: true };
    await held.append([fact, evolveRow(state.row, fact) as Fact]);
    await held.release(() => true);
    const ended = await place.call(["resume", session, "--json"]);
    expect(documentIn(ended.stdout).error).toMatchObject({ code: "not_resumable", reason: "archived" });
    return { place, text: hintOf(ended), offers: `session show ${session}`, promise: shows(/archived/) };
  },
  "a workspace that is gone": async () => {
    const { place, session } = await suspended({ text: "Done." });
    renameSync(place.workspace, `${place.workspace}-away`);
    const ended = await place.call(["resume", session, "--json"], { cwd: place.folder });
    expect(hintOf(ended)).toMatch(/^Put it back at that path, then run: /);
    renameSync(`${place.workspace}-away`, place.workspace);
    return { place, text: hintOf(ended), offers: `resume ${session}`, promise: code(0) };
  },
  "a branch that is another one": async () => {
    const place = newPlace();
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
        cwd: place.workspace,
        stdio: "ignore",
      });
    git("init", "-b", "it's-main");
    git("commit", "--allow-empty", "-m", "x");
    const model = place.cassette(refused, { text: "Done." });
    const session = sessionIn((await place.call(["run", "--task", "x", "--model", model])).stdout);
    git("switch", "-c", "other");
    const ended = await place.call(["resume", session, "--json"]);
    const [, back = ""] = /^Go back with: (.*?) — then run: /.exec(hintOf(ended)) ?? [];
    expect((await runInShell(place, back)).code).toBe(0);
    return { place, text: hintOf(ended), offers: `resume ${session}`, promise: code(0) };
  },
  "a key that another message has": async () => {
    const { place, session } = await completed();
    await place.call(["send", session, "This one.", "--key", "k"]);
    const ended = await place.call(["send", session, "That one.", "--key", "k", "--json"]);
    return {
      place,
      text: hintOf(ended),
      offers: `queue list ${session} --all`,
      promise: shows(/This one\./),
    };
  },
  "a message that waits for nobody": async () => {
    const { place, session } = await completed({ text: "2" });
    const { stdout } = await place.call(["send", session, "Next."]);
    return { place, text: stdout, offers: `resume ${session}`, promise: code(0) };
  },
  "a list of what waits for nobody": async () => {
    const { place, session } = await completed({ text: "2" });
    await place.call(["send", session, "Next."]);
    const { stdout } = await place.call(["queue", "list", session]);
    return { place, text: stdout, offers: `resume ${session}`, promise: code(0) };
  },
  "a message behind a run that failed": async () => {
    const place = newPlace();
    const model = place.cassette(fails);
    const session = sessionIn((await place.call(["run", "--task", "x", "--model", model])).stdout);
    const { stdout } = await place.call(["send", session, "Next."]);
    return { place, text: stdout, offers: `resume ${session}`, promise: code(1) };
  },
  "a message behind an unknown outcome": async () => {
    const { place, session, operation } = await unknown("jsonl");
    const { stdout } = await place.call(["send", session, "Next."]);
    return { place, text: stdout, offers: `run show ${session} run_`, promise: shows(new RegExp(operation)) };
  },
  "a message in a session that cannot go on": async () => {
    const { place, session } = await completed();
    renameSync(place.workspace, `${place.workspace}-away`);
    const { stdout } = await place.call(["send", session, "Next."], { cwd: place.folder });
    const promise = (ended: Ended) => {
      expect([ended.code, ended.stdout]).toEqual([6, expect.stringMatching(/✗ cwd-missing/)]);
    };
    return { place, text: stdout, offers: `resume ${session} --explain`, promise };
  },
  "a message that is blocked": async () => {
    const { place, session } = await completed({ text: "2" });
    await place.call(["send", session, "long ".repeat(9000), "--key", "k"]);
    const { deliveries } = documentIn((await place.call(["queue", "list", session, "--json"])).stdout).data;
    const blob = fileOf(place, session, `blobs/${deliveries[0].blob.sha256}`);
    const bytes = readFileSync(blob);
    writeFileSync(blob, "other bytes");
    await place.call(["resume", session]);
    // The same text again, by its key: it is told what became of it.
    writeFileSync(blob, bytes);
    const { stdout } = await place.call(["send", session, "long ".repeat(9000), "--key", "k"]);
    expect(stdout).toMatch(/state +blocked: /);
    return { place, text: stdout, offers: `queue list ${session}`, promise: shows(/blocked/) };
  },
  "a document of a queue that is all blocked": async () => {
    const { place, session } = await completed({ text: "2" });
    await place.call(["send", session, "long ".repeat(9000)]);
    const { deliveries } = documentIn((await place.call(["queue", "list", session, "--json"])).stdout).data;
    writeFileSync(fileOf(place, session, `blobs/${deliveries[0].blob.sha256}`), "other bytes");
    const { queue } = documentIn((await place.call(["resume", session, "--json"])).stdout).data;
    return { place, text: queue.held.next, offers: `queue list ${session}`, promise: shows(/blocked/) };
  },
  "an explanation of a session that is held": async () => {
    const place = newPlace();
    const model = place.cassette({ text: "So slowly that it is met at work.", perTokenMs: 3000 });
    const running = place.start(["run", "--task", "x", "--model", model]);
    const session = sessionIn(await running.seen(/ses_[0-9a-z]{26}/));
    await running.seen(/"type":"live\.text"/);
    const { stdout } = await place.call(["resume", session, "--explain"]);
    const promise = (ended: Ended) => {
      running.child.kill("SIGKILL");
      shows(/delivered after the run that is under way/)(ended);
    };
    return { place, text: stdout, offers: `send ${session} "…"`, promise };
  },
  "an explanation of an open run": async () => {
    const { place, session } = await suspended({ text: "Done." });
    const { stdout } = await place.call(["resume", session, "--explain"]);
    return { place, text: stdout, offers: `resume ${session}`, promise: code(0) };
  },
  "an explanation of an unknown outcome": async () => {
    const { place, session, operation } = await unknown("jsonl");
    const { stdout } = await place.call(["resume", session, "--explain"]);
    return { place, text: stdout, offers: `run show ${session} run_`, promise: shows(new RegExp(operation)) };
  },
  "a copied state directory": async () => {
    const { place, session } = await completed({ text: "2" });
    cpSync(place.state, `${place.state}-copy`, { recursive: true });
    const send = ["send", session, "Next.", "--json", "--state-dir", `${place.state}-copy`];
    const ended = await place.call(send);
    const promise = async (adopted: Ended) => {
      expect(adopted.code).toBe(0);
      expect((await place.call(send)).code).toBe(0);
    };
    return { place, text: hintOf(ended), offers: "store adopt", promise };
  },
  "a damaged log": async () => {
    const { place, session } = await completed();
    edit(place.log(session), (lines) => lines.with(4, (lines[4] ?? "").replace(/\d/, "x")));
    const ended = await place.call(["resume", session, "--json"]);
    return {
      place,
      text: hintOf(ended),
      offers: `session show ${session}`,
      promise: shows(/damaged +line 5/),
    };
  },
  "a damaged queue": async () => {
    const { place, session } = await completed();
    edit(fileOf(place, session, "queue.jsonl"), (lines) =>
      lines.with(0, (lines[0] ?? "").replace(/\d/, "x")),
    );
    const ended = await place.call(["resume", session, "--json"]);
    return {
      place,
      text: hintOf(ended),
      offers: `session show ${session}`,
      promise: shows(/queue +damaged/),
    };
  },
  "a log that is as long as it was, and does not verify": async () => {
    const { place, session } = await completed();
    edit(place.log(session), (lines) => lines.with(-2, "x".repeat((lines.at(-2) ?? "").length)));
    const path = place.log(session);
    writeFileSync(path, readFileSync(path, "utf8").slice(0, -1) + "x");
    const ended = await place.call(["resume", session, "--json"]);
    expect(documentIn(ended.stdout).error).toMatchObject({ code: "log_damaged" });
    return {
      place,
      text: hintOf(ended),
      offers: `session show ${session}`,
      promise: shows(/completed|running/),
    };
  },
  "a log that was put back": async () => {
    const { place, session } = await completed();
    edit(place.log(session), (lines) => [...lines.slice(0, 3), ""]);
    const ended = await place.call(["resume", session, "--json"]);
    return { place, text: hintOf(ended), offers: `resume ${session} --accept-rollback`, promise: code(0) };
  },
  "a log that was put back, and of whose end only the queue knows": async () => {
    const { place, session } = await completed();
    edit(place.log(session), (lines) => [...lines.slice(0, 2), ""]);
    writeFileSync(fileOf(place, session, "head"), "");
    const ended = await place.call(["resume", session, "--json"]);
    expect(documentIn(ended.stdout).error).toMatchObject({ code: "queue_damaged" });
    return { place, text: hintOf(ended), offers: `resume ${session} --accept-rollback`, promise: code(0) };
  },
  "a write of which nobody knows what is on disk": async () => {
    const { place, session } = await completed({ text: "2" });
    const host = nodeHost({ environment: {} });
    await new HeadKeeper(host, folderOf(place.state, session)).unsureBytes("log").note(100);
    const ended = await place.call(["resume", session, "--json"]);
    expect(documentIn(ended.stdout).error).toMatchObject({ code: "durability_unknown" });
    const promise = async (repaired: Ended) => {
      expect(repaired.code).toBe(0);
      expect((await place.call(["resume", session, "--task", "y"])).code).toBe(0);
    };
    return { place, text: hintOf(ended), offers: `session repair ${session}`, promise };
  },
  "a session that was taken over": async () => {
    const place = newPlace();
    const turns = [{ text: "Slowly, word by word.", perTokenMs: 300, ...fails }, { text: "Done." }];
    const running = place.start(["run", "--task", "x", "--model", place.cassette(...turns)]);
    const session = sessionIn(await running.seen(/ses_[0-9a-z]{26}/));
    await running.seen(/"type":"live\.text"/);
    const lease = fileOf(place, session, "lease");
    renameSync(lease, `${lease}-away`);
    writeFileSync(lease, "");
    const last = linesOf((await running.ended).stdout).at(-1);
    expect(last).toMatchObject({ type: "error", code: "fenced" });
    const text = String(last?.["hint"]);
    return { place, text, offers: `session show ${session}`, promise: shows(/state +not active/) };
  },
  "a cassette that is there already": async () => {
    const { place, session } = await completed();
    const output = join(place.folder, "it's recorded.yaml");
    const record = ["session", "record", session, "--output", output];
    expect((await place.call(record)).code).toBe(0);
    const ended = await place.call([...record, "--json"]);
    return { place, text: hintOf(ended), offers: `session record ${session}`, promise: code(0) };
  },
  "a cassette that was recorded": async () => {
    const { place, session } = await completed();
    const { stdout } = await place.call([
      "session",
      "record",
      session,
      "--output",
      join(place.folder, "r.yaml"),
    ]);
    const text = stdout.replace("COPY", place.workspace).replace("TASK", "'A task'");
    return { place, text, offers: `run --workspace ${place.workspace} --model cassette:`, promise: code(0) };
  },
  "what a recorded cassette is to be told": async () => {
    const { place, session } = await completed();
    const { stdout } = await place.call([
      "session",
      "record",
      session,
      "--output",
      join(place.folder, "r.yaml"),
    ]);
    return { place, text: stdout, offers: `run show ${session}`, promise: shows(/A task/) };
  },
  "what a recorded cassette of two tasks is to be told": async () => {
    const { place, session } = await completed({ text: "2" });
    expect((await place.call(["resume", session, "--task", "B task"])).code).toBe(0);
    const { stdout } = await place.call([
      "session",
      "record",
      session,
      "--output",
      join(place.folder, "r.yaml"),
    ]);
    return { place, text: stdout, offers: `run list ${session}`, promise: shows(/run_.*\nrun_/) };
  },
  "the end of the demo": async () => {
    const place = newPlace();
    const { stdout } = await place.call(["demo"]);
    return { place, text: stdout, offers: "session show", promise: shows(/completed/) };
  },
};

/** Where a command stands in the sources: the file and the words behind the program's name. And who bring it about. */
const proven: Readonly<Record<string, readonly string[]>> = {
  "cli/command-line.ts: …": ["a task without its flag"],
  "cli/command-line.ts: … --help": ["an unknown flag"],
  "cli/commands/run-resolve.ts: resume …": ["what comes after a person's answer"],
  "cli/commands/run-show.ts: run show … …": ["an operation that is not there"],
  "cli/commands/session-list.ts: run --help": ["a list of nothing"],
  "cli/commands/session-list.ts: session list… --cursor …": ["a page of a list"],
  "cli/commands/session-record.ts: run --workspace COPY --model cassette:… --task TASK": [
    "a cassette that was recorded",
  ],
  "cli/commands/session-record.ts: run list …": ["what a recorded cassette of two tasks is to be told"],
  "cli/commands/session-record.ts: run show …": ["what a recorded cassette is to be told"],
  "cli/commands/session-show.ts: resume …": ["a session without a run"],
  "cli/declare-runs.ts: resume --help": ["nothing that could be accepted yet"],
  "cli/declare-runs.ts: session list --resumable": ["a resume of nothing"],
  "cli/demo/run-demo.ts: session show …": ["the end of the demo"],
  "cli/progress/summary.ts: resume …": ["what comes after a person's answer"],
  'cli/progress/text.ts: resume … --task "…': ["work that is idle"],
  "cli/text/resolve-commands.ts: run resolve …": [
    'a person\'s answer: --output "what it did"',
    'a person\'s answer: --output "how it failed" --is-error',
    "a person's answer: --not-executed",
  ],
  "cli/text/way-on.ts: resume ……": ["a run that is over", "a run that is over, and a message that waits"],
  "cli/text/way-on.ts: resume …": ["a page of a suspended run"],
  "cli/text/way-on.ts: run show …": ["a page of an unknown outcome"],
  "cli/watch.ts: resume …": ["a process that was told to leave"],
  "cli/work.ts: resume …": ["a run that is suspended"],
  "cli/work.ts: run show …": ["an outcome that is unknown"],
  "engine/admit.ts: queue list … --all": ["a key that another message has"],
  "engine/deliver.ts: resume … --accept-rollback": [
    "a log that was put back, and of whose end only the queue knows",
  ],
  "engine/explain-resume.ts: resume ………": ["an explanation of an open run"],
  "engine/explain-resume.ts: run show … …": ["an explanation of an unknown outcome"],
  'engine/explain-resume.ts: send … "…': ["an explanation of a session that is held"],
  "engine/list-queue.ts: resume …": ["a list of what waits for nobody"],
  "engine/read-session.ts: run list …": ["a run that is not there"],
  "engine/record-resolution.ts: run list …": ["a resolution in a run that is not there"],
  "engine/record-resolution.ts: run show … …": ["a resolution of an operation that is not there"],
  "engine/record-session.ts: … --force": ["a cassette that is there already"],
  "engine/resume-verdict.ts: session show …": ["an archived session"],
  "engine/drift.ts: resume …": ["another definition", "another policy"],
  "engine/resume.ts: resume …": ["another task while a run is open"],
  "engine/resume.ts: run show …": ["another task while a person must speak"],
  "engine/send.ts: queue list …": ["a message that is blocked"],
  "engine/send.ts: resume …": ["a message that waits for nobody"],
  "engine/workspace.ts: resume …": ["a workspace that is gone", "a branch that is another one"],
  "model/queue-hold.ts: queue list …": ["a document of a queue that is all blocked"],
  "model/queue-hold.ts: resume …": ["a message behind a run that failed"],
  "model/queue-hold.ts: resume … --explain": ["a message in a session that cannot go on"],
  "model/queue-hold.ts: run show … …": ["a message behind an unknown outcome"],
  "store/damage-errors.ts: session show …": ["a damaged log", "a damaged queue"],
  "store/head-keeper.ts: session repair …": ["a write of which nobody knows what is on disk"],
  "store/judge-end.ts: resume … --accept-rollback": ["a log that was put back"],
  "store/judge-end.ts: session show …": ["a log that is as long as it was, and does not verify"],
  "store/state-directory.ts: store adopt": ["a copied state directory"],
  "store/store.ts: session list": ["a session that is not there"],
  "store/write-errors.ts: session show …": ["a session that was taken over"],
};

/** What no call of the program brings about, and why; each is a command that another place offers as well. */
const unseen: Readonly<Record<string, string>> = {
  "cli/declare.ts: …": "the examples of help, which a test of their own reads",
  "cli/demo/report.ts: …, process …": "no command: what the demo says that it started",
  "engine/send.ts: resume … --explain": "the session was lost between two looks at it",
  "engine/stop-run.ts: queue list …": "no command of this program stops a run yet",
  "engine/worker.ts: resume …":
    "whoever interrupts the program tells it himself; this is for users of the library",
  "store/find-message.ts: session show …": "no command gives a message an id",
  "store/lease.ts: session list": "the session was lost between two looks at it",
  "store/write-errors.ts: session repair …": "takes a disk that fails twice",
};

/** Every command that a text of ours offers. */
function commandsInSources(): string[] {
  const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  const offers =
    /(?:holdfast|\$\{(?:[\w.]+\.)?program\}) ((?:agent|run|resume|send|queue|session|store|demo|\$\{)[^`\n]*)/g;
  return files.toSorted().flatMap((name) => {
    const text = readFileSync(join("src", name), "utf8");
    const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "");
    return [...code.matchAll(offers)].map(([, words = ""]) => {
      const plain = words
        .replaceAll(/\$\{[^}]*\}/g, "…")
        .replace(/ — .*/, "")
        .replace(/["\\,\s]+$/, "");
      return `${name}: ${plain}`;
    });
  });
}

describe("every command that a message offers", () => {
  test("is one of those that are proven here, or cannot be brought about with the program", () => {
    const known = [...Object.keys(proven), ...Object.keys(unseen)];
    expect([...new Set(commandsInSources())].toSorted()).toEqual(known.toSorted());
    expect(new Set(Object.values(proven).flat())).toEqual(new Set(Object.keys(scenes)));
  });

  test.concurrent.each(Object.keys(scenes))("works as it stands: %s", async (name) => {
    const told = await scenes[name]?.();
    if (told === undefined) throw new Error("there is no such scene");
    const { place, text, offers, promise } = told;
    const offered = commandsIn(text).find((command) => wordsOf(command).startsWith(offers));
    expect(offered, `${offers} in ${JSON.stringify(text)}`).toBeDefined();
    const ended = await runHint(place, offered ?? "");
    expect([0, 1, 3, 5, 6, 7, 8, 9, 10, 11], ended.stderr).toContain(ended.code);
    await promise(ended);
  });
});

/** What a command says behind the program's name and its global flags. */
function wordsOf(command: string): string {
  return command.replace(/^holdfast (?:--state-dir \S+ )?/, "");
}

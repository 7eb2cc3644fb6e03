import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { nodeHost } from "../../src/host/index.ts";
import type { Fact } from "../../src/model/facts.ts";
import { evolveRow } from "../../src/model/row.ts";
import { HeadKeeper } from "../../src/store/head-keeper.ts";
import { folderOf } from "../../src/store/session-folder.ts";
import { examine } from "../engine/examine.ts";
import { engineOn } from "./asking.ts";
import type { Scenes } from "./hint-scene.ts";
import { code, completed, edit, fails, fileOf, hintOf } from "./hint-scene.ts";
import { newPlace, refused, shows, suspended, unknown } from "./hint-scene.ts";
import { runInShell } from "./hints.ts";
import type { Ended } from "./program.ts";
import { documentIn, linesOf, sessionIn } from "./program.ts";

/** Messages about sessions that cannot go on as they are, and about what waits for them. */

/** By name: how a message comes about. */
export const scenesOfRefusals: Scenes = {
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

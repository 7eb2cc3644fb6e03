import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseCassette } from "../../src/agents/builtin/models/cassette.ts";
import { sha256 } from "../../src/host/index.ts";
import type { CassetteTurn } from "../../src/model/cassette.ts";
import type { Commit } from "../../src/model/commit.ts";
import type { Fact, Row, SessionCreated } from "../../src/model/facts.ts";
import { environmentOf } from "../agents/wire.ts";
import { comparableFacts, type ComparableFact } from "../engine/comparable.ts";
import { startModelServer, type ModelServer, type ModelTurn } from "../peers/model-server.ts";
import { engineOn } from "./asking.ts";
import { runHint } from "./hints.ts";
import { documentIn, Place, processesNaming, sessionIn } from "./program.ts";

const place = new Place();
let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(async () => {
  place.remove();
  await server.close();
});

let folders = 0;
/** A path for a new file, in a folder of its own. */
function newFile(name = "recorded.yaml"): string {
  const folder = join(place.folder, `folder-${++folders}`);
  mkdirSync(folder);
  return join(folder, name);
}

function commitsOf(session: string): Commit[] {
  const lines = readFileSync(place.log(session), "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as Commit);
}

function turnsIn(path: string): readonly CassetteTurn[] {
  return parseCassette(readFileSync(path), path).turns;
}

/** Every file of the state directory with its bytes and times: what reading leaves as it is. */
function stateOf(): Record<string, string> {
  const names = readdirSync(place.state, { recursive: true, encoding: "utf8" }).toSorted();
  return Object.fromEntries(
    names.map((name) => {
      const path = join(place.state, name);
      const stat = statSync(path, { bigint: true });
      const content = stat.isFile() ? readFileSync(path).toString("base64") : "";
      return [name, `${stat.ino} ${stat.mode} ${stat.mtimeNs} ${content}`];
    }),
  );
}

/** Records a session into a file of its own and gives the document. */
async function record(session: string, path: string, ...flags: string[]): Promise<Record<string, unknown>> {
  const ended = await place.call(["session", "record", session, "--output", path, "--json", ...flags]);
  const { ok, kind, data } = documentIn(ended.stdout);
  expect([ended.code, ok, kind]).toEqual([0, true, "session_record"]);
  return data as Record<string, unknown>;
}

/** Who answered, by what name and under which ids of its own: what a replay cannot have. */
function withoutProvider(facts: readonly ComparableFact[]): ComparableFact[] {
  const foreign = new Set(["provider", "model", "cassetteIndex", "call", "responseId"]);
  return facts.map((fact) => Object.fromEntries(Object.entries(fact).filter(([name]) => !foreign.has(name))));
}

const call = (name: string, args: string, id: string) => ({ id, name, args });
/** Two tasks: all tools, reads side by side, a retry, an answer that broke off, arguments with blanks, an unknown tool. */
const story: readonly ModelTurn[] = [
  {
    reasoning: { text: "Two small files\nare enough.", signature: "c2lnbmF0dXJl" },
    text: "I write.",
    calls: [
      call("write", '{"path": "src/new.txt", "content": "one\\ntwo\\n"}', "toolu_1"),
      call("write", '{"path":"src/waste.txt","content":"x\\n"}', "toolu_2"),
      call("edit", '{"path":"letter.txt","old":"old","new":"new"}', "toolu_3"),
      call("delete", '{"path":"src/waste.txt"}', "toolu_4"),
    ],
    usage: { input: 120, output: 30, cachedInput: 20 },
  },
  { error: { status: 429, body: { error: { message: "slow down" } }, headers: { "retry-after-ms": "7" } } },
  { text: "This answer is going to break off", cut: 4 },
  {
    calls: [
      call("read", '{"path":"src/new.txt","limit":1}', "toolu_5"),
      call("glob", '{"pattern":"**/*.txt"}', "toolu_6"),
      call("grep", '{"pattern":"t","path":"src"}', "toolu_7"),
      call("fly", '{"to": "the moon"}', "toolu_8"),
    ],
  },
  {
    text: "I run something.",
    calls: [
      call("exec", '{"command":"cat src/new.txt; cat letter.txt","timeoutMs":60000}', "toolu_9"),
      call("exec", '{"command": "echo failed >&2; exit 3"}', "toolu_10"),
    ],
    usage: { input: 300, output: 40 },
  },
  { text: "Done.", usage: { input: 400, output: 3 } },
  { text: "Now the next.", calls: [call("read", '{"path":"letter.txt"}', "toolu_11")] },
  { text: "Half of the las", stop: "max_tokens" },
];

describe("a session that ran through", () => {
  /** Both tasks in a fresh copy of the workspace; resolves to the session. */
  async function bothTasks(model: string): Promise<string> {
    rmSync(place.workspace, { recursive: true });
    cpSync(join(place.folder, "original"), place.workspace, { recursive: true });
    const env = environmentOf(server.url);
    const first = await place.call(["run", "--task", "Do it.", "--model", model, "--allow-shell"], { env });
    expect([first.code, first.stderr]).toEqual([0, ""]);
    const session = sessionIn(first.stdout);
    const second = await place.call(["resume", session, "--task", "And the next."], { env });
    // Its last answer was cut by the provider.
    expect(second.code).toBe(1);
    return session;
  }

  test("is replayed into a fresh copy of the workspace with the same facts but for ids, times and inodes", async () => {
    cpSync(place.workspace, join(place.folder, "original"), { recursive: true });
    writeFileSync(join(place.folder, "original", "letter.txt"), "old\n");
    server.push(...story);
    const real = await bothTasks("anthropic/claude-sonnet-4-5");
    const kinds = new Set(commitsOf(real).flatMap(({ facts }) => facts.map((fact) => fact.kind)));
    for (const kind of ["model.failed", "op.known", "run.ended"]) expect(kinds).toContain(kind);
    const path = newFile("story.yaml");
    const before = stateOf();
    expect(await record(real, path)).toMatchObject({
      turns: 8,
      answers: 6,
      errors: 2,
      tasks: 2,
      redacted: 0,
    });
    expect(stateOf()).toEqual(before);

    const replayed = await bothTasks(`cassette:${path}`);
    const [factsOfReal, factsOfReplay] = [real, replayed].map((one) => comparableFacts(commitsOf(one)));
    const isOfRow = (fact: ComparableFact) => fact["kind"] === "row" || fact["kind"] === "session.created";
    const compared = (facts: ComparableFact[] = []) =>
      withoutProvider(facts).map((fact) => (isOfRow(fact) ? { ...fact, model: "(any)" } : fact));
    expect(compared(factsOfReplay)).toEqual(compared(factsOfReal));

    // Recorded again it is the same cassette, whose replay differs in nothing at all.
    const again = newFile("story.yaml");
    await record(replayed, again);
    expect(readFileSync(again, "utf8")).toBe(readFileSync(path, "utf8"));
    const third = await bothTasks(`cassette:${again}`);
    expect(comparableFacts(commitsOf(third))).toEqual(factsOfReplay);
  });
});

describe("a session that was killed, denied, retried and resolved", () => {
  test("gives a cassette of exactly its whole answers and its errors, which plays to the end", async () => {
    writeFileSync(join(place.workspace, "letter.txt"), "old\n");
    const said = "These are some words that take a while to be said, one by one, until they are all there.";
    const command = "echo started; [ -e go ] || sleep 300";
    const model = place.cassette(
      { text: "I write.", calls: [{ tool: "write", args: { path: "denied.txt", content: "x" } }] },
      { error: { status: 503, message: "overloaded" } },
      { reasoning: "It takes long.", calls: [{ tool: "exec", args: { command } }] },
      { text: said, perTokenMs: 100, calls: [{ tool: "read", args: { path: "letter.txt" } }] },
      { text: "Done." },
    );
    const session = await sessionThatAsks(model, { write: "ask" });
    await killedAt(session, /"type":"live\.output"/);
    const unknown = await place.call(["resume", session, "--json"]);
    expect(unknown.code).toBe(3);
    const [operation] = documentIn(unknown.stdout).data.operations.filter(
      (one: { state: string }) => one.state === "unknown",
    );
    const { run } = documentIn(unknown.stdout).data;
    const resolved = await place.call(["run", "resolve", session, run, operation.id, "--output", "it ran"]);
    expect(resolved.code).toBe(0);
    await killedAt(session, /"type":"live\.text"/);
    expect((await place.call(["resume", session])).code).toBe(0);

    const facts = commitsOf(session).flatMap((commit) => commit.facts as Fact[]);
    expect(facts.filter((fact) => fact.kind === "op.known").map((fact) => fact.outcome)).toContain("denied");
    expect(facts.filter((fact) => fact.kind === "op.resolved")).toHaveLength(1);
    const path = newFile();
    expect(await record(session, path)).toMatchObject({
      turns: 5,
      answers: 4,
      errors: 1,
      leftOut: { interrupted: 1, exhausted: 0 },
    });
    const turns = turnsIn(path);
    expect(turns.map((turn) => outlineOfTurn(turn))).toEqual(outlinesOfFacts(facts));
    expect(turns).toContainEqual({ text: said, calls: [{ tool: "read", args: { path: "letter.txt" } }] });

    writeFileSync(join(place.workspace, "go"), "");
    const played = await place.call([
      "run",
      "--task",
      "Again",
      "--model",
      `cassette:${path}`,
      "--allow-shell",
    ]);
    expect([played.code, played.stderr]).toEqual([0, ""]);
    const again = newFile();
    await record(sessionIn(played.stdout), again);
    expect(readFileSync(again, "utf8")).toBe(readFileSync(path, "utf8"));
  });

  /** A session with its first task, under a policy that no flag gives. */
  async function sessionThatAsks(
    model: string,
    approvals: SessionCreated["policy"]["approvals"],
  ): Promise<string> {
    const [created, row] = (commitsOf(await place.completed())[0]?.facts ?? []) as [SessionCreated, Row];
    const cassette = readFileSync(model.replace("cassette:", ""));
    const reference = { sha256: sha256(cassette), bytes: cassette.length };
    const choice = { provider: "cassette", model: "story.json", cassette: reference };
    const { store } = engineOn(place);
    const delivery = { delivery: "dlv_1", idempotencyKey: "dlv_1", logSeq: 0, source: "user" } as const;
    return await store.create({
      created: { ...created, model: choice, policy: { ...created.policy, approvals } },
      row,
      blobs: [cassette],
      queue: [{ kind: "delivery.admitted", ...delivery, text: "Do it.", mode: "queue" }],
    });
  }

  /** Resumes, and kills everything of the session once its output says so. */
  async function killedAt(session: string, seen: RegExp): Promise<void> {
    const running = place.start(["resume", session]);
    await running.seen(seen);
    running.child.kill("SIGKILL");
    await running.ended;
    for (const pid of processesNaming(session)) process.kill(pid, "SIGKILL");
  }

  /** What a turn is, as it can be told of facts, too. */
  function outlineOfTurn(turn: CassetteTurn): unknown {
    if ("error" in turn) return turn.error.message;
    return [turn.reasoning, turn.text, ...(turn.calls ?? []).map((one) => one.args)];
  }

  function outlinesOfFacts(facts: readonly Fact[]): unknown[] {
    const outlines: unknown[] = [];
    for (const fact of facts) {
      if (fact.kind === "model.failed") outlines.push(fact.message);
      if (fact.kind !== "message" || fact.role !== "assistant" || fact.interrupted === true) continue;
      const told: [unknown, unknown, ...unknown[]] = [undefined, undefined];
      for (const part of fact.parts) {
        if (part.type === "reasoning") told[0] = part.text;
        else if (part.type === "text") told[1] = part.text;
        else if (part.type === "tool_call") told.push(part.args);
      }
      outlines.push(told);
    }
    return outlines;
  }
});

describe("a recording", () => {
  test("of a session that is worked on holds what it was answered by now, and says so", async () => {
    const command = "echo started; while ! [ -e end ]; do sleep 0.05; done";
    const calls = [{ tool: "exec", args: { command } }];
    const model = place.cassette({ text: "I wait.", calls }, { text: "Done." });
    const running = place.start(["run", "--task", "Wait", "--model", model, "--allow-shell"]);
    await running.seen(/"type":"live\.output"/);
    const session = sessionIn(await running.seen(/ses_[0-9a-z]{26}/));
    const path = newFile();
    const ended = await place.call(["session", "record", session, "--output", path, "--json"]);
    expect(documentIn(ended.stdout).data).toMatchObject({ answers: 1, active: true });
    expect(ended.stderr).toMatch(/^holdfast: a process works on the session/);
    expect(turnsIn(path)).toEqual([{ text: "I wait.", calls }]);
    writeFileSync(join(place.workspace, "end"), "");
    expect((await running.ended).code).toBe(0);
    expect(await record(session, path, "--force")).toMatchObject({ answers: 2, active: false });
    expect(turnsIn(path)).toEqual([{ text: "I wait.", calls }, { text: "Done." }]);
  });

  test("of a session without an answer is a cassette without turns, and that is told", async () => {
    const model = place.cassette({ text: "Never.", firstTokenMs: 3_600_000 });
    const running = place.start(["run", "--task", "Wait", "--model", model]);
    await running.seen(/"type":"model\.requested"/);
    const session = sessionIn(await running.seen(/ses_[0-9a-z]{26}/));
    running.child.kill("SIGKILL");
    await running.ended;
    const path = newFile();
    const ended = await place.call(["session", "record", session, "--output", path]);
    expect([ended.code, ended.stdout]).toEqual([0, expect.stringMatching(/^✓ 0 answers in /)]);
    expect(ended.stderr).toMatch(/holds no answer of a model[^]*left out: 1 call that got no whole answer/);
    expect(turnsIn(path)).toEqual([]);
    const played = await place.call(["run", "--task", "x", "--model", `cassette:${path}`]);
    expect([played.code, played.stdout]).toEqual([1, expect.stringContaining("cassette_exhausted")]);
  });

  test("is for its owner alone; JSON where its name says so, and what standard output gets is the same", async () => {
    const session = await place.completed(
      "Say it",
      { text: "One\ntwo" },
      { error: { message: "never asked" } },
    );
    const [yaml, json] = [newFile("a.yaml"), newFile("a.json")];
    const umask = process.umask(0);
    await record(session, yaml);
    await record(session, json);
    process.umask(umask);
    expect(turnsIn(json)).toEqual([{ text: "One\ntwo" }]);
    expect(JSON.parse(readFileSync(json, "utf8"))).toEqual({ cassette: 1, turns: [{ text: "One\ntwo" }] });
    for (const path of [yaml, json]) expect(statSync(path).mode & 0o777).toBe(0o600);
    const ended = await place.call(["session", "record", session, "--output", "-"]);
    expect(ended).toEqual({ code: 0, stdout: readFileSync(yaml, "utf8"), stderr: "" });
    expect(ended.stdout).toBe("cassette: 1\nturns:\n  - text: |-\n      One\n      two\n");
  });

  test("with timings takes the time that the model took; without them none", async () => {
    const session = await place.completed("Slowly", {
      text: "One two three",
      firstTokenMs: 60,
      perTokenMs: 30,
    });
    const path = newFile();
    await record(session, path);
    expect(turnsIn(path)).toEqual([{ text: "One two three" }]);
    await record(session, path, "--force", "--timings");
    const [turn] = turnsIn(path) as [{ firstTokenMs: number; perTokenMs: number }];
    const answered = commitsOf(session)
      .flatMap((commit) => commit.facts as Fact[])
      .find((fact) => fact.kind === "model.answered");
    const took = answered?.durationMs ?? 0;
    expect(turn.firstTokenMs).toBe(Math.round(answered?.firstTokenMs ?? 0));
    expect(Math.abs(turn.firstTokenMs + 3 * turn.perTokenMs - took)).toBeLessThanOrEqual(3);
  });

  test("replaces no file unless it is told to, by the command that the hint names; then also behind a link", async () => {
    const session = await place.completed();
    const path = newFile("it's.yaml");
    writeFileSync(path, "mine\n");
    const link = newFile("link.yaml");
    symlinkSync(path, link);
    for (const name of [path, link]) {
      writeFileSync(path, "mine\n");
      const ended = await place.call(["session", "record", session, "--output", name, "--timings", "--json"]);
      const { error } = documentIn(ended.stdout);
      expect([ended.code, error?.code, readFileSync(path, "utf8")]).toEqual([8, "exists", "mine\n"]);
      if (name === path) continue;
      expect((await runHint(place, error?.hint ?? "")).code).toBe(0);
      expect(turnsIn(path)).toMatchObject([{ text: "Done." }]);
      expect(lstatSync(link).isSymbolicLink()).toBe(true);
    }
  });

  test("goes nowhere but into an ordinary file outside of the state directory", async () => {
    const session = await place.completed();
    const inState = join(place.state, "sessions", session, "log.jsonl");
    const refused: (readonly [RegExp, ...string[]])[] = [
      [/nothing says where/],
      [/names no file/, "--output", ""],
      [/both want standard output/, "--output", "-", "--json"],
      [/is a directory/, "--output", place.workspace, "--force"],
      [/is no ordinary file/, "--output", "/dev/null", "--force"],
      [/there is no directory/, "--output", join(place.folder, "none", "x.yaml")],
      [/lies in the state directory/, "--output", inState, "--force"],
      [/lies in the state directory/, "--output", join(place.state, "x.yaml")],
    ];
    const before = stateOf();
    for (const [message, ...flags] of refused) {
      const ended = await place.call(["session", "record", session, ...flags]);
      expect([flags, ended.code, ended.stderr + ended.stdout]).toEqual([
        flags,
        2,
        expect.stringMatching(message),
      ]);
    }
    expect(stateOf()).toEqual(before);
  });

  test("of a damaged session is refused, and no file is made", async () => {
    const session = await place.completed();
    const bytes = readFileSync(place.log(session));
    bytes[bytes.indexOf(0x0a) + 200] = 0x21;
    writeFileSync(place.log(session), bytes);
    const path = newFile();
    const ended = await place.call(["session", "record", session, "--output", path, "--json"]);
    const { error } = documentIn(ended.stdout);
    expect([ended.code, error?.code, existsSync(path)]).toEqual([7, "log_damaged", false]);
    expect((await runHint(place, error?.hint ?? "")).code).toBe(0);
    const none = await place.call(["session", "record", "ses_none", "--output", path, "--json"]);
    expect([none.code, documentIn(none.stdout).error?.code]).toEqual([8, "not_found"]);
  });

  test("is told in 80 columns, with the command that plays it", async () => {
    const model = place.cassette({ error: { status: 500, message: "no" } }, { text: "Done." });
    const run = await place.call(["run", "--task", "x", "--model", model]);
    const session = sessionIn(run.stdout);
    expect((await place.call(["resume", session, "--task", "y"])).code).toBe(1);
    const ended = await place.call(["session", "record", session, "--output", "r.yaml"]);
    rmSync(join(place.workspace, "r.yaml"));
    expect(ended.stdout.replaceAll(session, "SES")).toMatchInlineSnapshot(`
      "✓ 1 answer and 1 error in r.yaml (153 bytes)
      Play it in a copy of the workspace as it was, with the same policy flags:
        holdfast run --workspace COPY --model cassette:r.yaml --task TASK
      Its 2 tasks, the first for run and each other one for resume:
        holdfast run list SES
      "
    `);
    expect(ended.stderr).toMatchInlineSnapshot(`
      "holdfast: left out: that the session's own cassette had no further turn
      "
    `);
    for (const line of (ended.stdout + ended.stderr).split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });
});

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Fact } from "../../src/model/facts.ts";
import { faultOfFact, isKnownKind } from "../../src/model/facts.ts";
import type { Line } from "./program.ts";
import { documentIn, linesOf, Place, sessionIn } from "./program.ts";

const place = new Place();
afterAll(() => place.remove());

const writeCall = (path: string) => ({ tool: "write", args: { path, content: "hello\n" } });

describe("JSON Lines", () => {
  let lines: Line[];
  let session: string;
  beforeAll(async () => {
    const model = place.cassette(
      {
        reasoning: "I look first.",
        text: "I write.",
        calls: [writeCall("a.txt"), { tool: "read", args: { path: "a.txt" } }],
      },
      { calls: [{ tool: "exec", args: { command: "echo out; exit 3" } }], usage: { input: 10, output: 5 } },
      { text: "All is written." },
    );
    const ended = await place.call(["run", "--task", "Write it", "--model", model, "--allow-shell"]);
    expect([ended.code, ended.stderr]).toEqual([0, ""]);
    lines = linesOf(ended.stdout);
    session = sessionIn(ended.stdout);
  });

  test("the first line is the session's creation and the last one the run's end", () => {
    expect(lines[0]).toMatchObject({ schema: 1, seq: 0, session, type: "session.created" });
    expect(lines.at(-1)).toMatchObject({
      type: "run.ended",
      status: "completed",
      text: "All is written.",
      turns: 3,
    });
    expect(lines.at(-1)?.["usage"]).toEqual({ input: 10, output: 5, lowerBound: true });
  });

  test("durable lines are the log's own facts in order, but for the row and the release", () => {
    const log = readFileSync(place.log(session), "utf8").trim().split("\n");
    const facts = log.flatMap((text) => {
      const { seq, at, facts: told } = JSON.parse(text) as { seq: number; at: number; facts: Fact[] };
      return told
        .filter(({ kind }) => kind !== "row" && kind !== "lease.released")
        .map(({ kind: type, ...fields }) => ({ schema: 1, seq, at, session, type, ...fields }));
    });
    expect(lines.filter((line) => "seq" in line)).toEqual(facts);
  });

  test("every durable line holds a legal fact, and seq never falls", () => {
    let last = -1;
    for (const { schema, seq, at, session: of, type: kind, ...fields } of lines.filter(
      (line) => "seq" in line,
    )) {
      expect(isKnownKind(kind)).toBe(true);
      expect(faultOfFact({ kind, ...fields })).toBeUndefined();
      expect([schema, typeof at, of]).toEqual([1, "number", session]);
      expect(seq).toBeGreaterThanOrEqual(last);
      last = seq as number;
    }
  });

  test("what is streamed is marked as transient: it has no seq", () => {
    const live = lines.filter((line) => !("seq" in line));
    expect(new Set(live.map(({ type }) => type))).toEqual(
      new Set(["live.reasoning", "live.text", "live.output"]),
    );
    const textOf = (type: string) =>
      live
        .filter((line) => line.type === type)
        .map((line) => line["text"])
        .join("");
    expect(textOf("live.output")).toBe("out\n");
    expect(textOf("live.text")).toBe("I write.All is written.");
  });

  test("--format jsonl says the same in a document's place, and --format text says it for people", async () => {
    const model = place.cassette({ text: "Done." });
    const text = await place.call(["--format", "text", "run", "--task", "x", "--model", model]);
    expect(text.stdout).toMatch(/^session {4}ses_\w{26}\n[^]*\nDone\.\n\ncompleted {2}1 turn · 0 tool calls/);
    // Without a terminal there is nothing but text.
    expect(text.stdout).not.toContain("\u001b");
  });
});

describe("one document", () => {
  test("a completed run is its view", async () => {
    const model = place.cassette(
      { calls: [writeCall("b.txt")], usage: { input: 7 } },
      { text: "Done.", usage: { input: 9 } },
    );
    const ended = await place.call(["run", "--json", "--task", "x", "--model", model, "--title", "Mine"]);
    const document = documentIn(ended.stdout);
    expect([ended.code, ended.stderr, document.ok, document.kind]).toEqual([0, "", true, "run"]);
    expect(document.data).toMatchObject({
      status: "completed",
      attempts: 1,
      turns: 2,
      usage: { input: 16 },
      text: "Done.",
    });
    const [operation] = document.data.operations;
    expect(operation).toMatchObject({ tool: "write", effect: "checked", state: "settled", outcome: "ok" });
    const shown = await place.call(["run", "show", document.data.session, document.data.run, "--json"]);
    expect(documentIn(shown.stdout)).toEqual({ ok: true, kind: "run_show", data: document.data });
    const listed = await place.call(["run", "list", document.data.session, "--json"]);
    expect(documentIn(listed.stdout).data.runs).toMatchObject([
      { run: document.data.run, status: "completed", attempts: 1 },
    ]);
    const whole = await place.call(["session", "show", document.data.session, "--json"]);
    expect(documentIn(whole.stdout).data).toMatchObject({
      title: "Mine",
      messages: [{ role: "user" }, {}, { role: "tool" }, {}],
    });
  });

  test("a run that failed says so and is shown all the same", async () => {
    const model = place.cassette({ calls: [writeCall("c.txt")] });
    const ended = await place.call(["run", "--json", "--task", "x", "--model", model]);
    const { ok, error, data } = documentIn(ended.stdout);
    expect([ended.code, ok, error?.code, data.status]).toEqual([1, false, "cassette_exhausted", "failed"]);
  });
});

describe("resume", () => {
  test("--resume without a command goes on as resume does, also with the next task", async () => {
    const session = await place.completed("First", { text: "One." }, { text: "Two." }, { text: "Three." });
    for (const args of [
      ["--resume", session, "--task", "Second"],
      ["--task=Third", `--resume=${session.slice(-12)}`],
    ]) {
      const ended = await place.call(args);
      expect([ended.code, linesOf(ended.stdout).at(-1)?.type]).toEqual([0, "run.ended"]);
    }
    const { data } = documentIn((await place.call(["run", "list", session, "--json"])).stdout);
    expect(data.runs.map((run: { status: string }) => run.status)).toEqual([
      "completed",
      "completed",
      "completed",
    ]);
    const shown = await place.call(["session", "show", session]);
    expect(shown.stdout).toMatch(/Second[^]*Two\.[^]*Third[^]*Three\./);
  });

  test("the task comes from a file or from standard input, as it is", async () => {
    const task = "Zeile eins\n\n日本語 \u{1f44d}\ttab\n";
    writeFileSync(join(place.folder, "task.md"), task);
    const model = place.cassette({ text: "Done." });
    for (const [args, stdin] of [
      [["--task-file", "../task.md"], ""],
      [["--stdin"], task],
    ] as const) {
      const ended = await place.call(["run", ...args, "--model", model], { stdin });
      const message = linesOf(ended.stdout).find((line) => line.type === "message");
      expect(message?.["parts"]).toEqual([{ type: "text", text: task }]);
    }
  });
});

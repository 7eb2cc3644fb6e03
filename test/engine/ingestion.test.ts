import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { resume, runTask, type WorkReport } from "../../src/engine/index.ts";
import { environmentOf, secretKey, wires, type Wire } from "../agents/wire.ts";
import { EngineWorld } from "../crash/engine-world.ts";
import { changesDisk } from "../crash/memory-disk.ts";
import { startModelServer, type ModelServer, type ModelTurn } from "../peers/model-server.ts";
import { examine, expectSettledOnce, factsOf, type Examined } from "./examine.ts";
import { bundlePrograms, Home, type Programs } from "./home.ts";

let programs: Programs;
let server: ModelServer;
const homes: Home[] = [];
beforeAll(async () => {
  programs = await bundlePrograms();
  server = await startModelServer();
});
afterAll(async () => {
  for (const home of homes) home.end();
  await server.close();
});

const silent = { commit: () => undefined, live: () => undefined };

interface Ran {
  home: Home;
  report: WorkReport;
  examined: Examined;
  /** Bodies of the requests, as they came. */
  sent: string[];
}

/** Runs a task on these answers, sent over the wire. */
async function run(wire: Wire, turns: ModelTurn[], options: { task?: string } = {}): Promise<Ran> {
  const home = new Home(programs);
  homes.push(home);
  home.environment = { ...home.environment, ...environmentOf(server.url) };
  writeFileSync(join(home.workspace, "a.txt"), "a\n");
  const from = server.requests.length;
  server.push(...turns);
  const task = home.task({ model: wires[wire].model, ...options });
  const report = await runTask(home.engine(), task, silent, () => undefined);
  const examined = await examine(home.engine(), report.session);
  return { home, report, examined, sent: server.requests.slice(from).map((request) => request.rawBody) };
}

const call = (name: string, args: unknown, id = "call_1") => ({
  id,
  name,
  args: typeof args === "string" ? args : JSON.stringify(args),
});
const done: ModelTurn = { text: "Done.", usage: { input: 1, output: 1 } };
const loneSurrogate = /(?<![\\])\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|[c-fC-F][0-9a-fA-F]{2})/;

describe("text that is no text", () => {
  test.each(Object.keys(wires) as Wire[])(
    "is mended before it is stored, and providers are sent none, over %s",
    async (wire) => {
      const turn: ModelTurn = {
        text: "Half \ud83d a character, and a line\u2028separator.",
        calls: [
          call("write", String.raw`{"path":"b.txt","content":"\ud83d"}`, "call_1"),
          call("func\ud83dtions.read", { path: "a.txt" }, "call_2"),
          call("read", { path: "a.txt" }, "call_1"),
        ],
      };
      const { report, examined, home, sent } = await run(wire, [turn, done], { task: "Do \udc00 it.\u2029" });
      expect(report.ending).toBe("completed");
      expectSettledOnce(examined);
      for (const body of sent) expect(loneSurrogate.test(body), body.slice(0, 2000)).toBe(false);
      expect(sent).toHaveLength(2);
      const log = readFileSync(home.inSession("log.jsonl"), "utf8");
      expect(log).toContain("\u2028");
      // Only what is executed keeps the half, as an escape.
      expect(log.match(/(?<!\\)\\ud[89a-f]/g) ?? []).toEqual([]);
      const [user] = examined.state.messages;
      const [part] = user?.message.parts ?? [];
      expect(part).toMatchObject({ type: "text", text: "Do \ufffd it.\u2029" });
      const outcomes = factsOf(examined, "op.known").map((fact) => fact.outcome);
      expect(outcomes).toEqual(["error", "error", "ok"]);
      const [assistant] = examined.state.messages.filter(({ message }) => message.role === "assistant");
      const original = assistant?.message.parts.find((one) => one.type === "text")?.original;
      if (original === undefined) throw new Error("the original is lost");
      const bytes = Buffer.from(await home.engine().store.blobs(report.session).get(original));
      expect(bytes.toString("utf16le")).toBe(turn.text);
    },
  );
});

describe("arguments", () => {
  test("whose numbers or order no parser keeps are executed, stored and sent back as they came", async () => {
    const raw = '{ "limit": 12345678901234567890, "path": "a.txt", "path": "a.txt" }';
    const { examined, sent } = await run("openai-compatible", [{ calls: [call("read", raw)] }, done]);
    expect(factsOf(examined, "op.asked")).toMatchObject([{ rawArgs: raw }]);
    expect(JSON.parse(sent[1] ?? "")).toMatchObject({
      messages: [{}, {}, { tool_calls: [{ function: { arguments: raw } }] }, {}],
    });
  });

  test.each(["anthropic", "openai", "openai-compatible"] as const)(
    "that are no JSON, or nested without end, end in an error that the model reads, over %s",
    async (wire) => {
      const deep = `{"path":"a.txt","deep":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
      const calls = [
        call("read", deep, "call_1"),
        call("read", '{"path": "a.txt', "call_2"),
        call("read", "[1]", "call_3"),
      ];
      const { report, examined, sent } = await run(wire, [{ calls }, done]);
      expect(report.ending).toBe("completed");
      expect(factsOf(examined, "op.known").map((fact) => fact.outcome)).toEqual(["error", "error", "error"]);
      expect(sent[1]).toContain("not valid JSON");
      for (const { message } of examined.state.messages) JSON.stringify(message);
    },
  );
});

describe("payloads", () => {
  test("over 32 KiB stand beside the log and come back whole to the model", async () => {
    const long = (word: string) => `${word} `.repeat(20_000);
    const turns: ModelTurn[] = [
      {
        reasoning: { text: long("think"), signature: "s".repeat(40_000) },
        text: long("say"),
        calls: [call("write", { path: "b.txt", content: long("write") })],
      },
      { calls: [call("read", { path: "b.txt" })] },
      { text: long("end") },
    ];
    const { report, examined, home, sent } = await run("anthropic", turns, { task: long("ask") });
    expect(report.ending).toBe("completed");
    expect(readFileSync(join(home.workspace, "b.txt"), "utf8")).toBe(long("write"));
    for (const word of ["ask", "think", "say", "write"]) expect(sent[1]).toContain(long(word));
    expect(sent[1]).toContain("s".repeat(40_000));
    const longest = Math.max(
      ...readFileSync(home.inSession("log.jsonl"), "utf8")
        .split("\n")
        .map((line) => line.length),
    );
    expect(longest).toBeLessThan(60_000);
    const [ended] = factsOf(examined, "run.ended");
    expect(ended?.text?.startsWith("end end ")).toBe(true);
    expect(ended?.text?.length).toBeGreaterThan(25_000);
    expect(ended?.text?.length).toBeLessThanOrEqual(32 * 1024);
  });

  test("of 50 MB, as a command may write, leave the model head and tail and the log small", async () => {
    const command = "echo begin; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo end";
    const { report, examined, sent } = await run("anthropic", [{ calls: [call("exec", { command })] }, done]);
    expect(report.ending).toBe("completed");
    const [known] = factsOf(examined, "op.known");
    expect(known).toMatchObject({ outcome: "ok", details: { outputBytes: 50_000_011 } });
    expect(known?.fullBlob?.bytes).toBeGreaterThan(8_000_000);
    expect(sent[1]?.length).toBeLessThan(100_000);
    expect(sent[1]).toContain("bytes of output left out");
  });

  test("of an answer with a thousand calls fit; one more call is refused in words, and costs no session", async () => {
    const calls = (count: number) =>
      Array.from({ length: count }, (_, index) =>
        call("read", { path: "a.txt", note: "n".repeat(900) }, `call_${index}`),
      );
    const thousand = await run("anthropic", [{ calls: calls(1000) }, done]);
    expect(thousand.report.ending).toBe("completed");
    expectSettledOnce(thousand.examined);
    expect(factsOf(thousand.examined, "op.known")).toHaveLength(1000);

    const more = await run("anthropic", [{ calls: calls(1001) }]);
    expect(more.report.ending).toBe("suspended");
    expect(factsOf(more.examined, "model.failed")).toMatchObject([{ reason: "malformed", retryable: false }]);
    expect(factsOf(more.examined, "run.suspended")[0]?.message).toMatch(
      /1001 calls; one answer may have 1000/,
    );
    server.push(done);
    const again = { selector: more.report.session, acceptRollback: false };
    expect((await resume(more.home.engine(), again, silent)).ending).toBe("completed");
  });

  test("of many results that are long each fit one line", async () => {
    const lines = `${"line of text ".repeat(20)}\n`.repeat(100);
    const calls = Array.from({ length: 60 }, (_, index) =>
      call("read", { path: "long.txt" }, `call_${index}`),
    );
    const home = new Home(programs);
    homes.push(home);
    home.environment = { ...home.environment, ...environmentOf(server.url) };
    writeFileSync(join(home.workspace, "long.txt"), lines);
    server.push({ calls }, done);
    const report = await runTask(
      home.engine(),
      home.task({ model: wires.anthropic.model }),
      silent,
      () => undefined,
    );
    expect(report.ending).toBe("completed");
    expectSettledOnce(await examine(home.engine(), report.session));
  });
});

describe("a secret in arguments", () => {
  const spellings = {
    plainly: secretKey,
    escaped: secretKey.replace("t", String.raw`\u0074`),
  };

  test.each(Object.entries(spellings))("%s is executed as it is and stored nowhere", async (_, spelling) => {
    const args = `{"path":"key.txt","content":"${spelling}"}`;
    const { report, examined, home } = await run("openai", [{ calls: [call("write", args)] }, done]);
    expect(report.ending).toBe("completed");
    expect(readFileSync(join(home.workspace, "key.txt"), "utf8")).toBe(secretKey);
    expect(factsOf(examined, "op.started")).toMatchObject([
      { redacted: true, args: { content: "[redacted]" } },
    ]);
    for (const name of readdirSync(home.state, { recursive: true, encoding: "utf8", withFileTypes: true })) {
      if (!name.isFile()) continue;
      const text = readFileSync(join(name.parentPath, name.name), "utf8");
      expect(text.includes(secretKey) || text.includes(spelling), name.name).toBe(false);
    }
  });

  test("is not executed any more after a death, whenever that comes, and the model is told", async () => {
    const start = new EngineWorld();
    start.environment = { OPENAI_API_KEY: secretKey };
    const turns = [
      { calls: [{ tool: "write", args: { path: "key.txt", content: secretKey } }] },
      { text: "Done." },
    ];
    start.disk.plant("/cassette.json", JSON.stringify({ cassette: 1, turns }));
    start.disk.plant("/project/a.txt", "");
    const snapshots: EngineWorld[] = [];
    start.disk.gate = (effect) => {
      if (changesDisk(effect)) snapshots.push(start.killed());
      return undefined;
    };
    const { workspace, model } = EngineWorld;
    await runTask(
      start.engine(),
      { workspace, model, agent: "builtin", policy: {}, task: "Go." },
      silent,
      () => undefined,
    );
    start.disk.gate = undefined;
    const seen = new Set<string>();
    for (const world of snapshots) {
      const [selector] = await world.engine().store.ids();
      if (selector === undefined) continue;
      const { ending } = await resume(world.engine(), { selector, acceptRollback: false }, silent);
      const examined = await examine(world.engine(), selector);
      const content = world.text("/project/key.txt");
      const known = [...examined.state.operations.values()].at(-1);
      const outcome = known !== undefined && "result" in known ? known.result.outcome : "none";
      seen.add(`${ending} ${outcome}`);
      if (content !== undefined) expect(content).toBe(secretKey);
      if (outcome === "ok") expect(content).toBe(secretKey);
      if (outcome !== "not_executed") continue;
      expect(content).toBeUndefined();
      const told = examined.state.messages.at(-2)?.message.parts[0];
      expect(told).toMatchObject({
        type: "tool_result",
        output: expect.stringContaining("held a secret") as string,
      });
      expect(world.disk.files().filter((path) => path.startsWith("/project/.holdfast"))).toEqual([]);
    }
    expect(seen).toContain("completed ok");
    expect(seen).toContain("completed not_executed");
  });
});

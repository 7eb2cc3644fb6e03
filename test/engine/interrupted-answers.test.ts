import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cancelRun } from "../../src/engine/index.ts";
import type { Message } from "../../src/model/facts.ts";
import { projectPrompt } from "../../src/model/projection.ts";
import { changesDisk, type Fault } from "../crash/memory-disk.ts";
import { environmentOf, wires } from "../agents/wire.ts";
import type { EngineWorkerLine } from "../peers/engine-worker.ts";
import { startModelServer, type ModelServer } from "../peers/model-server.ts";
import { expectEnding } from "./asking.ts";
import { examine, expectCassettePlayedOnce, expectKept, factsOf, type Examined } from "./examine.ts";
import { bundlePrograms, Home, type Programs } from "./home.ts";
import { Stage } from "./stage.ts";

const secret = "sk-this is-a secret-key";
const reasoning = "Let me think of häuser und 日本 first.";
const words = Array.from({ length: 12 }, (_, index) => `wörd${index} 🐟`);
const text = `${words.slice(0, 6).join(" ")} ${secret} ${words.slice(6).join(" ")}`;
const answer = { reasoning, text, perTokenMs: 1, usage: { input: 5, output: 7 } };

/** A run whose model answers at length; the secret is known. */
async function set(turns: readonly unknown[] = [answer]): Promise<Stage> {
  const stage = await Stage.set({ turns });
  stage.world.environment = { ANTHROPIC_API_KEY: secret };
  return stage;
}

/** What was kept of answers that were cut. */
const cutOf = ({ state }: Examined): Message[] =>
  state.messages.flatMap(({ message }) => (message.interrupted === true ? message : []));

const partsOf = (message: Message | undefined): string[] =>
  (message?.parts ?? []).map((part) => ("text" in part ? `${part.type}: ${part.text ?? ""}` : part.type));

/** What is shown of the answer as it grows. */
const shown = text.replace(secret, "[redacted]");

/** That it is the beginning of the answer, with its secret masked: of the reasoning, or of all that and the text. */
function expectBeginning(message: Message | undefined, label = ""): void {
  const parts = partsOf(message);
  const [first = "", second] = parts;
  if (second === undefined) expect(`reasoning: ${reasoning}`.startsWith(first), label).toBe(true);
  else expect(first, label).toBe(`reasoning: ${reasoning}`);
  if (second !== undefined) expect(`text: ${mask}`.startsWith(second), `${label}: ${second}`).toBe(true);
  expect(parts.length).toBeLessThanOrEqual(2);
}
let mask = shown;

const live = (stage: Stage): string => `/state/sessions/${stage.session}/live.jsonl`;

const nothing = { text: () => "", base64: () => "" };

/** The machine before each change of the disk from the request to the answer. */
async function deathsInAnswer(): Promise<Stage[]> {
  const stage = await set();
  const deaths: Stage[] = [];
  let isAnswering = false;
  stage.world.disk.gate = (effect) => {
    if (isAnswering && changesDisk(effect)) deaths.push(stage.killed());
    return undefined;
  };
  const work = stage.work({
    onFact: (fact) => {
      if (fact.kind === "model.requested") isAnswering = true;
      if (fact.kind === "model.answered") isAnswering = false;
    },
  });
  await expectEnding(work, "completed");
  mask = partsOf(stage.world.told.flatMap((line) => line.facts).findLast(isAnswer))[1]?.slice(6) ?? "";
  expect(mask).not.toContain("secret");
  // Of the last ones the answer is there.
  const left = await Promise.all(deaths.map(async (one) => factsOf(await one.examine(), "model.answered")));
  return deaths.filter((_, index) => left[index]?.length === 0);
}

const isAnswer = (fact: { kind: string }): fact is Message =>
  fact.kind === "message" && (fact as Message).role === "assistant";

describe("an answer in whose middle its process dies", () => {
  let deaths: Stage[];
  beforeAll(async () => {
    deaths = await deathsInAnswer();
  });

  test("is kept as far as it had come, once, is sent to nobody, and is asked for again", async () => {
    const lengths = new Set<number>();
    for (const [index, from] of deaths.entries()) {
      const stage = from.killed();
      const had = stage.world.text(live(stage)) ?? "";
      await expectEnding(stage.work(), "completed");
      const examined = await stage.examine();
      expectKept(examined, stage.world.told);
      expectCassettePlayedOnce(examined, 1);
      const cut = cutOf(examined);
      const pieces = had.split("\n").slice(1, -1);
      expect(cut, `death ${index}`).toHaveLength(pieces.length === 0 ? 0 : 1);
      expectBeginning(cut[0], `death ${index}`);
      const spooled = pieces.map((line) => (JSON.parse(line) as { text: string }).text).join("");
      const kept = (cut[0]?.parts ?? []).map((part) => ("text" in part ? (part.text ?? "") : "")).join("");
      expect(kept).toBe(spooled);
      lengths.add(kept.length);
      const prompt = projectPrompt(examined.state, nothing);
      expect(prompt.map((message) => message.role)).toEqual(["user", "assistant"]);
      const [run] = examined.state.runs.values();
      expect(run?.usage).toMatchObject({ input: 5, output: 7, lowerBound: true });
      const log = stage.world.text(`/state/sessions/${stage.session}/log.jsonl`) ?? "";
      expect(`${log}${had}`).not.toMatch(/sk-this|is-a|secret-key/);
    }
    expect(lengths.size).toBeGreaterThan(10);
  });

  test("is kept each time that this happens", async () => {
    const first = deaths.at(-8)?.killed();
    if (first === undefined) throw new Error("nobody died");
    let second: Stage | undefined;
    let seen = 0;
    first.world.disk.gate = (effect) => {
      if (effect.verb === "write" && effect.path === live(first) && ++seen === 5) second = first.killed();
      return undefined;
    };
    await first.work().report;
    if (second === undefined) throw new Error("nobody died again");
    await expectEnding(second.work(), "completed");
    const cut = cutOf(await second.examine());
    expect(cut).toHaveLength(2);
    for (const message of cut) expectBeginning(message);
    expect(new Set(cut.map((message) => message.id)).size).toBe(2);
  });

  test("is kept by whoever only cancels the run, or only looks in on the way; its cost is not known", async () => {
    const from = deaths.at(-8);
    if (from === undefined) throw new Error("nobody died");
    const canceled = from.killed();
    await cancelRun(canceled.world.engine(), { session: canceled.session });
    const looked = from.killed();
    const nobody = cancelRun(looked.world.engine(), { session: looked.session, run: "run_x" });
    await expect(nobody).rejects.toMatchObject({ code: "not_found" });
    await expectEnding(looked.work(), "completed");
    for (const stage of [canceled, looked]) {
      const examined = await stage.examine();
      expect(cutOf(examined)).toHaveLength(1);
      expectBeginning(cutOf(examined)[0]);
      const [ended] = factsOf(examined, "run.ended");
      expect(ended?.usage).toMatchObject({ lowerBound: true });
      const [run] = examined.state.runs.values();
      expect(run?.usage).toEqual(ended?.usage);
    }
  });

  test("costs nothing but itself where a power cut takes what it likes of it", async () => {
    let kept = 0;
    for (const [index, from] of deaths.entries()) {
      if (index % 4 !== 0) continue;
      for (const fate of ["dropped", "garbage", "torn"] as const) {
        const stage = from.killed();
        const file = live(stage);
        let writes = 0;
        const crashed = stage.crashed((change) => {
          if (change.kind !== "write" || change.path !== file) return "kept";
          // The first ones may have made it.
          if (++writes <= index % 8) return "kept";
          return fate === "torn" ? { torn: change.bytes.length >> 1 } : fate;
        });
        await expectEnding(crashed.work(), "completed");
        const cut = cutOf(await crashed.examine());
        expect(cut.length).toBeLessThanOrEqual(1);
        kept += cut.length;
        if (cut.length > 0) expectBeginning(cut[0]);
      }
    }
    expect(kept).toBeGreaterThan(0);
  });

  test("is kept up to where its spool is whole, wherever that is cut", async () => {
    const from = deaths.at(-6);
    if (from === undefined) throw new Error("nobody died");
    const bytes = from.world.disk.peek(live(from)) ?? new Uint8Array();
    const lengths = new Set<number>();
    for (let length = 0; length <= bytes.length; length += 7) {
      const stage = from.killed();
      stage.world.disk.plant(live(stage), bytes.slice(0, length));
      await expectEnding(stage.work(), "completed");
      const cut = cutOf(await stage.examine());
      const whole = new TextDecoder().decode(bytes.slice(0, length)).split("\n").slice(1, -1);
      const expected = whole.map((line) => (JSON.parse(line) as { text: string }).text).join("");
      const kept = (cut[0]?.parts ?? []).map((part) => ("text" in part ? (part.text ?? "") : "")).join("");
      expect(kept, `cut at byte ${length}`).toBe(expected);
      lengths.add(kept.length);
    }
    expect(lengths.size).toBeGreaterThan(10);
  });

  test("is not kept where its spool is anything else, and that stops nobody", async () => {
    const from = deaths.at(-6);
    if (from === undefined) throw new Error("nobody died");
    const spool = from.world.text(live(from)) ?? "";
    const { seq = 0 } = JSON.parse(spool.split("\n")[0] ?? "{}") as { seq?: number };
    const head = (at: unknown) => `${JSON.stringify({ v: 1, seq: at })}\n`;
    const piece = `${JSON.stringify({ part: "text", text: "foreign" })}\n`;
    const foreign: (string | Uint8Array)[] = [
      "",
      "\n\n\n",
      "null\n",
      "[]\n7\n",
      `${head(seq - 1)}${piece}`,
      `${head(seq + 1)}${piece}`,
      `${head(String(seq))}${piece}`,
      piece,
      `not json\n${piece}`,
      `${head(seq)}null\n${piece}`,
      `${head(seq)}{"part":"tool","text":"x"}\n${piece}`,
      `${head(seq)}{"part":"text","text":7}\n`,
      new Uint8Array(5000),
      Uint8Array.from({ length: 5000 }, (_, index) => (index * 37) % 256),
      new Uint8Array(17 * 1024 * 1024).fill(0x20),
    ];
    for (const content of foreign) {
      const stage = from.killed();
      stage.world.disk.plant(live(stage), content);
      await expectEnding(stage.work(), "completed");
      expect(cutOf(await stage.examine()), String(content).slice(0, 60)).toEqual([]);
    }
    // What would take more than a line is no reason to go on for nobody any more.
    const stage = from.killed();
    const turn = [
      { part: "text", text: "a" },
      { part: "reasoning", text: "b\ud800" },
    ];
    const many = Array.from({ length: 60_000 }, (_, index) => `${JSON.stringify(turn[index % 2])}\n`);
    stage.world.disk.plant(live(stage), `${head(seq)}${many.join("")}`);
    await expectEnding(stage.work(), "completed");
    const [cut] = cutOf(await stage.examine());
    expect(partsOf(cut).slice(0, 2)).toEqual(["text: a", "reasoning: b\ufffd"]);
  });
});

describe("an answer whose spool the disk does not take", () => {
  const faults: Record<string, (verb: string) => Fault | undefined> = {
    "is full": (verb) => (verb === "write" ? { code: "ENOSPC" } : undefined),
    "is full in mid-write": (verb) => (verb === "write" ? { code: "ENOSPC", short: 9 } : undefined),
    "lets nobody open it": (verb) => (verb === "open" || verb === "create" ? { code: "EACCES" } : undefined),
    "is broken": (verb) => (verb === "truncate" || verb === "close" ? { code: "EIO" } : undefined),
  };
  test.each(Object.entries(faults))("since it %s, is the same", async (_name, fault) => {
    const stage = await set([{ ...answer, calls: [{ tool: "read", args: { path: "a.txt" } }] }, answer]);
    stage.world.disk.fault = ({ verb, path }) => (path === live(stage) ? fault(verb) : undefined);
    await expectEnding(stage.work(), "completed");
    stage.world.disk.fault = undefined;
    const examined = await stage.examine();
    expect(cutOf(examined)).toEqual([]);
    expect(factsOf(examined, "model.answered")).toHaveLength(2);
    expect(examined.state.released).toBe(true);
  });

  test("since a directory has its name, is the same", async () => {
    const stage = await set();
    stage.world.disk.plant(`${live(stage)}/x`, "");
    await expectEnding(stage.work(), "completed");
  });
});

let programs: Programs;
const homes: Home[] = [];
const servers: ModelServer[] = [];
beforeAll(async () => {
  programs = await bundlePrograms();
});
afterAll(async () => {
  for (const home of homes) home.end();
  for (const server of servers) await server.close();
});

/** A home whose model is a server that speaks a provider's protocol. */
async function served(): Promise<{ home: Home; server: ModelServer }> {
  const server = await startModelServer();
  servers.push(server);
  const home = new Home(programs);
  homes.push(home);
  home.environment = { ...home.environment, ...environmentOf(server.url) };
  return { home, server };
}

/** Finds the line with which so much of an answer has come. */
function heardOf(lengthMin: number): (line: EngineWorkerLine) => boolean {
  let length = 0;
  return (line) => {
    length += (line["live"] as { text?: string } | undefined)?.text?.length ?? 0;
    return length >= lengthMin;
  };
}

const long = Array.from({ length: 200 }, (_, index) => `fish${index}`).join(" ");

describe("what a provider had said when it was cut", () => {
  test.each(["SIGKILL", "SIGTERM", "SIGINT"] as const)(
    "by %s stays, and no provider is sent it",
    async (signal) => {
      const { home, server } = await served();
      server.push({ text: long, eventDelayMs: 10 }, { text: "Whole." });
      const worker = home.worker({ run: home.task({ model: wires.anthropic.model }) });
      await worker.line(heardOf(100));
      await worker.signal(signal);
      // What is canceled is over: the next run is sent nothing of it either.
      const next = await home.resume(signal === "SIGINT" ? { task: "Next." } : {});
      expect(next).toMatchObject({ code: 0, report: { ending: "completed" }, stderr: "" });
      const examined = await examine(home.engine(), home.sessions()[0] ?? "");
      const [cut, ...more] = cutOf(examined);
      expect(more).toEqual([]);
      const [part] = partsOf(cut);
      expect(part).toContain("fish5");
      expect(`text: ${long}`.startsWith(part ?? "")).toBe(true);
      expect(server.requests).toHaveLength(2);
      expect(server.requests[1]?.rawBody).not.toContain("fish");
    },
  );

  test("is nothing where it had said nothing, and that keeps nobody waiting", async () => {
    const { home, server } = await served();
    server.push({ text: long, delayMs: 10_000 }, { text: "Whole." });
    const worker = home.worker({ run: home.task({ model: wires.anthropic.model }) });
    await worker.fact("model.requested");
    while (server.requests.length === 0) await sleep(5);
    expect(await worker.signal("SIGTERM")).toMatchObject({ code: 11, report: { ending: "suspended" } });
    expect(await home.resume()).toMatchObject({ code: 0, report: { ending: "completed" } });
    expect(cutOf(await examine(home.engine(), home.sessions()[0] ?? ""))).toEqual([]);
  });

  test("by the network stays, is asked for again, and no provider is sent it", async () => {
    const { home, server } = await served();
    server.push({ text: long, cut: 12 }, { text: "Whole." });
    const ended = await home.run(home.task({ model: wires.anthropic.model }));
    expect(ended).toMatchObject({ code: 0, report: { ending: "completed" } });
    const examined = await examine(home.engine(), home.sessions()[0] ?? "");
    expect(factsOf(examined, "model.failed")).toMatchObject([{ began: true, retryable: true }]);
    const [cut, ...more] = cutOf(examined);
    expect(more).toEqual([]);
    expect(`text: ${long}`.startsWith(partsOf(cut)[0] ?? "nothing")).toBe(true);
    expect(server.requests[1]?.rawBody).not.toContain("fish");
  });
});

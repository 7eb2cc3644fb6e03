import { describe, expect, test } from "vitest";
import { parseCassette } from "../../src/agents/builtin/models/cassette.ts";
import { recordSession } from "../../src/engine/index.ts";
import { PayloadTexts, turnOfCall } from "../../src/engine/recorded-turns.ts";
import { cassetteBytesMax, type CassetteTurn } from "../../src/model/cassette.ts";
import type { Commit } from "../../src/model/commit.ts";
import type { Fact } from "../../src/model/facts.ts";
import type { BlobRef } from "../../src/model/values.ts";
import { begin, newWorld, turns } from "./memory-story.ts";
import { EngineWorld } from "../crash/engine-world.ts";
import { changesDisk, type Effect } from "../crash/memory-disk.ts";
import { secretKey } from "../agents/wire.ts";

const file = "/home/recorded.yaml";

/** A machine on which the story was told to its end, with a directory for the file. */
async function storyTold(): Promise<{ world: EngineWorld; selector: string }> {
  const world = newWorld();
  world.disk.plant("/home/notes.txt", "");
  await begin(world);
  const [selector = ""] = await world.engine().store.ids();
  return { world, selector };
}

function turnsIn(text: string | undefined): readonly CassetteTurn[] {
  return parseCassette(new TextEncoder().encode(text), "recorded.yaml").turns;
}

/** How many answers stand in the whole lines of a log. */
function answersIn(log: Uint8Array | undefined): number {
  const lines = new TextDecoder().decode(log).split("\n").slice(0, -1);
  return lines.flatMap((line) => (JSON.parse(line) as Commit).facts as Fact[]).filter(isAnswer).length;
}

function isAnswer(fact: Fact): boolean {
  return fact.kind === "model.answered";
}

/** Tells the story, and looks at the machine before each effect that changes its disk. */
async function atEachInstant(look: (world: EngineWorld, selector: string) => Promise<void>): Promise<void> {
  const world = newWorld();
  let isLooking = false;
  world.disk.gate = async (effect) => {
    if (isLooking || !changesDisk(effect)) return;
    isLooking = true;
    const [selector] = await world.engine().store.ids();
    if (selector !== undefined) await look(world, selector);
    isLooking = false;
  };
  await begin(world);
}

describe("a session is recorded", () => {
  test("while it is worked on, from its durable lines alone, and lacks no more than the last of them", async () => {
    let counts: number[] = [];
    await atEachInstant(async (world, selector) => {
      const { text, active, answers } = await recordSession(world.engine(), { selector });
      expect(turnsIn(text)).toEqual(turns.slice(0, answers));
      const durable = answersIn(world.disk.peekDurable(`/state/sessions/${selector}/log.jsonl`));
      expect(answers).toBeLessThanOrEqual(durable);
      expect(answers).toBeGreaterThanOrEqual(durable - 1);
      if (active) counts = [...counts, answers];
    });
    expect(new Set(counts)).toEqual(new Set([0, 1, 2, 3]));
  });

  test("after a death at any instant, with every answer that came whole; and a power cut then takes none of them", async () => {
    const seen = new Set<string>();
    await atEachInstant(async (living, selector) => {
      const world = living.killed();
      const log = `/state/sessions/${selector}/log.jsonl`;
      const before = world.disk.peek(log);
      const { text, answers, leftOut } = await recordSession(world.engine(), { selector });
      expect(answers).toBe(answersIn(before));
      expect(turnsIn(text)).toEqual(turns.slice(0, answers));
      expect(world.disk.peek(log)).toEqual(before);
      const after = world.crashed(() => "dropped");
      expect(answersIn(after.disk.peek(log))).toBe(answers);
      seen.add(`${answers} answers, ${leftOut.interrupted} cut`);
    });
    expect([...seen].toSorted()).toEqual([
      "0 answers, 0 cut",
      "0 answers, 1 cut",
      "1 answers, 0 cut",
      "1 answers, 1 cut",
      "2 answers, 0 cut",
      "2 answers, 1 cut",
      "3 answers, 0 cut",
    ]);
  });

  test("with a torn end, which stays as it is and is told", async () => {
    const { world, selector } = await storyTold();
    const log = `/state/sessions/${selector}/log.jsonl`;
    const torn = `${world.text(log)}{"v":1,"ses":`;
    world.disk.plant(log, torn);
    const { answers, leftOut } = await recordSession(world.killed().engine(), { selector });
    expect([answers, leftOut.tornBytes]).toEqual([3, 13]);
    expect(world.text(log)).toBe(torn);
  });

  test("and nothing of the state directory is changed", async () => {
    const { world, selector } = await storyTold();
    const from = world.disk.effects.length;
    const recorded = await recordSession(world.engine(), { selector, file });
    const changes = world.disk.effects.slice(from).filter((effect) => changesDisk(effect));
    const inState = changes.filter(({ path }) => path.startsWith("/state"));
    expect(inState.map(({ verb, path }) => [verb, path])).toEqual([
      ["sync", `/state/sessions/${selector}/log.jsonl`],
    ]);
    expect(turnsIn(world.text(file))).toEqual(turns);
    expect(recorded).toEqual({
      session: selector,
      file,
      bytes: world.disk.peek(file)?.length,
      turns: 3,
      answers: 3,
      errors: 0,
      tasks: 1,
      redacted: 0,
      leftOut: { interrupted: 0, exhausted: 0, tornBytes: 0 },
      active: false,
    });
  });

  test("on a medium where nothing can be synced, since nothing can be written there", async () => {
    const { world, selector } = await storyTold();
    world.disk.fault = ({ verb }) => (verb === "sync" ? { code: "EROFS" } : undefined);
    expect((await recordSession(world.engine(), { selector })).answers).toBe(3);
    world.disk.fault = ({ verb }) => (verb === "sync" ? { code: "EIO" } : undefined);
    await expect(recordSession(world.engine(), { selector })).rejects.toMatchObject({ code: "io_error" });
  });

  test("not at all where no cassette could hold it, and that is known before it is read", async () => {
    const loaded: number[] = [];
    const blobs = {
      get: async ({ bytes }: BlobRef) => {
        loaded.push(bytes);
        return new Uint8Array();
      },
    };
    const texts = new PayloadTexts(blobs);
    const answerOf = (bytes: number) => ({
      answered: { kind: "model.answered", run: "run_1", turn: 1, durationMs: 1, stopReason: "stop" } as const,
      facts: [
        {
          kind: "message",
          id: "msg_1",
          role: "assistant",
          parts: [{ type: "text", blob: { sha256: "ab".repeat(32), bytes } }],
        } as const,
      ],
    });
    const half = cassetteBytesMax;
    await turnOfCall(answerOf(half), { texts, timings: false });
    await turnOfCall(answerOf(half), { texts, timings: false });
    const third = turnOfCall(answerOf(1), { texts, timings: false });
    await expect(third).rejects.toMatchObject({
      code: "usage",
      message: expect.stringMatching(/a cassette may have/),
    });
    expect(loaded).toEqual([half, half]);
  });

  test("with a mask where the model wrote a secret, and that is told", async () => {
    const world = new EngineWorld();
    world.environment = { OPENAI_API_KEY: secretKey };
    const args = { path: "a.txt", content: `key ${secretKey}` };
    const calls = [
      { tool: "write", args },
      { tool: "write", args: { path: "b.txt", content: "b" } },
    ];
    const listed = { tool: "read", argsText: JSON.stringify([secretKey.replace("t", String.raw`\u0074`)]) };
    const escaped = listed.argsText.replaceAll("\\\\", "\\");
    const script = [{ calls: [...calls, { tool: "read", argsText: escaped }] }, { text: "Done." }];
    world.disk.plant("/cassette.json", JSON.stringify({ cassette: 1, turns: script }));
    world.disk.plant("/project/c.txt", "");
    await begin(world);
    const [selector = ""] = await world.engine().store.ids();
    const { text, redacted } = await recordSession(world.engine(), { selector });
    expect(redacted).toBe(2);
    const [first] = turnsIn(text);
    expect(first).toEqual({
      calls: [
        { tool: "write", args: { path: "a.txt", content: "key [redacted]" } },
        calls[1],
        { tool: "read", argsText: "[redacted]" },
      ],
    });
  });
});

describe("the file of a recording", () => {
  /** Where nothing else is. */
  const names = (world: EngineWorld) => world.disk.files().filter((path) => path.startsWith("/home/"));

  test("is there whole or not at all, whenever a process dies or power is cut", async () => {
    const { world, selector } = await storyTold();
    world.disk.settle();
    const whole = (await recordSession(world.engine(), { selector })).text;
    for (const old of [undefined, "old\n"]) {
      const start = world.killed();
      if (old !== undefined) start.disk.plant(file, old);
      start.disk.gate = async (effect: Effect) => {
        if (!changesDisk(effect)) return;
        for (const end of [start.killed(), start.crashed(() => "dropped"), start.crashed(() => "kept")])
          expect([old, whole]).toContain(end.text(file));
      };
      await recordSession(start.engine(), { selector, file, replace: old !== undefined });
      start.disk.gate = undefined;
      expect(start.crashed(() => "dropped").text(file)).toBe(whole);
      expect(names(start)).toEqual(["/home/notes.txt", file]);
    }
  });

  test("is not there when the disk is full or fails, and nothing else is left", async () => {
    const { world, selector } = await storyTold();
    const faults = [
      { verb: "write", code: "ENOSPC", error: "disk_full" },
      { verb: "create", code: "EACCES", error: "io_error" },
      { verb: "link", code: "EIO", error: "io_error" },
    ] as const;
    for (const { verb, code, error } of faults) {
      world.disk.fault = (effect) =>
        effect.verb === verb && effect.path.startsWith("/home") ? { code } : undefined;
      await expect(recordSession(world.engine(), { selector, file })).rejects.toMatchObject({ code: error });
      expect(names(world)).toEqual(["/home/notes.txt"]);
    }
  });

  test("replaces nothing that came there meanwhile, with links and without", async () => {
    for (const withLinks of [true, false]) {
      const { world, selector } = await storyTold();
      world.disk.fault = ({ verb }) => (verb === "link" && !withLinks ? { code: "EPERM" } : undefined);
      world.disk.gate = async (effect) => {
        // Somebody else's file comes when ours is written.
        if (effect.verb === "write" && effect.path.startsWith("/home")) world.disk.plant(file, "theirs");
      };
      await expect(recordSession(world.engine(), { selector, file })).rejects.toMatchObject({
        code: "exists",
      });
      expect([world.text(file), names(world)]).toEqual(["theirs", ["/home/notes.txt", file]]);
      world.disk.gate = undefined;
      await recordSession(world.engine(), { selector, file: "/home/other.json" });
      expect(turnsIn(world.text("/home/other.json"))).toEqual(turns);
      expect(JSON.parse(world.text("/home/other.json") ?? "")).toMatchObject({ cassette: 1 });
    }
  });
});

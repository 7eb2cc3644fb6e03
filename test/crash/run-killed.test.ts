import { existsSync, readFileSync, writeFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resolveOperation } from "../../src/engine/index.ts";
import type { Commit } from "../../src/model/commit.ts";
import { examine, expectCassettePlayedOnce, expectKept, expectSettledOnce } from "../engine/examine.ts";
import { bundlePrograms, Home, list, type Ended, type Programs } from "../engine/home.ts";

let programs: Programs;
const homes: Home[] = [];
beforeAll(async () => {
  programs = await bundlePrograms();
});
afterAll(() => {
  for (const home of homes) home.end();
});

/** Moments at which the first worker is killed. */
const moments = 50;
/** Of each, in turn: how many effects later the recovery is killed too, and the recovery of that; 0 is not at all. */
const later = [0, 25, 60, 95, 130];

interface Story {
  home: Home;
  model: string;
}

/** A workspace, and a task that looks, writes, changes, runs commands and deletes. */
function tell(): Story {
  const home = new Home(programs);
  homes.push(home);
  mkdirSync(join(home.workspace, "sub"));
  writeFileSync(join(home.workspace, "counter.txt"), "n\n");
  writeFileSync(join(home.workspace, "letter.txt"), "old\n");
  writeFileSync(join(home.workspace, "sub", "waste.txt"), "waste\n");
  const append = (word: string) => `echo ${word} >> ${home.witness}; echo said ${word}`;
  const model = home.cassette([
    {
      text: "I look first.",
      calls: [
        { tool: "read", args: { path: "letter.txt" } },
        { tool: "grep", args: { pattern: "waste" } },
        { tool: "glob", args: { pattern: "**/*.txt" } },
      ],
    },
    {
      calls: [
        { tool: "write", args: { path: "new/file.txt", content: "new\n" } },
        { tool: "write", args: { path: "letter.txt", content: "new\n" } },
        { tool: "edit", args: { path: "counter.txt", old: "n", new: "n+" } },
      ],
    },
    { reasoning: "Now the commands.", calls: [{ tool: "exec", args: { command: append("one") } }] },
    {
      calls: [
        { tool: "exec", args: { command: append("two") } },
        { tool: "delete", args: { path: "sub/waste.txt" } },
      ],
    },
    { text: "Done." },
  ]);
  return { home, model };
}

/** What a worker that begins, or goes on, comes to. */
async function goOn({ home, model }: Story, at: number, told: Commit[]): Promise<Ended> {
  const die = at === 0 ? {} : { die: { at, file: join(home.folder, "effect") } };
  const isThere = home.sessions().length > 0;
  const ended = isThere ? await home.resume({}, die) : await home.run(home.task({ model }), die);
  told.push(...ended.commits);
  return ended;
}

/** Goes on until the run is over, killing as told. */
async function play(story: Story, kills: readonly number[]): Promise<Commit[]> {
  const { home } = story;
  const told: Commit[] = [];
  const left = [...kills];
  for (let round = 0; round < 12; round++) {
    const ended = await goOn(story, left.shift() ?? 0, told);
    if (ended.signal !== null) continue;
    expect(ended.error, JSON.stringify(ended)).toBeUndefined();
    switch (ended.report?.ending) {
      case "completed":
        return told;
      case "idle": {
        const { state } = await examine(home.engine(), home.sessions()[0] ?? "");
        if (state.runs.size > 0) return told;
        // It was killed before its task was admitted, and nobody was told that it was.
        told.push(...(await home.resume({ task: "Do it." })).commits);
        return told;
      }
      case "input_required":
        await finishByHand(home);
        break;
      default:
        throw new Error(`it ended ${JSON.stringify(ended.report)}`);
    }
  }
  throw new Error("it did not come to an end");
}

/** The one thing that cannot be proven: a new file between its two names. The person looks, and makes it. */
async function finishByHand(home: Home): Promise<void> {
  const [session = ""] = home.sessions();
  const { state } = await examine(home.engine(), session);
  const open = [...state.operations.values()].filter((one) => one.at === "unknown");
  expect(open.map((one) => one.tool)).toEqual(["write"]);
  const path = join(home.workspace, "new", "file.txt");
  expect(existsSync(path)).toBe(false);
  writeFileSync(path, "new\n");
  for (const { run, operation } of open) {
    await resolveOperation(home.engine(), { session, run, operation, outcome: "ok", output: "made by hand" });
  }
}

async function expectDoneOnce({ home }: Story, told: Commit[]): Promise<void> {
  const text = (...names: string[]) => readFileSync(join(home.workspace, ...names), "utf8");
  expect(readFileSync(home.witness, "utf8")).toBe("one\ntwo\n");
  expect(text("counter.txt")).toBe("n+\n");
  expect(text("letter.txt")).toBe("new\n");
  expect(text("new", "file.txt")).toBe("new\n");
  expect(existsSync(join(home.workspace, "sub", "waste.txt"))).toBe(false);
  expect([...list(home.workspace), ...list(join(home.workspace, "new"))].toSorted()).toEqual([
    "counter.txt",
    "file.txt",
    "letter.txt",
    "new",
    "sub",
  ]);
  const trash = list(home.inSession("trash"));
  expect(trash.map((name) => readFileSync(home.inSession("trash", name), "utf8"))).toEqual(["waste\n"]);
  expect(list(home.inSession("spool"))).toEqual([]);
  const examined = await examine(home.engine(), home.sessions()[0] ?? "");
  expectKept(examined, told);
  expectSettledOnce(examined);
  expectCassettePlayedOnce(examined, 5);
  const { state, queue } = examined;
  expect([...state.runs.values()].map((run) => run.at)).toEqual(["completed"]);
  expect([...queue.deliveries.values()].map((delivery) => delivery.at)).toEqual(["acknowledged"]);
  expect(state.messages.map(({ message }) => message.role).join(" ")).toBe(
    "user assistant tool assistant tool assistant tool assistant tool assistant",
  );
  expect(state.row).toMatchObject({ state: "completed", openUnknowns: 0, title: "Do it." });
  expect(state.released).toBe(true);
}

test("a run that is killed at any moment, and again while it recovers, does each thing once", async () => {
  const whole = tell();
  const first = await goOn(whole, 0, []);
  expect(first.report?.ending).toBe("completed");
  await expectDoneOnce(whole, first.commits);
  const { effects } = first;
  expect(effects).toBeGreaterThan(moments);

  const kills = Array.from({ length: moments }, (_, index) => {
    const at = 1 + Math.floor((index * (effects - 1)) / (moments - 1));
    const again = later[index % later.length] ?? 0;
    const once = later[(index * 3 + 1) % later.length] ?? 0;
    return [at, ...(again === 0 ? [] : [again, ...(once === 0 ? [] : [once])])];
  });
  const failures: string[] = [];
  const workThrough = async (): Promise<void> => {
    for (let one = kills.shift(); one !== undefined; one = kills.shift()) {
      const story = tell();
      try {
        await expectDoneOnce(story, await play(story, one));
        story.home.end();
      } catch (error) {
        const effect = existsSync(join(story.home.folder, "effect"))
          ? readFileSync(join(story.home.folder, "effect"), "utf8")
          : "none";
        failures.push(
          `killed at ${one.join(", ")} (last before ${effect}) in ${story.home.folder}: ${String(error)}`,
        );
      }
    }
  };
  await Promise.all([workThrough(), workThrough()]);
  expect(failures).toEqual([]);
}, 300_000);

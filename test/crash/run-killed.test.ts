import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Commit } from "../../src/model/commit.ts";
import { examine } from "../engine/examine.ts";
import { bundlePrograms, Home, type Ended, type Programs } from "../engine/home.ts";
import { expectDoneOnce, finishByHand, tellStory, type Story } from "./run-story.ts";

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

function tell(): Story {
  const home = new Home(programs);
  homes.push(home);
  return tellStory(home);
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

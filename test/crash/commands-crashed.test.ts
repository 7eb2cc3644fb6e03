import { expect, test } from "vitest";
import { mishapPlan } from "./campaign/mishap-plan.ts";
import type { Counts, Plan } from "./campaign/plan.ts";
import { mishapsAt } from "./mishaps.ts";
import { playUnder } from "./play-under.ts";
import { commandScenario, commandsScenario } from "./scenarios/commands.ts";

/** What did not hold, and how much was tried. */
async function smallPlan(plan: Plan): Promise<{ faults: string[]; counts: Partial<Counts>; cases: number }> {
  const faults: string[] = [];
  const counts: Record<string, number> = {};
  let cases = 0;
  for await (const one of plan.cases({ seed: 1, size: "small" })) {
    cases++;
    try {
      const done = await one.run();
      for (const [name, count] of Object.entries(done)) counts[name] = (counts[name] ?? 0) + count;
    } catch (error) {
      faults.push(String(error));
    }
  }
  return { faults: faults.slice(0, 10), counts, cases };
}

test("each command of a run is executed once at most, whoever dies, stops or is cut off, and when", async () => {
  const { faults, cases } = await smallPlan(mishapPlan(commandsScenario));
  expect(faults).toEqual([]);
  expect(cases).toBeGreaterThan(50);
}, 60_000);

test("what is found out of one command holds, whatever two things befall its processes", async () => {
  const { faults, counts } = await smallPlan(mishapPlan(commandScenario));
  expect(faults).toEqual([]);
  expect(counts.simulatedKills).toBeGreaterThan(20);
  expect(counts.powerStates).toBeGreaterThan(10);
}, 60_000);

test("the same mishaps come to the same, effect for effect", async () => {
  const story = await commandsScenario.story();
  const once = async (): Promise<unknown> => await playUnder(story, mishapsAt("stop@20,worker@9,go-on@40"));
  expect(await once()).toEqual(await once());
});

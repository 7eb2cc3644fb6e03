import { expect, test } from "vitest";
import { crashPlan } from "./campaign/crash-plan.ts";
import { engineScenario } from "./campaign/engine-scenario.ts";
import { faultPlan } from "./campaign/fault-plan.ts";
import type { Plan } from "./campaign/plan.ts";
import { nameOf } from "./campaign/catalog.ts";
import type { TaskResult } from "./campaign/task.ts";
import { workThrough } from "./campaign/work-through.ts";
import { fileScenario } from "./scenarios/work.ts";

/** Many more cases than a small campaign has of one scenario. */
const smallCases = 60;

async function tryFew(plan: Plan): Promise<TaskResult> {
  return await workThrough(plan, { plan: nameOf(plan), extent: { seed: 1, size: "small" } });
}

test("a run survives kills and power cuts at its effects, and at those of the recovery", async () => {
  const { found, counts } = await tryFew(crashPlan(engineScenario(fileScenario), { smallCases }));
  expect(found).toEqual([]);
  expect(counts.powerStates).toBeGreaterThan(smallCases);
  expect(counts.goneOn).toBeGreaterThan(smallCases / 2);
}, 300_000);

test("a disk that refuses something, once or from then on, or in a recovery, costs nothing that was acknowledged", async () => {
  const { found, counts } = await tryFew(faultPlan(engineScenario(fileScenario), { smallCases }));
  expect(found).toEqual([]);
  expect(counts.faults).toBeGreaterThan(smallCases / 2);
}, 300_000);

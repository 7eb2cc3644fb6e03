import { afterAll, describe, expect, test } from "vitest";
import { everyCrash, type Tally } from "./every-crash.ts";
import { workingScenarios } from "./scenarios.ts";

describe("a crash at any effect, and another one while reopening, costs nothing that was acknowledged", () => {
  const tallies: (Tally & { name: string })[] = [];
  afterAll(() => console.table(tallies));

  test.each(workingScenarios)("while $name", async (scenario) => {
    const tally = await everyCrash(scenario);
    tallies.push({ name: scenario.name, ...tally });
    expect(tally.effects).toBeGreaterThan(0);
  });
});

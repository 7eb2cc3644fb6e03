import { afterAll, describe, expect, test } from "vitest";
import { everyCrash, type Tally } from "./every-crash.ts";
import { mendingScenarios } from "./scenarios.ts";

describe("a crash at any effect of mending, and another one while reopening, costs nothing", () => {
  const tallies: (Tally & { name: string })[] = [];
  afterAll(() => console.table(tallies));

  test.each(mendingScenarios)("while $name", async (scenario) => {
    const tally = await everyCrash(scenario);
    tallies.push({ name: scenario.name, ...tally });
    expect(tally.effects).toBeGreaterThan(0);
  });
});

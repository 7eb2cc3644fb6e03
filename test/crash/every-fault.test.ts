import { afterAll, describe, expect, test } from "vitest";
import { everyFault, faultKinds, type FaultTally } from "./every-fault.ts";
import { mendingScenarios, workingScenarios } from "./scenarios.ts";

const scenarios = [...workingScenarios, ...mendingScenarios];

describe.each(faultKinds)(
  "$name at any effect, once or from then on, is told by its name and costs nothing",
  (kind) => {
    const tallies: Record<string, unknown>[] = [];
    afterAll(() => console.table(tallies));

    test.each(scenarios)("while $name", async (scenario) => {
      const tally: FaultTally = await everyFault(scenario, kind);
      const codes = Object.entries(tally.codes).map(([code, count]) => `${code} ${count}`);
      tallies.push({ name: scenario.name, ...tally, codes: codes.join(", ") });
      expect(tally.passed).toBe(2);
    });
  },
);

import { expect, test } from "vitest";
import type { Case } from "../../crash/campaign/plan.ts";
import { flipPlan } from "./flip-plan.ts";
import { fuzzPlan } from "./plan.ts";

const casesMax = Number(process.env["HOLDFAST_RUNS"] ?? 2000);
const timeoutMs = 3_600_000;

async function runAll(cases: AsyncIterable<Case>, max = Infinity): Promise<number> {
  let histories = 0;
  for await (const one of cases) {
    const done = await one.run().catch((error: unknown) => {
      throw new Error(`case ${one.address}`, { cause: error });
    });
    histories += done.histories ?? 0;
    if (histories >= max) break;
  }
  return histories;
}

test(
  "a changed file is read as what is left of it, or refused with its place; what goes on is right",
  { timeout: timeoutMs },
  async () => {
    expect(await runAll(fuzzPlan.cases({ seed: 1, size: "endless" }), casesMax)).toBe(casesMax);
  },
);

test(
  "each byte of each kind of fact is under a sum: changed, it is damage at its line, or a piece at the end",
  { timeout: timeoutMs },
  async () => {
    expect(await runAll(flipPlan.cases({ seed: 1, size: "small" }))).toBeGreaterThan(150);
  },
);

import { afterAll, expect, test } from "vitest";
import { realPlans } from "./real-plans.ts";

const plans = realPlans();
afterAll(async () => {
  for (const plan of plans) await plan.end?.();
});

// One after the other: each starts processes enough for the machine.
test.each(plans.map((plan) => ({ name: `${plan.scenario} under ${plan.mishap}`, plan })))(
  "real processes keep every promise: $name",
  async ({ plan }) => {
    const broken: string[] = [];
    for await (const one of plan.cases({ seed: 1, size: "small" })) {
      try {
        await one.run();
      } catch (error) {
        broken.push(`${plan.mishap} ${plan.scenario} ${one.address}: ${String(error)}`);
      }
    }
    expect(broken).toEqual([]);
  },
  120_000,
);

import { expect, test } from "vitest";
import { fuzzPlan } from "./plan.ts";

const full = process.env["HOLDFAST_RUNS"];

test("a changed file is read as what is left of it, or refused with its place; what goes on is right", async () => {
  let histories = 0;
  const extent = { seed: 1, size: full === undefined ? "small" : "full" } as const;
  for await (const one of fuzzPlan.cases(extent)) {
    if (full !== undefined && histories >= Number(full)) break;
    const done = await one.run().catch((error: unknown) => {
      throw new Error(`case ${one.address}`, { cause: error });
    });
    histories += done.histories ?? 0;
  }
  expect(histories).toBe(Number(full ?? 2000));
});

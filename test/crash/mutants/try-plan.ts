import { writeFileSync } from "node:fs";
import { allPlans, nameOf } from "../campaign/catalog.ts";
import { Finding } from "../campaign/finding.ts";
import { Skipped, type Case } from "../campaign/plan.ts";

/** A process that works through one plan of the campaign, in its own order, until something is found or its time is over. */

const forMs = 20_000;

const [name = "", report = ""] = process.argv.slice(2);
const plan = allPlans().find((one) => nameOf(one) === name);
if (plan === undefined) throw new Error(`there is no plan ${name}`);

/** How a case ended; undefined where well. */
async function faultOf(one: Case): Promise<string | undefined> {
  try {
    await one.run();
    return undefined;
  } catch (error) {
    if (error instanceof Skipped) return undefined;
    return error instanceof Finding ? `${error.promise}: ${error.message}` : String(error);
  }
}

const start = performance.now();
for await (const one of plan.cases({ size: "full", seed: 1 })) {
  const fault = await faultOf(one);
  if (fault !== undefined) writeFileSync(report, JSON.stringify({ address: one.address, fault }));
  if (fault !== undefined || performance.now() - start > forMs) process.exit(fault === undefined ? 0 : 1);
}
process.exit(0);

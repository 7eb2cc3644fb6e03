import { writeSync } from "node:fs";
import { allPlans, nameOf } from "./catalog.ts";
import type { Task } from "./task.ts";
import { workThrough } from "./work-through.ts";

/** A process of the campaign: takes tasks from its parent, one at a time, and says what each came to. */

/** Where each address is written before its case, so that whoever finds this process stuck knows over what. */
const notes = 3;

process.on("message", (task: Task) => {
  // Made anew for each task: a plan keeps all that it has seen.
  const plan = allPlans().find((one) => nameOf(one) === task.plan);
  if (plan === undefined) throw new Error(`there is no plan ${task.plan}`);
  const begins = (address: string): void => {
    writeSync(notes, `${address}\n`.padEnd(4096), 0);
  };
  void workThrough(plan, task, begins).then((result) => process.send?.(result));
});
process.on("disconnect", () => process.exit());
process.send?.("ready");

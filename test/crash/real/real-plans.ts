import type { Plan } from "../campaign/plan.ts";
import { runKillPlans } from "./run-kill-plan.ts";
import { supervisorHoldPlan, supervisorKillPlan } from "./supervisor-kill-plan.ts";
import { storeKillPlan, storeMomentPlan } from "./store-kill-plan.ts";

/** Plans in which real processes are really killed, stopped and starved. */
export function realPlans(): Plan[] {
  return [storeKillPlan(), storeMomentPlan(), ...runKillPlans(), supervisorKillPlan(), supervisorHoldPlan()];
}

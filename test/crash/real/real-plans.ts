import type { Plan } from "../campaign/plan.ts";
import { brokenLocksPlan } from "./broken-locks-plan.ts";
import { limitsPlan } from "./limits-plan.ts";
import { smallDiskPlans } from "./small-disk-plans.ts";
import { meetingPlans } from "./meetings.ts";
import { runKillPlans } from "./run-kill-plan.ts";
import { stracePlan } from "./strace-plan.ts";
import { swizzlePlan } from "./swizzle-plan.ts";
import { supervisorHoldPlan, supervisorKillPlan } from "./supervisor-kill-plan.ts";
import { storeKillPlan, storeMomentPlan } from "./store-kill-plan.ts";

/** Plans in which real processes are really killed, stopped and starved. */
export function realPlans(): Plan[] {
  return [
    storeKillPlan(),
    storeMomentPlan(),
    ...runKillPlans(),
    supervisorKillPlan(),
    supervisorHoldPlan(),
    stracePlan(),
    brokenLocksPlan(),
    swizzlePlan(),
    ...meetingPlans(),
    ...smallDiskPlans(),
    limitsPlan(),
  ];
}

import { engineScenarios } from "../scenarios/index.ts";
import { commandScenario, commandsScenario } from "../scenarios/commands.ts";
import { mendingScenarios, workingScenarios } from "../scenarios/store.ts";
import { crashPlan } from "./crash-plan.ts";
import { engineScenario } from "./engine-scenario.ts";
import { faultPlan } from "./fault-plan.ts";
import { mishapPlan } from "./mishap-plan.ts";
import type { Plan } from "./plan.ts";
import { storeScenario } from "./store-scenario.ts";

/** Every plan of the campaign, made anew. */
export function allPlans(): readonly Plan[] {
  const store = [...workingScenarios, ...mendingScenarios].map(storeScenario);
  const engine = engineScenarios.map(engineScenario);
  return [
    ...store.flatMap((scenario) => [crashPlan(scenario), faultPlan(scenario)]),
    ...engine.flatMap((scenario) => [crashPlan(scenario), faultPlan(scenario)]),
    mishapPlan(commandScenario),
    mishapPlan(commandsScenario),
  ];
}

/** How a plan is named: the mishap, then the scenario. */
export function nameOf({ mishap, scenario }: Plan): string {
  return `${mishap}: ${scenario}`;
}

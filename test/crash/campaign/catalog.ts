import { realPlans } from "../real/real-plans.ts";
import { flipPlan } from "../../store/fuzz/flip-plan.ts";
import { fuzzPlan } from "../../store/fuzz/plan.ts";
import { storeModelPlan } from "../../store/store-model-plan.ts";
import { commandScenario, commandsScenario } from "../scenarios/commands.ts";
import { engineScenarios } from "../scenarios/index.ts";
import { rollbackScenarios } from "../scenarios/rollbacks.ts";
import { mendingScenarios, workingScenarios } from "../scenarios/store.ts";
import { chanceScenario } from "../scenarios/chance.ts";
import { chancePlan } from "./chance-plan.ts";
import { crashPlan } from "./crash-plan.ts";
import { engineScenario } from "./engine-scenario.ts";
import { faultPlan } from "./fault-plan.ts";
import { fullPlan } from "./full-plan.ts";
import type { Machine, MachineScenario } from "./machine.ts";
import { orderPlan } from "./order-plan.ts";
import type { Plan } from "./plan.ts";
import { mishapPlan } from "./mishap-plan.ts";
import { rollbackPlan } from "./rollback-plan.ts";
import { storeScenario } from "./store-scenario.ts";

/** Every plan of the campaign, made anew. */
export function allPlans(): readonly Plan[] {
  const store = [...workingScenarios, ...mendingScenarios].map(storeScenario);
  return [
    chancePlan((random) => storeScenario(chanceScenario(random))),
    ...store.flatMap((scenario) => plansOf(scenario, 150)),
    ...engineScenarios.flatMap((scenario) => plansOf(engineScenario(scenario), 1)),
    ...rollbackScenarios.map(rollbackPlan),
    mishapPlan(commandsScenario),
    mishapPlan(commandScenario),
    fuzzPlan,
    flipPlan,
    storeModelPlan,
    ...realPlans(),
  ];
}

function plansOf<M extends Machine<M>>(scenario: MachineScenario<M>, smallCases: number): Plan[] {
  const half = { smallCases: Math.ceil(smallCases / 2) };
  // Of whole sessions there are too many scenarios to try everything of each in every test run.
  const few = { smallCases: Math.floor(smallCases / 20) };
  return [
    crashPlan(scenario, { smallCases }),
    faultPlan(scenario, half),
    fullPlan(scenario, few),
    orderPlan(scenario, few),
  ];
}

const engineNames = new Set(engineScenarios.map(({ name }) => name));

/** True where whole sessions are worked on: each case then takes many times as long as one of the store alone. */
export function isOfEngine({ scenario }: Plan): boolean {
  return engineNames.has(scenario);
}

/** How a plan is named: the mishap, then the scenario. */
export function nameOf({ mishap, scenario }: Plan): string {
  return `${mishap}: ${scenario}`;
}

import type { EngineScenario } from "../campaign/engine-scenario.ts";
import { modelScenarios } from "./models.ts";
import { peopleScenarios } from "./people.ts";
import { queueScenarios } from "./queue.ts";
import { workScenarios } from "./work.ts";

/** All scenarios of the engine. */
export const engineScenarios: readonly EngineScenario[] = [
  ...workScenarios,
  ...modelScenarios,
  ...peopleScenarios,
  ...queueScenarios,
];

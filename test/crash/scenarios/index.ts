import type { EngineScenario } from "../campaign/engine-scenario.ts";
import { modelScenarios } from "./models.ts";
import { peopleScenarios } from "./people.ts";
import { queueScenarios } from "./queue.ts";
import { readerScenarios } from "./readers.ts";
import { sessionScenarios } from "./sessions.ts";
import { unknownScenarios } from "./unknown.ts";
import { userScenarios } from "./users.ts";
import { workScenarios } from "./work.ts";

/** All scenarios of the engine. */
export const engineScenarios: readonly EngineScenario[] = [
  ...workScenarios,
  ...modelScenarios,
  ...sessionScenarios,
  ...userScenarios,
  ...peopleScenarios,
  ...unknownScenarios,
  ...queueScenarios,
  ...readerScenarios,
];

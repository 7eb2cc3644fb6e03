import type { EngineScenario } from "../campaign/engine-scenario.ts";
import { workScenarios } from "./work.ts";

/** All scenarios of the engine. */
export const engineScenarios: readonly EngineScenario[] = [...workScenarios];

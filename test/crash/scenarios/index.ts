import type { EngineScenario } from "../campaign/engine-scenario.ts";
import { workScenarios } from "./work.ts";

/** All that people, models and processes do with sessions whose tools are those of files. */
export const engineScenarios: readonly EngineScenario[] = [...workScenarios];

import type { MishapScenario } from "../campaign/mishap-plan.ts";
import { askedForCommands, commandsStory } from "../commands-story.ts";
import type { WorkerProcess } from "../engine-world.ts";
import { execStory, type ExecState } from "../exec-story.ts";
import type { MemoryProcess } from "../memory-processes.ts";

/** A whole run with commands, a payment, a launch and an edit. */
export const commandsScenario: MishapScenario<undefined, WorkerProcess> = {
  name: "a run with commands",
  mishapsMax: 1,
  smallStride: 60,
  story: async () => commandsStory(await askedForCommands()),
};

/** One command by itself, small enough for any two mishaps. */
export const commandScenario: MishapScenario<ExecState, MemoryProcess> = {
  name: "one command",
  mishapsMax: 2,
  smallStride: 5,
  story: () => execStory(),
};

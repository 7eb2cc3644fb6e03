import type { EngineScenario } from "../campaign/engine-scenario.ts";
import { asks, done, write } from "./calls.ts";

/** Sessions whose files are cut back. */
export const rollbackScenarios: readonly EngineScenario[] = [
  {
    name: "a session with several messages",
    turns: [asks(write("a.txt")), done, done, done],
    act: async (machine) => {
      await machine.run();
      await machine.send("Second.");
      await machine.send("Third.");
    },
  },
];

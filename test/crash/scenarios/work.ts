import type { EngineScenario } from "../campaign/engine-scenario.ts";
import { asks, done, edit, read, remove, write } from "./calls.ts";

/** A task that changes files in each way that can be proven. */
export const fileScenario: EngineScenario = {
  name: "changing, making and removing files",
  files: { "letter.txt": "n\n", "waste.txt": "waste\n" },
  turns: [asks(edit("letter.txt"), write("new/file.txt"), remove("waste.txt")), done],
};

/** A task, and what the model does to the workspace. */
export const workScenarios: readonly EngineScenario[] = [
  {
    name: "answering without a tool",
    turns: [done],
  },
  {
    name: "looking at several things at once",
    turns: [asks(read(), read(), { tool: "glob", args: { pattern: "**/*" } }), done],
  },
  fileScenario,
];

import type { Command } from "commander";
import type { Reading } from "./declare.ts";
import { addGlobalFlags, declareCommand, perform } from "./declare.ts";

/** `demo`. */
export function declareDemo(reading: Reading): Command {
  const command = declareCommand(reading, "demo", {
    description:
      "See it survive: a task in a temporary workspace, killed again and again and\nresumed, with the evidence that nothing ran twice.",
    summary: "See it survive: a task that is killed again and again.",
    examples: [
      ["demo", "some seconds; needs no key and no network"],
      ["demo --json", "the evidence as JSON"],
    ],
  });
  addGlobalFlags(command);
  return perform(reading, command, async (call) => {
    const { outside, stateDirectory, singleWriter, program, form } = call;
    const { runDemo } = await import("./demo/index.ts");
    return await runDemo(outside, { stateDirectory, singleWriter, program, json: form === "json" });
  });
}

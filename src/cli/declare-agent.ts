import type { Command } from "commander";
import type { Reading } from "./declare.ts";
import { addGlobalFlags, declareCommand, perform } from "./declare.ts";

/** `agent` and what stands under it. */
export function declareAgent(reading: Reading): Command {
  const group = declareCommand(reading, "agent", {
    description: "Look at agent definitions.",
    examples: [["agent validate agent.yaml", "is it one, and what does it come to"]],
  });
  addGlobalFlags(group);
  group.commandsGroup("Commands:");
  return group.addCommand(declareValidate(reading));
}

function declareValidate(reading: Reading): Command {
  const command = declareCommand(reading, "validate", {
    description:
      "Check an agent definition: everything that is wrong with it at once, each with\nits place. Starts and writes nothing.",
    summary: "Check an agent definition. Starts and writes nothing.",
    examples: [
      ["agent validate agent.yaml", "for people"],
      ["agent validate agent.json --json", "the definition as it would be locked, and its hash"],
    ],
  });
  command.argument("<file>", "the definition, YAML or JSON");
  addGlobalFlags(command);
  return perform(reading, command, async (call, file = "") =>
    (await import("./commands/agent-validate.ts")).agentValidate(call, file),
  );
}

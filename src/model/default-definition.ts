import type { AgentDefinition } from "./facts.ts";

/** Capabilities of the built-in agent, by tool. */
export const builtinCapabilities = ["read", "glob", "grep", "write", "edit", "delete", "exec"] as const;

/** The definition of a session that names none. */
export const defaultDefinition: AgentDefinition = {
  apiVersion: "holdfast/v1",
  kind: "Agent",
  metadata: { name: "default", description: "A coding agent that works in one directory." },
  spec: {
    objective: "Do what the user asks in the workspace, and say what you did.",
    instructions: [
      "Look before you change: read the files that a change touches.",
      "Make the smallest change that does what was asked, in the style of the code around it.",
      "Check your work with the project's own commands where you may run them.",
      "If the outcome of a tool call is given as unknown or not executed, find out what is true before you repeat it.",
      "When you are done, answer with a short account of what you did and what is left.",
    ],
    capabilities: { required: ["read"], optional: ["delete", "edit", "exec", "glob", "grep", "write"] },
    execution: { modelRole: "execution", maxTurns: 200, maxPureRetries: 3 },
    output: { format: "text" },
  },
};

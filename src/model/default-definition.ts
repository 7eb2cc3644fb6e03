import type { AgentDefinition, Policy } from "./facts.ts";

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

/** The policy of a caller who gave no flags. */
export function defaultPolicy(
  given: Partial<Pick<Policy, "allowShell" | "allowMcp" | "passEnv">> = {},
): Policy {
  return {
    deniedCapabilities: [],
    allowShell: given.allowShell ?? false,
    allowMcp: given.allowMcp ?? false,
    passEnv: [...new Set(given.passEnv ?? [])].toSorted(),
    approvals: {},
  };
}

/**
 * What the definition asks for and the policy permits, sorted; and what is required but not permitted. `exec` needs the
 * shell to be allowed, a tool of an MCP server (`mcp__server__tool`) MCP; what is denied anywhere is denied.
 */
export function effectiveCapabilities(
  definition: AgentDefinition,
  policy: Policy,
): { effective: string[]; missing: string[] } {
  const permitted = (capability: string) =>
    !policy.deniedCapabilities.includes(capability) &&
    (policy.allowedCapabilities?.includes(capability) ?? true) &&
    (capability !== "exec" || policy.allowShell) &&
    (!capability.startsWith("mcp__") || policy.allowMcp) &&
    policy.approvals[capability] !== "deny";
  const { required, optional } = definition.spec.capabilities;
  const effective = [...new Set([...required, ...optional])].filter(permitted).toSorted();
  return { effective, missing: required.filter((capability) => !permitted(capability)) };
}

import type { Refusal } from "../model/capability.ts";
import { effectiveCapabilities, isMcp, refusalsOf } from "../model/capability.ts";
import { HoldfastError } from "../model/errors.ts";
import type { AgentDefinition, Policy } from "../model/facts.ts";

/** What an agent may do: asked before it does anything. */

const refusalWords: Readonly<Record<Refusal, string>> = {
  denied: "take it out of the policy's deniedCapabilities",
  not_allowed: "name it in the policy's allowedCapabilities",
  approval: "let the policy's approvals not deny it",
  shell: "give --allow-shell, or allowShell in the policy",
  mcp: "give --allow-mcp, or allowMcp in the policy",
};

/**
 * What a definition asks for and a policy permits. Throws `usage` that names each required capability that it does not
 * permit, with what would.
 */
export function permittedCapabilities(definition: AgentDefinition, policy: Policy): string[] {
  const { effective, missing } = effectiveCapabilities(definition, policy);
  const { metadata, spec } = definition;
  if (missing.length > 0) {
    const lines = missing.map((capability) => {
      const ways = refusalsOf(policy, capability).map((refusal) => refusalWords[refusal]);
      return `\n  ${capability}: ${ways.join("; ")}`;
    });
    throw refused(`the policy does not permit what the agent ${metadata.name} requires:${lines.join("")}`);
  }
  // No MCP server can be named yet, so nobody offers such a tool.
  const absent = spec.capabilities.required.filter(isMcp);
  if (absent.length === 0) return effective;
  throw refused(
    `nothing offers what the agent ${metadata.name} requires: this version calls no MCP server` +
      absent.map((capability) => `\n  ${capability}`).join(""),
  );
}

function refused(message: string): HoldfastError {
  const hint = "What an agent can do without belongs into the optional capabilities of its definition.";
  return new HoldfastError("usage", message, { hint });
}

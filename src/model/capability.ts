import { builtinCapabilities } from "./default-definition.ts";
import type { AgentDefinition, Policy, SessionCreated } from "./facts.ts";

/** What an agent may be able to do, named by the tool that does it; and what a policy permits of it. */

const idLengthMax = 128;
const mcpTool = /^mcp__[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*__[A-Za-z0-9_.-]+$/;
const builtin: ReadonlySet<string> = new Set(builtinCapabilities);

/** True for the id of a capability: a tool of the built-in agent, or one of an MCP server. */
export function isCapability(id: string): boolean {
  return builtin.has(id) || (id.length <= idLengthMax && mcpTool.test(id));
}

/** Why a policy does not permit a capability. */
export type Refusal =
  /** The shell is not allowed. */
  | "shell"
  /** MCP servers are not allowed. */
  | "mcp"
  /** It is among the denied ones. */
  | "denied"
  /** It is not among the allowed ones. */
  | "not_allowed"
  /** Its approval is always `deny`. */
  | "approval";

/**
 * All that stands in the way of a capability; nothing where it is permitted. `exec` needs the shell to be allowed, a
 * tool of an MCP server MCP; what is denied anywhere is denied.
 */
export function refusalsOf(policy: Policy, capability: string): Refusal[] {
  const { deniedCapabilities, allowedCapabilities, allowShell, allowMcp, approvals } = policy;
  const refusals: Refusal[] = [];
  if (deniedCapabilities.includes(capability)) refusals.push("denied");
  if (allowedCapabilities?.includes(capability) === false) refusals.push("not_allowed");
  if (Object.hasOwn(approvals, capability) && approvals[capability] === "deny") refusals.push("approval");
  if (capability === "exec" && !allowShell) refusals.push("shell");
  if (isMcp(capability) && !allowMcp) refusals.push("mcp");
  return refusals;
}

/** True for a tool of an MCP server. */
export function isMcp(capability: string): boolean {
  return capability.startsWith("mcp__");
}

/** All that a definition asks for, sorted, each once. */
export function requestedCapabilities({ spec }: AgentDefinition): string[] {
  const { required, optional } = spec.capabilities;
  return [...new Set([...required, ...optional])].toSorted();
}

/** What the definition asks for and the policy permits, sorted; and what is required but not permitted. */
export function effectiveCapabilities(
  definition: AgentDefinition,
  policy: Policy,
): { effective: string[]; missing: string[] } {
  const isPermitted = (capability: string) => refusalsOf(policy, capability).length === 0;
  return {
    effective: requestedCapabilities(definition).filter(isPermitted),
    missing: definition.spec.capabilities.required.filter((capability) => !isPermitted(capability)),
  };
}

/**
 * What an agent may do in a session, and what it may do no more. Under the policy that the session was made with, what
 * was locked then bounds it, whatever a later version would permit; a policy that was accepted since is asked anew.
 */
export function lockedCapabilities(
  { definition, capabilities: locked, policyHash }: SessionCreated,
  inForce: { readonly policy: Policy; readonly policyHash: string },
): { capabilities: string[]; pastCapabilities: string[] } {
  const { effective } = effectiveCapabilities(definition, inForce.policy);
  const isFirst = inForce.policyHash === policyHash;
  const capabilities = isFirst ? effective.filter((one) => locked.includes(one)) : effective;
  const requested = [...new Set([...requestedCapabilities(definition), ...locked])];
  return { capabilities, pastCapabilities: requested.filter((one) => !capabilities.includes(one)) };
}

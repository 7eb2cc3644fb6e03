import type { Policy } from "../../model/facts.ts";
import { oneLine } from "./clean.ts";
import { formatCount, formatDuration } from "./units.ts";

/** What the agent may do, as it is recorded, in words for people. */
export function policyWords(policy: Policy): string {
  const { allowShell, allowMcp, passEnv, maxTurns, maxTokens, maxWallClockMs } = policy;
  const { allowedCapabilities, deniedCapabilities, approvals } = policy;
  const decided = (decision: string) =>
    Object.keys(approvals).filter((capability) => approvals[capability] === decision);
  const list = (what: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`${what}: ${names.join(", ")}`];
  const words = [
    allowShell ? "may run commands" : "may not run commands (--allow-shell was not given)",
    ...(passEnv.length === 0 ? [] : [`passes ${passEnv.join(", ")} to them`]),
    ...(allowMcp ? ["may call MCP servers"] : []),
    ...(allowedCapabilities === undefined
      ? []
      : [`allowed alone: ${allowedCapabilities.join(", ") || "nothing"}`]),
    ...list("denied", [...new Set([...deniedCapabilities, ...decided("deny")])]),
    ...list("asks before", decided("ask")),
    ...(maxTurns === undefined ? [] : [`at most ${formatCount(maxTurns, "turn")}`]),
    ...(maxTokens === undefined ? [] : [`at most ${formatCount(maxTokens, "token")}`]),
    ...(maxWallClockMs === undefined ? [] : [`at most ${formatDuration(maxWallClockMs)}`]),
  ];
  return oneLine(words.join("; "));
}

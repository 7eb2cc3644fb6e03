import type { Policy } from "./facts.ts";
import { isProviderKey } from "./variable-names.ts";

/** The policy as it is recorded: what was left open is closed, sets are sorted and unique. */

/** Members of a policy; what is absent is as careful as can be. */
export type GivenPolicy = { readonly [Member in keyof Policy]?: Policy[Member] | undefined };

/** Why a variable of that name cannot be passed on, in words that quote no value; undefined where it can. */
export function faultOfVariable(name: string): string | undefined {
  if (name === "") return "names no variable";
  const equals = name.indexOf("=");
  if (equals !== -1) return `${JSON.stringify(name.slice(0, equals))} is named without a value`;
  if (/[\s\p{Cc}]/u.test(name)) return `no variable is called ${JSON.stringify(name)}`;
  return isProviderKey(name) ? `${name} is a model provider's key, which no command ever sees` : undefined;
}

/** The policy that is recorded for what was given. */
export function completePolicy(given: GivenPolicy = {}): Policy {
  const { allowedCapabilities, maxTurns, maxWallClockMs, maxTokens } = given;
  return {
    ...(allowedCapabilities !== undefined && { allowedCapabilities: setOf(allowedCapabilities) }),
    deniedCapabilities: setOf(given.deniedCapabilities),
    allowShell: given.allowShell ?? false,
    allowMcp: given.allowMcp ?? false,
    passEnv: setOf(given.passEnv),
    ...(maxTurns !== undefined && { maxTurns }),
    ...(maxWallClockMs !== undefined && { maxWallClockMs }),
    ...(maxTokens !== undefined && { maxTokens }),
    approvals: given.approvals ?? {},
  };
}

function setOf(names: readonly string[] = []): string[] {
  return [...new Set(names)].toSorted();
}

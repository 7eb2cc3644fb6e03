import { differencesOf } from "../model/difference.ts";
import type { ErrorCode } from "../model/errors.ts";
import { HoldfastError } from "../model/errors.ts";
import type { AgentDefinition } from "../model/facts.ts";
import type { SessionState } from "../model/fold.ts";
import { permittedCapabilities } from "./permission.ts";
import { lockDefinition } from "./read-definition.ts";
import type { RecordedPolicy } from "./read-policy.ts";

/** What a caller gives again on a resume is compared with what the session was locked to. */

/** Refuses a definition that is not the locked one: a session keeps the agent that it was made with. */
export function refuseOtherDefinition(state: SessionState, given: AgentDefinition): void {
  const { definition: locked, definitionHash } = state.created;
  if (lockDefinition(given).definitionHash === definitionHash) return;
  throw drift("definition_drift", `the definition of session ${state.id} is another one`, {
    lines: differencesOf(locked, given),
    hint: `A session keeps its definition. Without --spec it goes on under that: holdfast resume ${state.id}`,
  });
}

/** Refuses a policy that is not the one in force, unless it is to be accepted; then one that forbids what the agent requires. */
export function refuseOtherPolicy(state: SessionState, given: RecordedPolicy, isAccepted: boolean): void {
  if (given.policyHash === state.policy.hash) return;
  if (isAccepted) {
    permittedCapabilities(state.created.definition, given.policy);
    return;
  }
  throw drift("policy_drift", `the policy of session ${state.id} is another one`, {
    lines: differencesOf(state.policy.policy, given.policy),
    hint: `Without policy flags the recorded policy holds: holdfast resume ${state.id}`,
  });
}

function drift(
  code: ErrorCode,
  message: string,
  { lines, hint }: { readonly lines: readonly string[]; readonly hint: string },
): HoldfastError {
  return new HoldfastError(code, `${message}:${lines.map((line) => `\n  ${line}`).join("")}`, { hint });
}

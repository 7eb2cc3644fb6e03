import * as z from "zod/mini";
import { Budget, BudgetMs, Capability } from "./document-fields.ts";
import type { GivenPolicy } from "./policy.ts";
import { faultOfVariable } from "./policy.ts";
import type { Path, Problem } from "./problems.ts";
import { problemsOf } from "./problems.ts";
import { brokenTexts } from "./texts.ts";
import { isRecord } from "./values.ts";

/** The policy as people write it: everything that can be wrong with one is found here, at once. */

const Capabilities = z.optional(z.array(Capability));

const PolicyFile = z.strictObject({
  allowedCapabilities: Capabilities,
  deniedCapabilities: Capabilities,
  allowShell: z.optional(z.boolean()),
  allowMcp: z.optional(z.boolean()),
  // What is wrong with a name is said by hand: never with what stands behind it, which may be the secret itself.
  passEnv: z.optional(z.array(z.string())),
  maxTurns: z.optional(Budget),
  maxWallClockMs: z.optional(BudgetMs),
  maxTokens: z.optional(Budget),
  approvals: z.optional(z.record(z.string(), z.enum(["allow", "ask", "deny"]))),
});

/** What a policy file says, or everything that is wrong with it. */
export type CheckedPolicy =
  | { readonly policy: GivenPolicy; readonly problems: readonly [] }
  | { readonly policy?: undefined; readonly problems: readonly Problem[] };

/** Checks a value that should be a policy, as a file has it. */
export function checkPolicy(value: unknown): CheckedPolicy {
  if (!isRecord(value)) return { problems: [{ path: [], text: "it is not a mapping" }] };
  const file = PolicyFile.safeParse(value);
  const problems = [
    ...(file.success ? [] : problemsOf(file.error.issues, value)),
    ...problemsOfApprovals(value["approvals"]),
    ...problemsOfNames(value["passEnv"], ["passEnv"]),
    ...brokenTexts(value),
  ];
  if (!file.success || problems.length > 0) return { problems };
  return { policy: file.data, problems: [] };
}

/** By hand: the schema library passes over the name of the prototype. */
function problemsOfApprovals(approvals: unknown): Problem[] {
  if (!isRecord(approvals)) return [];
  return Object.keys(approvals).flatMap((name) => {
    const named = Capability.safeParse(name);
    return named.success ? [] : problemsOf(named.error.issues, name, { prefix: ["approvals", name] });
  });
}

function problemsOfNames(names: unknown, path: Path): Problem[] {
  const items: readonly unknown[] = Array.isArray(names) ? names : [];
  return items.flatMap((name, index) => {
    const text = typeof name === "string" ? faultOfVariable(name) : undefined;
    return text === undefined ? [] : [{ path: [...path, index], text }];
  });
}

import { sha256 } from "../host/index.ts";
import { canonicalJson } from "../model/canonical-json.ts";
import { HoldfastError } from "../model/errors.ts";
import type { Policy } from "../model/facts.ts";
import type { GivenPolicy } from "../model/policy.ts";
import { completePolicy, faultOfVariable } from "../model/policy.ts";
import type { EngineContext } from "./context.ts";
import type { NamedFile } from "./read-document.ts";
import { readNamedDocument, refuseSecrets } from "./read-document.ts";

/** What a caller permits: a file, and flags that add to it. */
export interface PolicySources {
  readonly file?: NamedFile;
  readonly allowShell?: boolean;
  readonly allowMcp?: boolean;
  readonly passEnv?: readonly string[];
}

/** A policy as it is recorded. */
export interface RecordedPolicy {
  readonly policy: Policy;
  /** SHA-256 of the policy's canonical JSON: 64 hex digits. */
  readonly policyHash: string;
}

/** Bytes that it may have, as it stands in the file and as it is recorded. */
export const policyBytesMax = 64 * 1024;

/** The policy that is recorded for what was given, with its hash. */
export function recordPolicy(given: GivenPolicy): RecordedPolicy {
  const policy = completePolicy(given);
  return { policy, policyHash: sha256(canonicalJson(policy)) };
}

/**
 * Reads a policy: what the file says, widened by the flags. Rejects `usage` with everything that is wrong with it. A
 * variable that is not set may be named, for it may be set where the session goes on: `unset` has those.
 */
export async function readPolicy(
  context: Pick<EngineContext, "openRedactor" | "environment">,
  sources: PolicySources,
): Promise<{ policy: Policy; unset: readonly string[] }> {
  const { file, passEnv: flagged = [] } = sources;
  refuseVariables(flagged);
  const given = file === undefined ? {} : await readPolicyFile(context, file);
  const policy = completePolicy({
    ...given,
    allowShell: given.allowShell === true || sources.allowShell === true,
    allowMcp: given.allowMcp === true || sources.allowMcp === true,
    passEnv: [...(given.passEnv ?? []), ...flagged],
  });
  return { policy, unset: policy.passEnv.filter((name) => context.environment[name] === undefined) };
}

async function readPolicyFile(
  context: Pick<EngineContext, "openRedactor">,
  file: NamedFile,
): Promise<GivenPolicy> {
  const what = `the policy ${file.name}`;
  const document = await readNamedDocument(file, { what, bytesMax: policyBytesMax });
  await refuseSecrets(context, document);
  const { checkPolicy } = await import("../model/policy-file.ts");
  const { policy, problems } = checkPolicy(document.value);
  const all = [...document.problems, ...problems];
  if (policy === undefined || all.length > 0) throw document.refusal(all);
  return policy;
}

function refuseVariables(names: readonly string[]): void {
  const faults = names.flatMap((name) => faultOfVariable(name) ?? []);
  if (faults.length === 0) return;
  throw new HoldfastError("usage", `--pass-env: ${faults.join("; ")}`, {
    hint: "A variable is passed on by its name alone, as in --pass-env NPM_TOKEN.",
  });
}

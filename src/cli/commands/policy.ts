import type { EngineContext } from "../../engine/index.ts";
import { policyBytesMax, readPolicy } from "../../engine/index.ts";
import type { Policy } from "../../model/facts.ts";
import type { Call } from "../call.ts";
import { wrote } from "../failure.ts";
import { readNamedFile } from "../named-file.ts";
import { Screen } from "../screen.ts";

/** The flags that bound what an agent may do. */
export interface PolicyArguments {
  readonly policy?: string;
  readonly allowShell?: boolean;
  readonly allowMcp?: boolean;
  readonly passEnv?: readonly string[];
}

const policyFile = {
  what: "the policy",
  bytesMax: policyBytesMax,
  limit: `a policy is at most ${policyBytesMax / 1024} KiB`,
};

/** The policy that flags mean; undefined where none was given, so that a recorded one holds. */
export async function policyOf(
  call: Call,
  context: EngineContext,
  flags: PolicyArguments,
): Promise<Policy | undefined> {
  const { policy: name, allowShell, allowMcp, passEnv } = flags;
  if ([name, allowShell, allowMcp, passEnv].every((flag) => flag === undefined)) return undefined;
  const { policy, unset } = await readPolicy(context, {
    ...(name !== undefined && { file: { name, bytes: await readNamedFile(call.outside, name, policyFile) } }),
    ...(allowShell !== undefined && { allowShell }),
    ...(allowMcp !== undefined && { allowMcp }),
    ...(passEnv !== undefined && { passEnv }),
  });
  if (unset.length > 0 && call.form !== "json") await warnUnset(call, unset);
  return policy;
}

/** It is no fault: a job without the secret is to run as well, and the next machine may have it. */
async function warnUnset({ outside }: Call, names: readonly string[]): Promise<void> {
  const screen = new Screen(outside.stderr, outside.mayColour);
  for (const name of names) {
    screen.line(["warn", "holdfast: "], `${name} is to be passed to commands and is not set here`);
  }
  await wrote(screen.flushed());
}

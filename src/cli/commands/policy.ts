import type { PolicyFlags } from "../../engine/index.ts";

/** The flags that bound what an agent may do. */
export interface PolicyArguments {
  readonly allowShell?: boolean;
  readonly passEnv?: readonly string[];
}

/** The policy that flags mean; undefined where none was given, so that a recorded one holds. */
export function policyFlagsOf(flags: PolicyArguments): PolicyFlags | undefined {
  const { allowShell, passEnv } = flags;
  if (allowShell === undefined && passEnv === undefined) return undefined;
  return {
    ...(allowShell !== undefined && { allowShell }),
    ...(passEnv !== undefined && { passEnv: [...passEnv] }),
  };
}

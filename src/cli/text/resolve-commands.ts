/** The commands by which a person says something about an operation, ready to be copied. */

/** One operation of a run. */
export interface NamedOperation {
  readonly session: string;
  readonly run: string;
  readonly id: string;
}

/** A command of `run` about one operation; broken so that it fits 80 columns and is still one command. */
export function operationCommand(
  program: string,
  verb: string,
  { session, run, id }: NamedOperation,
): readonly [string, string] {
  return [`${program} run ${verb} ${session} \\`, `  ${run} ${id}`];
}

/** The commands that say what happened to an operation. */
export function resolveCommands(
  program: string,
  operation: NamedOperation,
): {
  readonly happened: readonly string[];
  readonly failed: readonly string[];
  readonly not: readonly string[];
} {
  const [first, second] = operationCommand(program, "resolve", operation);
  const head = [first, `${second} \\`];
  return {
    happened: [...head, `  --output "what it did"`],
    failed: [...head, `  --output "how it failed" --is-error`],
    not: [...head, "  --not-executed"],
  };
}

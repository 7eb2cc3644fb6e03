/** The commands by which a person says what happened, ready to be copied. */

/** For one operation; broken so that they fit 80 columns and are still one command each. */
export function resolveCommands(
  program: string,
  operation: { readonly session: string; readonly run: string; readonly id: string },
): {
  readonly happened: readonly string[];
  readonly failed: readonly string[];
  readonly not: readonly string[];
} {
  const { session, run, id } = operation;
  const head = [`${program} run resolve ${session} \\`, `  ${run} ${id} \\`];
  return {
    happened: [...head, `  --output "what it did"`],
    failed: [...head, `  --output "how it failed" --is-error`],
    not: [...head, "  --not-executed"],
  };
}

import type { Failure } from "./failure.ts";

/** The one JSON document of a command: what it came to, or why not; of work that did not complete, both. */
export function documentOf(
  kind: string,
  result: { readonly data?: unknown; readonly error?: Failure | undefined },
): object {
  const { data, error } = result;
  return { ok: error === undefined, kind, ...(data !== undefined && { data }), ...(error && { error }) };
}

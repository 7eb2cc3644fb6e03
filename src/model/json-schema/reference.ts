import { isRecord } from "../values.ts";

/** References inside of one schema. */

/** What a reference names: `#` the whole, `#/$defs/x` a part of it; undefined where there is no such thing. */
export function resolveReference(root: unknown, reference: string): unknown {
  const names = namesOf(reference);
  let found = root;
  for (const name of names ?? []) {
    if (Array.isArray(found))
      found = /^(?:0|[1-9]\d*)$/.test(name) ? (found as unknown[])[Number(name)] : undefined;
    else found = isRecord(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return names === undefined ? undefined : found;
}

/** The names of a pointer; undefined where it is none. */
function namesOf(reference: string): string[] | undefined {
  if (reference === "#") return [];
  if (!reference.startsWith("#/")) return undefined;
  try {
    const pointer = decodeURIComponent(reference.slice(2));
    return pointer.split("/").map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  } catch {
    // A stray % is no pointer.
    return undefined;
  }
}

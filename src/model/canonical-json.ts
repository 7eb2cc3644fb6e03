import type { Json } from "./values.ts";

/** One text for equal values: members sorted by code unit, absent ones left out. What hashes are taken of. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value as Json));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const names = Object.keys(value).toSorted();
  const entries = names.flatMap((name) => {
    const member = value[name];
    return member === undefined ? [] : [[name, sorted(member)] as const];
  });
  return Object.fromEntries(entries);
}

/**
 * One text for equal values, whatever the order of their members: members sorted by code unit, absent ones left out, no
 * space. What hashes are taken of. `value` must be JSON, but for members that are undefined.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((element) => canonicalJson(element)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  // Written member by member: an object keeps names that are numbers in an order of its own.
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(",")}}`;
}

import type { Json } from "../model/values.ts";

/**
 * JSON values as deep as anybody can send them. The language's own writer recurses and overflows at some thousand levels
 * that its reader still takes, so nothing here recurses.
 */

/** How deep a value may be nested to stand in a line. */
const depthMax = 256;

/** True where a value is nested deeper than {@link depthMax}. */
export function isDeep(value: Json): boolean {
  let level: Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > depthMax) return true;
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
  }
  return false;
}

/** The JSON text of a value, however deep. */
export function writeJson(root: Json): string {
  if (!isDeep(root)) return JSON.stringify(root);
  const out: string[] = [];
  const work: (string | { readonly value: Json })[] = [{ value: root }];
  for (let item = work.pop(); item !== undefined; item = work.pop()) {
    if (typeof item === "string") out.push(item);
    else if (Array.isArray(item.value)) {
      const items = item.value.flatMap((value, index) => [...(index > 0 ? [","] : []), { value }]);
      pushAll(work, ["]", ...items.toReversed(), "["]);
    } else if (typeof item.value === "object" && item.value !== null) {
      const members = Object.entries(item.value).flatMap(([name, value], index) => [
        `${index > 0 ? "," : ""}${JSON.stringify(name)}:`,
        { value },
      ]);
      pushAll(work, ["}", ...members.toReversed(), "{"]);
    } else out.push(JSON.stringify(item.value));
  }
  return out.join("");
}

/** A spread of a long list into arguments overflows as well. */
function pushAll<T>(work: T[], items: readonly T[]): void {
  for (const item of items) work.push(item);
}

/** A copy with every text of it, names of members included, replaced by what `change` makes of it. */
export function mapTexts(root: Json, change: (text: string) => string): Json {
  const top: Json[] = [root];
  const work: (readonly [into: Json[] | { [key: string]: Json }, key: string])[] = [[top, "0"]];
  for (let place = work.pop(); place !== undefined; place = work.pop()) {
    const [into, key] = place as [{ [key: string]: Json }, string];
    const value = into[key];
    if (typeof value === "string") into[key] = change(value);
    else if (typeof value === "object" && value !== null) {
      // Made with its members: an assignment to `__proto__` would make none.
      const copy = Array.isArray(value)
        ? [...value]
        : Object.fromEntries(Object.entries(value).map(([name, member]) => [change(name), member]));
      into[key] = copy;
      for (const name of Object.keys(copy)) work.push([copy, name]);
    }
  }
  return top[0] ?? null;
}

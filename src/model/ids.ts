/** Ids: a prefix that names the kind, then 26 lower-case Crockford base32 characters of a time-ordered 128-bit value. */

/** What an id names: session, run, operation, message, delivery, request, device, store. */
export type IdPrefix = "ses" | "run" | "op" | "msg" | "dlv" | "req" | "dev" | "sto";

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const prefixes: readonly IdPrefix[] = ["ses", "run", "op", "msg", "dlv", "req", "dev", "sto"];
const patterns = new Map(
  prefixes.map((prefix) => [prefix, new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`)]),
);

/** True where `text` is a whole id of that kind. Checked before any path is built from one. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return patterns.get(prefix)?.test(text) === true;
}

const timeMax = 2 ** 48 - 1;

/** Builds an id from wall-clock milliseconds and 10 random bytes. Ids of a later millisecond sort after earlier ones. */
export function makeId(prefix: IdPrefix, atMs: number, random: Uint8Array): string {
  // A clock set before 1970 must still give an id.
  let value = BigInt(Math.min(Math.max(0, Math.floor(atMs)), timeMax));
  for (let index = 0; index < 10; index++) value = (value << 8n) | BigInt(random[index] ?? 0);
  let body = "";
  for (let shift = 125n; shift >= 0n; shift -= 5n) body += alphabet[Number((value >> shift) & 31n)];
  return `${prefix}_${body}`;
}

/** The wall-clock milliseconds in an id that {@link isId} accepts. */
export function timeOfId(id: string): number {
  const body = id.slice(id.indexOf("_") + 1);
  let value = 0;
  // 10 characters are 50 bits: the two leading zero bits of 130 and the 48 of the time.
  for (const character of body.slice(0, 10)) value = value * 32 + alphabet.indexOf(character);
  return value;
}

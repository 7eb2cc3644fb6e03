/** Random bits. Kept apart so that tests can fix them. */
export interface Ids {
  /** `count` random bytes. */
  random(count: number): Uint8Array;
}

/** `count` random bytes as lower-case hex: a name that nobody else has taken. */
export function randomHex(ids: Ids, count: number): string {
  return Buffer.from(ids.random(count)).toString("hex");
}

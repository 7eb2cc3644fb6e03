/** Random bits. Kept apart so that tests can fix them. */
export interface Ids {
  /** `count` random bytes. */
  random(count: number): Uint8Array;
}

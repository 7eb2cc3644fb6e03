/** A deliberate damage to the product: a small change of its text, by which a promise breaks. */
export type Mutant = Damage & (Killed | Survivor);

interface Damage {
  /** In a few words, joined by hyphens. */
  readonly name: string;
  /** The file in `src`. */
  readonly file: string;
  /** What stands there exactly once, and what then stands in its place. */
  readonly find: string;
  readonly replace: string;
  /** The promise that it breaks, as a sentence. */
  readonly breaks: string;
}

interface Killed {
  /** Test files, or names of plans of the campaign, that fail with it; the quickest one first. */
  readonly killedBy: readonly [string, ...string[]];
}

interface Survivor {
  /** Why no test can see it. */
  readonly explained: string;
}

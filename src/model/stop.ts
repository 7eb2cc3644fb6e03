/** Why work shall end before it is done. */

/** What somebody, or the clock, wants of work that is under way. */
export type Stop =
  /** The run shall end as canceled. */
  | { readonly kind: "cancel"; readonly by: string }
  /** The run shall end as failed, and what is unknown of it stays so. */
  | { readonly kind: "abandon"; readonly by: string }
  /** This attempt shall end; the run stays open. */
  | { readonly kind: "suspend"; readonly reason: "signal" | "stop" }
  /** The run has used up its time. */
  | { readonly kind: "budget" };

/** What ends more outranks what ends less. */
const ranks: Readonly<Record<Stop["kind"], number>> = { suspend: 0, budget: 1, cancel: 2, abandon: 3 };

/** Of two reasons to stop the one that counts: the one that ends more, the earlier one where they are alike. */
export function graverStop(earlier: Stop | undefined, later: Stop): Stop {
  return earlier !== undefined && ranks[earlier.kind] >= ranks[later.kind] ? earlier : later;
}

import type { Case, Counts, Extent } from "../campaign/plan.ts";
import { draw } from "./draw.ts";

/**
 * Kills one after the other: the first at its `n`-th change, whoever comes next at its `m`-th, and so on. A chain is
 * written `12.3.7`, which is its address.
 */
export type KillChain = readonly number[];

/** How many changes each life has, so that chains know where they may kill. */
export interface LifeLengths {
  readonly first: number;
  readonly later: number;
}

/** Which chains are wanted. */
export interface ChainChoice {
  /** Kills of a chain. */
  readonly kills: number;
  /** How many chains the small extent has. */
  readonly small: number;
  /** How far the second kills of the full extent are apart, in changes. */
  readonly step?: number;
}

/**
 * Each change of the first life with each of the second; what comes after is drawn from the seed. In another order
 * than counted, so that whoever stops early has seen something of everything.
 */
export function* chainsOf(
  { first, later }: LifeLengths,
  { seed, size }: Extent,
  { kills, small, step = 1 }: ChainChoice,
): Generator<KillChain> {
  const tail = (n: number, m: number): KillChain => [
    n,
    m,
    ...Array.from({ length: kills - 2 }, (_, index) => 1 + draw(later, "chain", seed, n, m, index)),
  ];
  if (size === "small") {
    for (let index = 0; index < small; index++) {
      yield tail(
        1 + Math.floor(((index + 0.5) * first) / small),
        1 + Math.floor((((index * 2 + 1) % small) * later) / small),
      );
    }
    return;
  }
  for (let round = 0; round < later; round += step) {
    for (let n = 1; n <= first; n++) {
      const m = 1 + ((n * 7 + round) % later);
      yield tail(n, m);
    }
  }
  for (let round = 0; size === "endless"; round++) {
    yield tail(1 + draw(first, seed, "first", round), 1 + draw(later, seed, "second", round));
  }
}

/** The case of one chain. */
export function chainCase(chain: KillChain, run: (chain: KillChain) => Promise<Partial<Counts>>): Case {
  return { address: chain.join("."), run: () => run(chain) };
}

/** Reads an address. Throws where it is none. */
export function chainAt(address: string): KillChain {
  if (!/^\d+(\.\d+)*$/.test(address))
    throw new Error(`${JSON.stringify(address)} is no list of kills such as 12.3.7`);
  return address.split(".").map(Number);
}

import type { BrokenPromise } from "./finding.ts";
import type { Counts, Extent } from "./plan.ts";

/** A part of the campaign for one process. */
export interface Task {
  /** Name of the plan. */
  readonly plan: string;
  readonly extent: Extent;
  /** So long, where the plan has no end of its own; milliseconds. */
  readonly forMs?: number;
  /** Only this case. */
  readonly at?: string;
}

/** Something that did not hold, and how to see it again. */
export interface FoundFault {
  readonly plan: string;
  readonly address: string;
  readonly promise: BrokenPromise;
  readonly message: string;
}

/** What a part of the campaign came to. */
export interface TaskResult {
  readonly plan: string;
  readonly cases: number;
  readonly counts: Counts;
  /** Milliseconds, and those of them that this process itself computed. */
  readonly durationMs: number;
  readonly cpuMs: number;
  readonly found: readonly FoundFault[];
  /** Why something was left out, where it was. */
  readonly skipped: readonly string[];
}

/** Nothing done yet. */
export const noCounts: Counts = {
  kills: 0,
  simulatedKills: 0,
  faults: 0,
  powerStates: 0,
  goneOn: 0,
  orders: 0,
  histories: 0,
};

/** Both together. */
export function addCounts(one: Counts, other: Partial<Counts>): Counts {
  const names = Object.keys(noCounts) as (keyof Counts)[];
  return Object.fromEntries(names.map((name) => [name, one[name] + (other[name] ?? 0)])) as unknown as Counts;
}

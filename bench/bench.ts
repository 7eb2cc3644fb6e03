/** What one benchmark found. Times are in milliseconds, memory is in bytes. */
export interface BenchResult {
  readonly name: string;
  /** Ours, and what it is compared with: medians of several rounds in one process. */
  readonly ours: number;
  readonly beside: number;
  /** `ours / beside`: the figure that a goal is about, since it holds across machines. */
  readonly ratio: number;
  /** True where every goal was met. */
  readonly met: boolean;
  /** Further figures: resident memory, throughput, sizes. */
  readonly details?: Readonly<Record<string, number>>;
}

/** One benchmark: builds its files in a temporary directory, measures, and removes them. */
export interface Bench {
  readonly name: string;
  /** What it is compared with, in words. */
  readonly beside: string;
  /** The goal, in words. */
  readonly goal: string;
  run(): Promise<BenchResult>;
}

/** The middle value. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Milliseconds that `work` takes. */
export async function timeOf(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

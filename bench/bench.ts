/** One measured row of a benchmark. */
export interface BenchResult {
  /** What Holdfast took, in `unit`. */
  readonly ours: number;
  /** What the thing beside it took, in `unit`, in the same run on the same machine. */
  readonly beside: number;
  /** Unit of both numbers: `ms`, `µs`, `CPU ms`, … Less is better. */
  readonly unit: string;
  /** `ours / beside`: the median over interleaved rounds, so that what else the machine does hits both. */
  readonly ratio: number;
  /** What a reader must know to judge the numbers. */
  readonly notes?: string;
}

/**
 * A benchmark: something of ours measured beside something plain. A file `bench/<name>.ts` exports its rows as
 * `export const benches: readonly Bench[]`; `scripts/bench.mjs` bundles the file and runs them one after another.
 */
export interface Bench {
  /** Name of the row, in a few words. */
  readonly name: string;
  /** What it is measured beside. */
  readonly beside: string;
  /** The highest ratio that is still good. Nothing fails above it: the runner compares and prints. */
  readonly goal: number;
  /** Measures; leaves nothing behind. Rejects where the machine lacks something (a compiler), which is printed. */
  run(): Promise<BenchResult>;
}

/** The middle of a list; the mean of the two middle ones where their number is even. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError("a median needs at least one value");
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

/** Measures two things in turn, so that a busy moment hits both, and compares round by round. */
export async function compareInRounds(
  rounds: number,
  unit: string,
  measure: { ours: () => Promise<number> | number; beside: () => Promise<number> | number },
): Promise<BenchResult> {
  const ours: number[] = [];
  const beside: number[] = [];
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    // Whoever goes second finds warmer caches: take turns.
    const oursFirst = round % 2 === 0;
    const first = await (oursFirst ? measure.ours() : measure.beside());
    const second = await (oursFirst ? measure.beside() : measure.ours());
    const [mine, theirs] = oursFirst ? [first, second] : [second, first];
    ours.push(mine);
    beside.push(theirs);
    ratios.push(mine / theirs);
  }
  return { ours: median(ours), beside: median(beside), unit, ratio: median(ratios) };
}

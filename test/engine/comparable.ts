import type { Commit } from "../../src/model/commit.ts";

/**
 * The facts of a session, made comparable with those of another one that did the same: ids are numbered in the order in
 * which they first appear, and what is never the same twice (times, durations, sums of lines, numbers of inodes,
 * processes and starts) is replaced by a mark. Nothing else is touched, so any other difference is one.
 */

/** Members that say when, how long, which inode, which process, which start. */
const neverTheSame = new Set([
  "at",
  "admittedAt",
  "startedAt",
  "endedAt",
  "firstTokenMs",
  "durationMs",
  "elapsedMs",
  "inode",
  "birthtimeNs",
  "pid",
  "startTime",
  "bootId",
  "nonce",
  "socket",
]);
const id = /\b(ses|run|op|msg|dlv|sto|dev|req)_[0-9a-z]{26}\b/g;

/** One fact, with the place of its line among the others that stand there. */
export type ComparableFact = Readonly<Record<string, unknown>>;

/** The facts in order. What is called in parallel ends in any order, so such ends stand in the order of their ids. */
export function comparableFacts(commits: readonly Pick<Commit, "facts">[]): ComparableFact[] {
  const numbers = new Map<string, string>();
  const counts = new Map<string, number>();
  const numbered = (text: string): string =>
    text.replaceAll(id, (found, prefix: string) => {
      const known = numbers.get(found);
      if (known !== undefined) return known;
      const count = (counts.get(prefix) ?? 0) + 1;
      counts.set(prefix, count);
      numbers.set(found, `${prefix}_${count}`);
      return `${prefix}_${count}`;
    });
  const compared = (value: unknown): unknown => {
    if (typeof value === "string") return numbered(value);
    if (Array.isArray(value)) return value.map((item) => compared(item));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [
        numbered(name),
        neverTheSame.has(name) ? "(any)" : compared(item),
      ]),
    );
  };
  const lines = commits.map(({ facts }) => facts.map((fact) => compared(fact) as ComparableFact));
  return sortParallelEnds(lines).flat();
}

function sortParallelEnds(lines: ComparableFact[][]): ComparableFact[][] {
  const sorted: ComparableFact[][] = [];
  let ends: ComparableFact[][] = [];
  const flush = (): void => {
    sorted.push(...ends.toSorted((a, b) => numberOf(a) - numberOf(b)));
    ends = [];
  };
  for (const line of lines) {
    if (line.length === 1 && line[0]?.["kind"] === "op.known") ends.push(line);
    else {
      flush();
      sorted.push(line);
    }
  }
  flush();
  return sorted;
}

function numberOf(line: readonly ComparableFact[]): number {
  return Number(String(line[0]?.["operation"]).replace("op_", ""));
}

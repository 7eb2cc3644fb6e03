import type { Commit } from "../../src/model/commit.ts";
import type { HistorySource } from "../../src/store/read-log.ts";
import { readHistory } from "../../src/store/read-log.ts";

/** What a diagnostic reading from the start finds. */
export async function readAll(source: HistorySource) {
  const commits: Commit[] = [];
  const { history, damage } = await readHistory(source, (commit) => void commits.push(commit));
  const { scan, remainder, voids } = history;
  return { commits, head: scan.head, voids, remainder, damage };
}

/** The sums of commits: equal sums are equal lines. */
export function sumsOf(commits: readonly Commit[]): string[] {
  return commits.map((commit) => commit.sum);
}

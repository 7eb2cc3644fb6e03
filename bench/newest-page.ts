import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { nodeHost } from "../src/host/index.ts";
import { readPage } from "../src/store/page.ts";
import type { LogPart } from "../src/store/read-log.ts";
import type { Bench, BenchResult } from "./bench.ts";
import { compareInRounds } from "./bench.ts";
import { inTemporaryDirectory, writeSessionLikeLog } from "./session-like-log.ts";

/** What it costs to show the end of a long session: it must not depend on what is older. */

const mebibyte = 1024 * 1024;
const shortBytes = mebibyte;
const longBytes = 1024 * mebibyte;
const recordsMin = 200;
const rounds = 15;
const pagesInRound = 40;
const residentMax = 120 * 1_000_000;

/** The time of a page, and the memory of a process that reads one. */
export const benches: readonly Bench[] = [
  {
    name: "newest page of a 1 GB session",
    beside: "of a 1 MB one",
    goal: 1.5,
    run: () => inTemporaryDirectory(measureTime),
  },
  {
    name: "resident memory of a process that reads it",
    beside: "120 MB",
    goal: 1,
    run: () => inTemporaryDirectory(measureMemory),
  },
];

async function measureTime(directory: string): Promise<BenchResult> {
  const long = writeSessionLikeLog(join(directory, "long.jsonl"), longBytes);
  const short = writeSessionLikeLog(join(directory, "short.jsonl"), shortBytes);
  const result = await compareInRounds(rounds, "ms", {
    ours: () => timeOfPages(long),
    beside: () => timeOfPages(short),
  });
  return { ...result, notes: `${recordsMin} records, ${pagesInRound} pages a round` };
}

/** Milliseconds for one newest page, in the mean of several. */
async function timeOfPages(own: LogPart): Promise<number> {
  const { disk } = nodeHost();
  const start = performance.now();
  for (let count = 0; count < pagesInRound; count++) await readPage({ disk, bases: [], own }, { recordsMin });
  return (performance.now() - start) / pagesInRound;
}

async function measureMemory(directory: string): Promise<BenchResult> {
  const own = writeSessionLikeLog(join(directory, "long.jsonl"), longBytes);
  const [program, log] = [import.meta.url, own].map((value) => JSON.stringify(value));
  const script = `const { residentBytesAfterPages } = await import(${program}); console.log(await residentBytesAfterPages(${log}));`;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  const ours = Number(output) / 1_000_000;
  const beside = residentMax / 1_000_000;
  return {
    ours,
    beside,
    unit: "MB",
    ratio: ours / beside,
    notes: "the peak, after 20 pages from the newest back",
  };
}

/** Reads pages in this process and resolves to the most memory it ever held; called in a process of its own. */
export async function residentBytesAfterPages(own: LogPart): Promise<number> {
  const source = { disk: nodeHost().disk, bases: [], own };
  let page = await readPage(source, { recordsMin });
  for (let count = 1; count < 20; count++) page = await readPage(source, { recordsMin, before: page.start });
  return process.resourceUsage().maxRSS * 1024;
}

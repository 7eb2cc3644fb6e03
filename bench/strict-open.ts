import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { nodeHost } from "../src/host/index.ts";
import { lineBytesMax } from "../src/store/line.ts";
import { readStrictly } from "../src/store/read-log.ts";
import type { Bench, BenchResult } from "./bench.ts";
import { compareInRounds } from "./bench.ts";
import { inTemporaryDirectory, writeSessionLikeLog } from "./session-like-log.ts";

const logBytes = 100 * 1024 * 1024;
const rounds = 7;

/** Strict open of a long log: what a resume reads before it does anything. */
export const benches: readonly Bench[] = [
  {
    name: "strict open of 100 MB",
    beside: "plain JSON.parse of its lines",
    goal: 2,
    run: () => inTemporaryDirectory(measure),
  },
];

async function measure(directory: string): Promise<BenchResult> {
  const own = writeSessionLikeLog(join(directory, "log.jsonl"), logBytes);
  const { disk } = nodeHost();
  let lines = 0;
  const result = await compareInRounds(rounds, "ms", {
    beside: () => timeOf(async () => parseLines(own.path)),
    ours: () =>
      timeOf(async () => {
        lines = 0;
        await readStrictly({ disk, bases: [], own }, () => void lines++);
      }),
  });
  return { ...result, notes: `${lines} lines, ${Math.round(logBytes / lines)} bytes each in the mean` };
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** The least that any reader does: cut into lines, decode, parse. */
function parseLines(path: string): number {
  const file = openSync(path, "r");
  try {
    const buffer = Buffer.allocUnsafe(2 * lineBytesMax);
    let [filled, position, count] = [0, 0, 0];
    for (;;) {
      const length = readSync(file, buffer, filled, buffer.length - filled, position);
      if (length === 0) return count;
      [filled, position] = [filled + length, position + length];
      let used = 0;
      for (let newline = buffer.indexOf(0x0a); newline !== -1 && newline < filled;) {
        JSON.parse(buffer.toString("utf8", used, newline));
        [used, count] = [newline + 1, count + 1];
        newline = buffer.indexOf(0x0a, used);
      }
      buffer.copyWithin(0, used, filled);
      filled -= used;
    }
  } finally {
    closeSync(file);
  }
}

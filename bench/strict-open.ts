import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { nodeHost } from "../src/host/index.ts";
import { lineBytesMax } from "../src/store/line.ts";
import { readStrictly } from "../src/store/read-log.ts";
import type { Bench, BenchResult } from "./bench.ts";
import { medianOf, timeOf } from "./bench.ts";
import { inTemporaryDirectory, writeSessionLikeLog } from "./session-like-log.ts";

const logBytes = 100 * 1024 * 1024;
const rounds = 7;
const ratioMax = 2;

/** Strict open of a long log: what a resume reads before it does anything. */
export const bench: Bench = {
  name: "strict open of 100 MB",
  beside: "plain JSON.parse of its lines",
  goal: "at most 2.0 times",
  run: () => inTemporaryDirectory(measure),
};

async function measure(directory: string): Promise<BenchResult> {
  const own = writeSessionLikeLog(join(directory, "log.jsonl"), logBytes);
  const { disk } = nodeHost();
  const [ours, beside]: [number[], number[]] = [[], []];
  let lines = 0;
  for (let round = 0; round < rounds; round++) {
    beside.push(await timeOf(() => parseLines(own.path)));
    lines = 0;
    ours.push(await timeOf(() => readStrictly({ disk, bases: [], own }, () => lines++)));
  }
  const ratio = medianOf(ours) / medianOf(beside);
  return {
    name: bench.name,
    ours: medianOf(ours),
    beside: medianOf(beside),
    ratio,
    met: ratio <= ratioMax,
    details: { lines, meanLineBytes: Math.round(logBytes / lines) },
  };
}

/** The least that any reader does: cut into lines, decode, parse. */
export function parseLines(path: string): number {
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

import { expect, test } from "vitest";
import { judge, SumHistory, type Verdict } from "../../src/store/chain.ts";

const sum = (name: string): string => name.repeat(32);

/** A file whose accepted lines have the sums `aa…`, `bb…`, `cc…`, the last one at seq 2, in epoch 3. */
const head = { seq: 2, epoch: 3, sum: sum("c") };
const sums = new SumHistory(sum("0"));
["a", "b", "c"].forEach((name) => sums.push(sum(name)));

const lines: readonly [string, Verdict, { seq: number; epoch: number; prev: string; raises?: true }][] = [
  ["continues the head", "accepted", { seq: 3, epoch: 3, prev: sum("c") }],
  ["continues it and raises the epoch", "accepted", { seq: 3, epoch: 4, prev: sum("c"), raises: true }],
  ["raises it by more than one", "accepted", { seq: 3, epoch: 9, prev: sum("c"), raises: true }],
  ["has a higher epoch that it does not raise", "damage", { seq: 3, epoch: 4, prev: sum("c") }],
  ["has a lower epoch", "damage", { seq: 3, epoch: 2, prev: sum("c") }],
  ["raises the epoch that there is", "damage", { seq: 3, epoch: 3, prev: sum("c"), raises: true }],
  ["raises the epoch to a lower one", "damage", { seq: 3, epoch: 2, prev: sum("c"), raises: true }],
  ["comes next and continues another line", "damage", { seq: 3, epoch: 3, prev: sum("d") }],
  ["comes next and continues an older line", "damage", { seq: 3, epoch: 3, prev: sum("b") }],
  ["leaves one out", "damage", { seq: 4, epoch: 3, prev: sum("c") }],
  ["is a stale one beside the head", "void", { seq: 2, epoch: 2, prev: sum("b") }],
  ["is a stale one beside line 0", "void", { seq: 0, epoch: 0, prev: sum("0") }],
  ["is a stale one that raised the epoch", "void", { seq: 2, epoch: 3, prev: sum("b"), raises: true }],
  ["is an older one that continues nothing known", "damage", { seq: 2, epoch: 2, prev: sum("d") }],
  ["is an older one that continues a line of another place", "damage", { seq: 2, epoch: 2, prev: sum("a") }],
];

test.each(lines)("a line that %s is %s", (_name, verdict, { raises = false, ...line }) => {
  expect(judge(head, sums, line, raises)).toBe(verdict);
});

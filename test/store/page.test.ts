import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Commit } from "../../src/model/commit.ts";
import type { Page } from "../../src/store/page.ts";
import { readPage } from "../../src/store/page.ts";
import type { HistorySource } from "../../src/store/read-log.ts";
import { readHistory } from "../../src/store/read-log.ts";
import type { LogBuilder } from "./build-log.ts";
import { recordsOf } from "./build-log.ts";
import { history } from "./log-steps.ts";

const everything = Number.MAX_SAFE_INTEGER;

/** What a diagnostic reading from the start finds. */
async function readAll(source: HistorySource) {
  const commits: Commit[] = [];
  const { history, damage } = await readHistory(source, (commit) => commits.push(commit));
  const { scan, remainder } = history;
  return { commits, head: scan.head, voids: history.voids, remainder, damage };
}

async function readPages(source: HistorySource, recordsMin: number): Promise<Page[]> {
  const pages = [await readPage(source, { recordsMin })];
  for (let page = pages[0]; page?.hasMore;) {
    page = await readPage(source, { recordsMin, before: page.start });
    pages.unshift(page);
  }
  return pages;
}

function recordsOfPage(page: Page): number {
  return page.commits.flatMap((commit) => commit.facts.map(recordsOf)).reduce((sum, one) => sum + one, 0);
}

/** That a page over the whole history says the same as a reading from the start. */
async function expectSameAsFull(source: HistorySource): Promise<void> {
  const full = await readAll(source);
  const page = await readPage(source, { recordsMin: everything });
  expect(page.commits).toEqual(full.commits);
  expect(page.damage).toEqual(full.damage);
  expect(page.hasMore).toBe(false);
  expect(page.remainder).toEqual(
    full.damage === undefined ? full.remainder : { state: "damaged", damage: full.damage },
  );
  expect(page.voids.map(({ part: _, ...one }) => one)).toEqual(full.voids.map(({ line: _, ...one }) => one));
}

/** The sums of commits: equal sums are equal lines. */
function sumsOf(commits: readonly Commit[]): string[] {
  return commits.map((commit) => commit.sum);
}

describe("tail reads equal full reads", () => {
  test("whatever the history, page by page", async () => {
    await fc.assert(
      fc.asyncProperty(history(60), fc.integer({ min: 1, max: 6 }), async (builder, recordsMin) => {
        const source = builder.source();
        const full = await readAll(source);
        expect(full.damage).toBeUndefined();
        expect(full.commits).toEqual(builder.commits);
        const pages = await readPages(source, recordsMin);
        expect(pages.flatMap((page) => page.commits)).toEqual(builder.commits);
        expect(pages.at(-1)?.head).toEqual(full.head);
        expect(pages.flatMap((page) => page.voids).map(({ part: _, ...one }) => one)).toEqual(
          full.voids.map(({ line: _, ...one }) => one),
        );
      }),
      { numRuns: 300 },
    );
  });

  test("at every byte at which a log may be cut", async () => {
    await fc.assert(
      fc.asyncProperty(history(14), async (builder) => {
        const { bytes } = builder;
        for (let cut = 0; cut <= bytes.length; cut++) {
          const source = builder.source(bytes.subarray(0, cut));
          const full = await readAll(source);
          const page = await readPage(source, { recordsMin: 2 });
          expect(sumsOf(page.commits)).toEqual(sumsOf(full.commits).slice(-page.commits.length));
          expect(page.damage).toEqual(full.damage);
          if (full.damage === undefined) {
            expect(page.head).toEqual(full.head);
            expect(page.remainder).toEqual(full.remainder);
          }
        }
      }),
      { numRuns: 6 },
    );
  });
});

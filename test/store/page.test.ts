import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Commit } from "../../src/model/commit.ts";
import { readLastRow } from "../../src/store/last-row.ts";
import type { Page } from "../../src/store/page.ts";
import { readPage } from "../../src/store/page.ts";
import type { HistorySource } from "../../src/store/read-log.ts";
import { readHistory } from "../../src/store/read-log.ts";
import type { LogBuilder } from "./build-log.ts";
import { bufferDisk } from "./buffer-disk.ts";
import { history } from "./log-steps.ts";

async function readAll(source: HistorySource) {
  const commits: Commit[] = [];
  const read = await readHistory(source, (commit) => commits.push(commit));
  return { commits, ...read };
}

async function allPages(source: HistorySource, recordsMin: number): Promise<Page[]> {
  const pages = [await readPage(source, { recordsMin })];
  for (let page = pages[0]; page?.hasMore;) {
    page = await readPage(source, { recordsMin, before: page.start });
    pages.unshift(page);
  }
  return pages;
}

/** The source over the history's files, its own log replaced by `bytes`. */
function sourceWith(builder: LogBuilder, bytes: Uint8Array): HistorySource {
  return builder.source(bufferDisk(builder.files().set("/log", Buffer.from(bytes))));
}

describe("pages", () => {
  test("read what a full reading reads, whatever the history", async () => {
    await fc.assert(
      fc.asyncProperty(history(40), fc.integer({ min: 1, max: 6 }), async (builder, recordsMin) => {
        const source = builder.source(bufferDisk(builder.files()));
        const full = await readAll(source);
        expect(full.damage).toBeUndefined();
        expect(full.commits).toEqual(builder.commits);
        const pages = await allPages(source, recordsMin);
        expect(pages.flatMap((page) => page.commits)).toEqual(builder.commits);
        expect(pages.at(-1)?.head).toEqual(full.history.scan.head);
        const voids = full.history.voids.map(({ line: _, ...place }) => place);
        expect(pages.flatMap((page) => page.voids).map(({ part: _, ...place }) => place)).toEqual(voids);
      }),
      { numRuns: 300 },
    );
  });
});

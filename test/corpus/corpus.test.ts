import { describe, expect, test } from "vitest";
import { SessionFold } from "../../src/engine/worker.ts";
import type { Commit } from "../../src/model/commit.ts";
import { factSchemas } from "../../src/model/facts.ts";
import { projectPrompt } from "../../src/model/projection.ts";
import { readPage, type Page } from "../../src/store/page.ts";
import { faultOfPrompt } from "../model/prompt-fault.ts";
import { changesDisk, type MemoryDisk } from "../crash/memory-disk.ts";
import { Corpus } from "./entries.ts";
import { openSession, refusalOf, storeOn } from "./opened.ts";
import { kindsOf } from "./scenes-of-format.ts";
import { scenes } from "./scenes.ts";
import { bytesOf, linesOf, plant, withFiles } from "./session-files.ts";

const corpus = new Corpus("test/corpus");
const entries = corpus.names().map((name) => corpus.read(name));
const nothing = { text: () => "{}", base64: () => "" };

/** All that a reading from the start finds intact. */
async function readWhole(disk: MemoryDisk, session: string) {
  const commits: Commit[] = [];
  const read = await storeOn(disk).readHistory(session, (commit) => void commits.push(commit));
  return { commits, ...read };
}

async function readPages(disk: MemoryDisk, session: string, recordsMin: number): Promise<Page[]> {
  const source = await storeOn(disk).source(session);
  const pages = [await readPage(source, { recordsMin })];
  for (let page = pages[0]; page?.hasMore === true;) {
    page = await readPage(source, { recordsMin, before: page.start });
    pages.unshift(page);
  }
  return pages;
}

describe("a log of the corpus", () => {
  test("is there for each scene, and each kind of fact stands in one", () => {
    expect(scenes.map(({ name }) => name).filter((name) => !corpus.has(name))).toEqual([]);
    expect(new Set(scenes.map(({ name }) => name)).size).toBe(scenes.length);
    const kinds = kindsOf(corpus.read("every-kind").files);
    expect(Object.keys(factSchemas).filter((kind) => !kinds.has(kind))).toEqual([]);
  });

  test.each(entries)("is read as by every other version: $name", async ({ name, files, what, opened }) => {
    const disk = plant(files);
    const message =
      `${name}: ${what} This build reads it as something else. Where that is meant, say why in a commit of its own, ` +
      `and have it expected with: node scripts/corpus.mjs expect ${name}`;
    expect(await openSession(disk, files.session), message).toEqual(opened);
    expect(disk.effects.filter(changesDisk), "readers write nothing").toEqual([]);
  });

  test.each(entries)(
    "is the same from behind, page by page, and in a list: $name",
    async ({ name, files, opened }) => {
      const disk = plant(files);
      const { commits, history, damage } = await readWhole(disk, files.session);
      for (const recordsMin of damage === undefined ? [1, 5, 1000] : [1000]) {
        const pages = await readPages(disk, files.session, recordsMin);
        // That a message comes twice only whoever reads all of it can know.
        if (name !== "message-twice") expect(pages.flatMap((page) => page.commits)).toEqual(commits);
        if (name !== "message-twice") expect(pages.at(-1)?.damage).toEqual(damage);
        if (damage === undefined) expect(pages.at(-1)?.remainder).toEqual(history.remainder);
      }
      if (damage !== undefined || opened.strict !== undefined) return;
      const { rev, msgs } = commits.at(-1) ?? {};
      expect(await storeOn(disk).lastRow(files.session)).toMatchObject({ row: opened.told?.row, rev, msgs });
    },
  );

  test.each(entries)(
    "folds at each end of a line to a conversation that can be sent: $name",
    async ({ files }) => {
      const own = linesOf(bytesOf(files, "log.jsonl"));
      const whole = await readWhole(plant(files), files.session);
      for (let count = 1; count <= own.length; count++) {
        const cut = withFiles(files, { "log.jsonl": Buffer.concat(own.slice(0, count)) });
        const disk = plant(cut);
        const { commits, damage } = await readWhole(disk, files.session);
        const isWhole =
          whole.damage === undefined || (whole.history.scan.lines >= count && commits.length > 0);
        if (isWhole) expect(damage, `${count} lines`).toBeUndefined();
        expect(commits).toEqual(whole.commits.slice(0, commits.length));
        const fold = new SessionFold(files.session);
        for (const commit of commits) if (fold.take(commit) !== undefined) break;
        if (fold.hasBegun) expect(faultOfPrompt(projectPrompt(fold.state, nothing))).toBeUndefined();
      }
    },
  );
});

describe("an entry", () => {
  test("is not made again, and not forgotten: a name that is taken is refused", () => {
    const entry = entries[0];
    if (entry === undefined) throw new Error("the corpus is empty");
    expect(() => corpus.add(entry.name, entry, entry.files)).toThrow("has an entry");
  });

  test("of which a byte changed is found", async () => {
    const { files, opened } = corpus.read("completed");
    const log = bytesOf(files, "log.jsonl");
    log[1000] = (log[1000] ?? 0) ^ 1;
    const disk = plant(withFiles(files, { "log.jsonl": log }));
    expect(await openSession(disk, files.session)).not.toEqual(opened);
    expect(await refusalOf(storeOn(disk).readStrictly(files.session, () => undefined))).toMatchObject({
      code: "log_damaged",
      offset: 0,
    });
  });
});

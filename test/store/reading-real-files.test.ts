import {
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nodeHost } from "../../src/host/index.ts";
import { readLastRow } from "../../src/store/last-row.ts";
import { readPage } from "../../src/store/page.ts";
import type { HistorySource } from "../../src/store/read-log.ts";
import { LogBuilder } from "./build-log.ts";
import { idOf, message, row } from "./builders.ts";
import { readAll, sumsOf } from "./read-all.ts";

/** A branch with two bases: the files of the ancestors, which have gone on since, are linked or copied. */
function makeBranch(folder: string, inherit: (from: string, to: string) => void) {
  const parent = new LogBuilder(idOf("ses", "parent"));
  for (let number = 0; number < 30; number++) parent.add([message(`p${number} ${"x".repeat(5_000)}`)]);
  const child = parent.fork(idOf("ses", "child"), 20);
  parent.add([message("the parent goes on")]);
  for (let number = 0; number < 30; number++) child.add([message(`c${number}`)]);
  const branch = child.fork(idOf("ses", "branch"), 25);
  branch.addStale(0, [message("stale")]);
  branch.add([message("the last"), row("branch")]);
  mkdirSync(folder);
  const bases = branch.parents.map(({ builder, base }, index) => {
    const [origin, path] = [join(folder, `ancestor-${index}`), join(folder, `base-${index}`)];
    writeFileSync(origin, builder.bytes);
    inherit(origin, path);
    return { path, session: builder.session, base };
  });
  const own = { path: join(folder, "log"), session: branch.session };
  writeFileSync(own.path, branch.bytes);
  return { branch, source: { disk: nodeHost().disk, bases, own } satisfies HistorySource };
}

/** Names, sizes and times of everything in a folder. */
function stateOf(folder: string) {
  return readdirSync(folder).map((name) => {
    const { ino, size, mtimeMs, ctimeMs } = statSync(join(folder, name));
    return { name, ino, size, mtimeMs, ctimeMs };
  });
}

describe("on real files", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "holdfast-reading-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([
    ["links", linkSync],
    ["copies", copyFileSync],
  ])("a branch reads the same where its bases are %s", async (name, inherit) => {
    const { branch, source } = makeBranch(join(folder, name), inherit);
    expect(sumsOf((await readAll(source)).commits)).toEqual(sumsOf(branch.commits));
    let page = await readPage(source, { recordsMin: 7 });
    const sums = sumsOf(page.commits);
    while (page.hasMore) {
      page = await readPage(source, { recordsMin: 7, before: page.start });
      sums.unshift(...sumsOf(page.commits));
    }
    expect(sums).toEqual(sumsOf(branch.commits));
    expect(await readLastRow(source)).toMatchObject({ row: { title: "branch" }, msgs: 46 });
  });

  test("reading leaves every name and every file as it was", async () => {
    const { source } = makeBranch(join(folder, "untouched"), linkSync);
    const before = stateOf(join(folder, "untouched"));
    await readAll(source);
    await readPage(source, { recordsMin: 100 });
    await readLastRow(source);
    expect(stateOf(join(folder, "untouched"))).toEqual(before);
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Commit } from "../../src/model/commit.ts";
import { encodeLine, zeroSum } from "../../src/store/line.ts";
import type { Page } from "../../src/store/page.ts";
import { readPage } from "../../src/store/page.ts";
import type { HistorySource } from "../../src/store/read-log.ts";
import type { AnyFact } from "./build-log.ts";
import { LogBuilder, recordsOf } from "./build-log.ts";
import { epochRaised, idOf, message, modelRequested, row } from "./builders.ts";
import { history } from "./log-steps.ts";
import { readAll, sumsOf } from "./read-all.ts";

const everything = Number.MAX_SAFE_INTEGER;

async function readPages(source: HistorySource, recordsMin: number): Promise<Page[]> {
  const pages = [await readPage(source, { recordsMin })];
  for (let page = pages[0]; page?.hasMore;) {
    page = await readPage(source, { recordsMin, before: page.start });
    pages.unshift(page);
  }
  return pages;
}

function recordsIn(commits: readonly Commit[]): number {
  return commits.flatMap((commit) => commit.facts.map(recordsOf)).reduce((sum, one) => sum + one, 0);
}

function isBoundary(commit: Commit | undefined): boolean {
  const isUserMessage = (fact: AnyFact) =>
    fact.kind === "message" && (fact as { role: string }).role === "user";
  return commit?.facts.some((fact) => fact.kind === "model.requested" || isUserMessage(fact)) === true;
}

/** Places of void lines, as far as a page knows them. */
function placesOf(voids: readonly { file: string; offset: number; seq: number; epoch: number }[]) {
  return voids.map(({ file, offset, seq, epoch }) => ({ file, offset, seq, epoch }));
}

function newLog(): LogBuilder {
  return new LogBuilder(idOf("ses", "page"));
}

/** What may happen to the lines of a file. */
const change = fc.record({
  do: fc.constantFrom("again", "swap", "drop", "block", "insert", "append", "forge"),
  at: fc.nat(1_000),
  length: fc.integer({ min: 1, max: 4 }),
  bytes: fc.uint8Array({ maxLength: 40 }),
});

type Change = {
  readonly do: string;
  readonly at: number;
  readonly length: number;
  readonly bytes: Uint8Array;
};

function mangled(builder: LogBuilder, changes: readonly Change[]): Buffer[] {
  const lines: Buffer[] = builder.lines.map((line) => line.bytes);
  for (const one of changes) {
    const at = one.at % Math.max(1, lines.length);
    const block = lines.slice(at, at + one.length);
    if (one.do === "again") lines.splice(at, 0, ...block.slice(0, 1));
    if (one.do === "swap") lines.splice(at, 2, ...lines.slice(at, at + 2).reverse());
    if (one.do === "drop") lines.splice(at, one.length);
    if (one.do === "block") lines.splice(at + one.length, 0, ...block);
    if (one.do === "insert") lines.splice(at, 0, Buffer.from(one.bytes));
    if (one.do === "append") lines.push(...block);
    if (one.do === "forge") lines.splice(at, 0, forge(builder, one));
  }
  return lines;
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
        expect(placesOf(pages.flatMap((page) => page.voids))).toEqual(placesOf(full.voids));
        for (const page of pages) {
          const first = page.commits[0];
          const isFirst = first === builder.commits[0];
          if (page.hasMore) expect(recordsIn(page.commits)).toBeGreaterThanOrEqual(recordsMin);
          expect(page.startsAtBoundary).toBe(!page.hasMore || isBoundary(first) || isFirst);
          expect(page.before).toEqual(headBefore(builder.commits, first));
        }
      }),
      { numRuns: 300 },
    );
  });

  test("at every byte at which a log may be cut", async () => {
    await fc.assert(
      fc.asyncProperty(history(12), async (builder) => {
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
      { numRuns: 4 },
    );
  });

  test("also where lines stand twice, were moved, lost or made up", async () => {
    await fc.assert(
      fc.asyncProperty(
        history(30),
        fc.array(change, { minLength: 1, maxLength: 3 }),
        async (builder, changes) => {
          const source = builder.source(Buffer.concat(mangled(builder, changes)));
          const full = await readAll(source);
          const page = await readPage(source, { recordsMin: everything });
          expect(sumsOf(page.commits)).toEqual(sumsOf(full.commits));
          expect(page.damage).toEqual(full.damage);
          expect(page.hasMore).toBe(false);
          if (full.damage === undefined) expect(page.remainder).toEqual(full.remainder);
        },
      ),
      { numRuns: 400 },
    );
  });

  test("page by page also where lines stand twice before the last one", async () => {
    await fc.assert(
      fc.asyncProperty(
        history(30),
        fc.array(change, { minLength: 1, maxLength: 3 }),
        async (builder, changes) => {
          const lines = mangled(builder, changes);
          // A block of lines that stands again at the very end is taken for the end: no writer leaves such a file.
          lines.push(builder.add([message("the end")]).bytes);
          const source = builder.source(Buffer.concat(lines));
          const full = await readAll(source);
          const pages = await readPages(source, 3);
          if (full.damage !== undefined) expect(pages.some((one) => one.damage !== undefined)).toBe(true);
          else expect(sumsOf(pages.flatMap((one) => one.commits))).toEqual(sumsOf(full.commits));
        },
      ),
      { numRuns: 400 },
    );
  });

  test("where a log stands in its file twice", async () => {
    await fc.assert(
      fc.asyncProperty(history(8), async (builder) => {
        const source = builder.source(Buffer.concat([builder.bytes, builder.bytes]));
        const pages = await readPages(source, 1);
        expect(sumsOf(pages.flatMap((page) => page.commits))).toEqual(sumsOf(builder.commits));
      }),
      { numRuns: 60 },
    );
  });

  test("where a stale line claims a place that the page does not reach", async () => {
    for (const prev of ["0".repeat(32), "f".repeat(32)]) {
      const builder = newLog();
      for (let number = 0; number < 9; number++) builder.add([message(`m${number}`)]);
      const { bytes } = builder;
      const liar = forge(builder, { at: 4, length: 1 }, prev);
      builder.add([message("after")]);
      const source = builder.source(Buffer.concat([bytes, liar, builder.bytes.subarray(bytes.length)]));
      const page = await readPage(source, { recordsMin: 1 });
      expect(page.damage).toMatchObject({ offset: bytes.length });
      expect(page.damage).toEqual((await readAll(source)).damage);
    }
  });

  test("with more stale lines than a backward reading keeps open", async () => {
    const builder = newLog();
    for (let number = 0; number < 30; number++) builder.add([message(`m${number}`)]);
    for (let number = 0; number < 600; number++) builder.addStale(1 + (number % 20), [message(`s${number}`)]);
    builder.add([message("last")]);
    const page = await readPage(builder.source(), { recordsMin: 5 });
    expect(sumsOf(page.commits)).toEqual(sumsOf(builder.commits.slice(-5)));
    expect(page.voids).toHaveLength(600);
    expect(page.damage).toBeUndefined();
  });
});

/** A line that verifies, which nobody who kept the rules would have written. */
function forge(builder: LogBuilder, { at, length }: { at: number; length: number }, prev?: string): Buffer {
  const { commits } = builder;
  const pick = commits[(at + length) % commits.length];
  const facts = at % 2 === 0 ? [message("forged", `${at}`)] : [epochRaised()];
  const envelope = {
    ses: builder.session,
    seq: at % (builder.accepted.length + 1),
    epoch: length - 1,
    at,
    rec: 0,
    rev: 0,
    msgs: 0,
    row: 0,
    prev: prev ?? pick?.[at % 3 === 0 ? "sum" : "prev"] ?? zeroSum,
  };
  return Buffer.from(encodeLine(envelope, facts));
}

function headBefore(commits: readonly Commit[], first: Commit | undefined) {
  const index = commits.findIndex((commit) => commit.sum === first?.sum);
  const older = commits[index - 1];
  if (older === undefined || older.ses !== first?.ses) return { seq: -1, epoch: 0, sum: first?.prev };
  return { seq: older.seq, epoch: older.epoch, sum: older.sum };
}

describe("a page", () => {
  test("starts at a model call or a user's message where one is at most 4 MiB back", async () => {
    const builder = newLog();
    builder.add([message("question")]);
    const request = builder.add([modelRequested()]);
    const answer = (number: number) =>
      builder.add([{ ...message(`a${number} ${"x".repeat(400_000)}`, `${number}`), role: "assistant" }]);
    for (let number = 0; number < 12; number++) answer(number);
    const near = await readPage(builder.source(), { recordsMin: 3 });
    expect(near.startsAtBoundary).toBe(true);
    expect(near.commits[0]?.sum).toBe(request.commit.sum);
    answer(12);
    answer(13);
    const far = await readPage(builder.source(), { recordsMin: 1 });
    expect(far.startsAtBoundary).toBe(false);
    expect(far.commits).toHaveLength(1);
    expect(far.verifiedFrom.offset).toBeLessThan(far.start.offset);
  });

  test("goes on into the bases, and no further than their cuts", async () => {
    const parent = newLog();
    for (let number = 0; number < 6; number++) parent.add([message(`p${number}`)]);
    const branch = parent.fork(idOf("ses", "branch"), 4);
    parent.add([message("only in the parent")]);
    branch.add([message("only in the branch")]);
    const page = await readPage(branch.source(), { recordsMin: 3 });
    expect(sumsOf(page.commits)).toEqual(sumsOf(branch.commits.slice(-4)));
    expect(page.start.part).toBe(0);
    expect(page.head.sum).toBe(branch.commits.at(-1)?.sum);
  });

  test("before a place that the log has no more is refused, and names it", async () => {
    const builder = newLog();
    for (let number = 0; number < 6; number++) builder.add([message(`m${number}`)]);
    const { start } = await readPage(builder.source(), { recordsMin: 2 });
    const other = newLog();
    for (let number = 0; number < 6; number++) other.add([message(`other${number}`)]);
    await expect(readPage(other.source(), { recordsMin: 2, before: start })).rejects.toMatchObject({
      code: "not_found",
      message: expect.stringContaining(`byte ${start.offset}`) as string,
    });
  });

  test("holds what was written, whatever the length of its lines", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 400_000 }), { maxLength: 12 }), async (lengths) => {
        const builder = newLog();
        for (const [index, length] of lengths.entries()) {
          builder.add([message("é".repeat(length / 2), `${index}`)]);
          if (index % 3 === 2) builder.addStale(index, [message("s".repeat(length), `s${index}`)]);
        }
        const source = builder.source();
        const pages = await readPages(source, 2);
        expect(pages.flatMap((page) => page.commits)).toEqual(builder.commits);
        expect((await readAll(source)).commits).toEqual(builder.commits);
      }),
      { numRuns: 15 },
    );
  });

  test("stays small whatever its lines hold", async () => {
    const builder = newLog();
    for (let number = 0; number < 40; number++)
      builder.add([{ kind: "goal.big", text: "x".repeat(900_000) }]);
    const pages = await readPages(builder.source(), 1);
    expect(sumsOf(pages.flatMap((page) => page.commits))).toEqual(sumsOf(builder.commits));
    for (const page of pages) expect(page.commits.length).toBeLessThan(25);
  });

  test("of a damaged log shows what precedes the damage, and where that is", async () => {
    const builder = newLog();
    for (let number = 0; number < 9; number++) builder.add([message(`m${number}`)]);
    const { bytes } = builder;
    const hit = builder.lines[7];
    bytes[(hit?.offset ?? 0) + 300] = 0;
    const page = await readPage(builder.source(bytes), { recordsMin: 2 });
    expect(page.damage).toMatchObject({ file: "/log", line: 8, offset: hit?.offset });
    expect(sumsOf(page.commits)).toEqual(sumsOf(builder.commits.slice(5, 7)));
  });

  test("is not made longer by damage behind it", async () => {
    const builder = newLog();
    for (let number = 0; number < 5; number++) builder.add([message(`m${number}`)]);
    // Lines that stand twice, so that only a forward reading can tell; and it meets the damage.
    builder.addAgain(4);
    builder.addAgain(5);
    for (let number = 5; number < 9; number++) builder.add([message(`m${number}`)]);
    const { bytes } = builder;
    const hit = builder.lines.at(-1)?.offset ?? 0;
    const { start } = await readPage(builder.source(), { recordsMin: 2 });
    bytes[hit + 300] = 0;
    builder.add([message("behind the damage")]);
    const all = Buffer.concat([bytes, builder.lines.at(-1)?.bytes ?? bytes]);
    const page = await readPage(builder.source(all), { recordsMin: everything, before: start });
    expect(page.damage).toMatchObject({ offset: hit });
    expect(sumsOf(page.commits)).toEqual(sumsOf(builder.commits.slice(0, 8)));
  });

  test("of a log whose counters lie is damage at the line that lies", async () => {
    const builder = newLog();
    builder.add([message("one")]);
    const liar = builder.add([message("two")], { rec: 5 });
    builder.add([message("three")]);
    const page = await readPage(builder.source(), { recordsMin: everything });
    expect(page.damage).toMatchObject({
      line: 3,
      offset: liar.offset,
      reason: "rec is 5 where 1 was expected",
    });
    expect(page.damage).toEqual((await readAll(builder.source())).damage);
  });
});

describe("line 0", () => {
  test.each(["rec", "rev", "msgs", "row"] as const)("starts with a %s of 0", async (name) => {
    const [line] = newLog().accepted;
    if (line === undefined) throw new Error("a log has a line 0");
    const bytes = encodeLine({ ...line.commit, [name]: 3 }, line.commit.facts);
    const { damage } = await readPage(newLog().source(bytes), { recordsMin: 1 });
    expect(damage).toMatchObject({ line: 1, offset: 0 });
    expect((await readAll(newLog().source(bytes))).damage).toMatchObject({ line: 1, offset: 0 });
  });
});

describe("a reader of a live log", () => {
  test("reads again before it judges what a writer is just writing", async () => {
    const builder = newLog();
    builder.add([message("one")]);
    const whole = builder.add([message("two")]);
    builder.add([row("three")]);
    const { bytes } = builder;
    for (const cut of [whole.offset + 100, whole.offset + whole.bytes.length - 1]) {
      for (const read of [readAll, (source: HistorySource) => readPage(source, { recordsMin: everything })]) {
        for (let before = 0; ; before++) {
          const source = builder.source(bytes.subarray(0, cut));
          let count = 0;
          source.disk.gate = (effect) => {
            if ((effect.verb === "read" || effect.verb === "statFile") && count++ === before)
              source.disk.plant("/log", bytes);
            return undefined;
          };
          const { commits, damage, remainder } = await read(source);
          expect(damage).toBeUndefined();
          const hasGrown = count > before;
          expect(sumsOf(commits)).toEqual(sumsOf(builder.commits).slice(0, hasGrown ? 4 : 2));
          expect(remainder.state === "none").toBe(hasGrown);
          if (!hasGrown) break;
        }
      }
    }
  });
});

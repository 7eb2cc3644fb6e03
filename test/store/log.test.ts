import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isHoldfastError } from "../../src/model/errors.ts";
import type { HistorySource } from "../../src/store/read-log.ts";
import { readStrictly } from "../../src/store/read-log.ts";
import { encodeLine, readEnvelope } from "../../src/store/line.ts";
import { readPage } from "../../src/store/page.ts";
import { LogBuilder } from "./build-log.ts";
import { epochRaised, idOf, message, row } from "./builders.ts";
import { history } from "./log-steps.ts";
import { readAll, sumsOf } from "./read-all.ts";

function logOf(messages: number): LogBuilder {
  const builder = new LogBuilder(idOf("ses", "log"));
  for (let number = 0; number < messages; number++) builder.add([message(`m${number}`)]);
  return builder;
}

/** How a strict reading ends: the sums it accepted, or the error it threw. */
async function openStrictly(source: HistorySource) {
  const sums: string[] = [];
  try {
    const { remainder } = await readStrictly(source, (commit) => void sums.push(commit.sum));
    return { sums, remainder };
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    return { error };
  }
}

async function errorOf(source: HistorySource) {
  const { error } = await openStrictly(source);
  if (error === undefined) throw new Error("it was read without an error");
  return { code: error.code, message: error.message, at: error.details.at };
}

/** What may happen to a file. */
const harm = fc.record({
  do: fc.constantFrom("swap", "double", "drop", "foreign", "nul", "bytes", "cut", "concat"),
  at: fc.nat(100_000),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 50 }),
});

function doHarm(
  lines: Uint8Array[],
  one: { readonly do: string; readonly at: number; readonly bytes: Uint8Array },
  foreignLine: Uint8Array,
): void {
  const at = one.at % lines.length;
  if (one.do === "swap") lines.splice(at, 2, ...lines.slice(at, at + 2).reverse());
  if (one.do === "double") lines.splice(at, 0, ...lines.slice(at, at + 1));
  if (one.do === "drop") lines.splice(at, 1);
  if (one.do === "foreign") lines.splice(at, 0, foreignLine);
  if (one.do === "nul") lines.push(Buffer.alloc(one.bytes.length));
  if (one.do === "bytes") lines.splice(at, 0, one.bytes);
  if (one.do === "cut") lines.splice(at, 1, (lines[at] ?? one.bytes).subarray(0, one.at % 200));
  if (one.do === "concat") lines.push(...lines);
}

describe("a strict reading", () => {
  test("gives every accepted line in order, and reports the void ones", async () => {
    await fc.assert(
      fc.asyncProperty(history(60), async (builder) => {
        const source = builder.source();
        const full = await readAll(source);
        expect(full.commits).toEqual(builder.commits);
        expect(full.voids.filter((one) => one.file === "/log").map((one) => one.offset)).toEqual(
          builder.lines.filter((line) => line.verdict === "void").map((line) => line.offset),
        );
        expect((await openStrictly(source)).sums).toEqual(sumsOf(builder.commits));
      }),
      { numRuns: 200 },
    );
  });

  test("of a log with any one byte changed gives the whole history, or refuses with file, line and offset", async () => {
    await fc.assert(
      fc.asyncProperty(history(9), fc.integer({ min: 1, max: 255 }), async (builder, mask) => {
        const whole = sumsOf(builder.commits);
        const { lines, bytes } = builder;
        for (let index = 0; index < bytes.length; index++) {
          const changed = Buffer.from(bytes);
          changed[index] = (changed[index] ?? 0) ^ mask;
          const { sums, error, remainder } = await openStrictly(builder.source(changed));
          const hit = lines.findLastIndex((line) => line.offset <= index);
          if (error !== undefined) {
            expect(error.code).toBe("log_damaged");
            expect(error.details.at).toEqual({ file: "/log", line: hit + 1, offset: lines[hit]?.offset });
            continue;
          }
          // Only the last line may read as a torn piece that nobody acknowledged: whether it was, `head` knows.
          expect(hit).toBe(lines.length - 1);
          expect(remainder.state).not.toBe("none");
          expect(sums).toEqual(lines[hit]?.verdict === "void" ? whole : whole.slice(0, -1));
        }
      }),
      { numRuns: 6 },
    );
  });

  test("never gives another history, whatever is done to the file", async () => {
    await fc.assert(
      fc.asyncProperty(history(20), history(5), harm, async (builder, other, one) => {
        // Of two rivals for a place the first in the file wins: who takes that one away changes the history, and only
        // `head` and the lines that follow can tell.
        const isOrder = one.do === "swap" || one.do === "drop" || one.do === "cut";
        const lines: Uint8Array[] = (isOrder ? builder.accepted : builder.lines).map((line) => line.bytes);
        doHarm(lines, one, foreign(other));
        const { sums, error } = await openStrictly(builder.source(Buffer.concat(lines)));
        const whole = sumsOf(builder.commits);
        if (error === undefined) {
          expect(sums).toEqual(whole.slice(0, sums.length));
          // What was acknowledged is missing only where it stood last.
          if (one.do !== "drop" && one.do !== "cut")
            expect(sums.length).toBeGreaterThanOrEqual(whole.length - 1);
        } else {
          expect(error.code).toBe("log_damaged");
          expect(error.details.at).toMatchObject({ file: "/log" });
        }
      }),
      { numRuns: 400 },
    );
  });

  test("refuses a line of another session", async () => {
    const builder = logOf(2);
    const bytes = Buffer.concat([builder.bytes, foreign(logOf(0))]);
    expect(await errorOf(builder.source(bytes))).toMatchObject({
      code: "log_damaged",
      message: expect.stringContaining("belongs to session") as string,
      at: { line: 4, offset: builder.size },
    });
  });

  test("refuses a message id that comes twice, also where the first one stands in a base", async () => {
    const parent = logOf(2);
    const branch = parent.fork(idOf("ses", "branch"), 2);
    const again = branch.add([message("m1")]);
    expect(await errorOf(branch.source())).toMatchObject({
      message: expect.stringContaining("is there already") as string,
      at: { file: "/log", line: 2, offset: again.offset },
    });
  });

  test.each(["rec", "rev", "msgs", "row"] as const)("refuses a wrong %s", async (name) => {
    const builder = logOf(2);
    const liar = builder.add([message("liar")], { [name]: 77 });
    builder.add([message("after")]);
    expect(await errorOf(builder.source())).toMatchObject({
      message: expect.stringMatching(new RegExp(`${name} is 77 where \\d+ was expected`)) as string,
      at: { line: 4, offset: liar.offset },
    });
  });

  test("refuses a rewind to a line that is not there, or not yet", async () => {
    for (const [session, seq] of [
      ["log", 9],
      ["log", 3],
      ["log", 1.5],
      ["other", 0],
      ["log", -1],
    ] as const) {
      const builder = logOf(2);
      builder.add([{ kind: "rewound", session: idOf("ses", session), seq }]);
      expect((await errorOf(builder.source())).message).toMatch(/rewind|rewound|rev is/);
    }
  });

  test("refuses a log whose line 0 does not begin with session.created", async () => {
    const builder = logOf(1);
    const [first] = builder.lines;
    const { sum: _, facts, ...envelope } = first?.commit ?? builder.add([]).commit;
    const bytes = encodeLine(envelope, facts.slice(1));
    expect((await errorOf(builder.source(bytes))).message).toMatch(/line 0 begins with session.created/);
  });

  test.each([
    ["that is empty", (bytes: Buffer) => bytes.subarray(0, 0)],
    ["that holds a piece of line 0", (bytes: Buffer) => bytes.subarray(0, 100)],
    ["whose line 0 lacks its newline", (bytes: Buffer) => bytes.subarray(0, bytes.indexOf(0x0a))],
    ["whose line 0 is not its first", (bytes: Buffer) => bytes.subarray(bytes.indexOf(0x0a) + 1)],
  ])("refuses a log %s: nothing of it may be cut", async (_name, change) => {
    const builder = logOf(2);
    const error = await errorOf(builder.source(change(builder.bytes)));
    expect(error).toMatchObject({ code: "log_damaged", at: { file: "/log", line: 1, offset: 0 } });
  });

  test("refuses a log that is missing", async () => {
    const source = logOf(1).source();
    const gone = { ...source, own: { ...source.own, path: "/gone" } };
    expect(await errorOf(gone)).toMatchObject({
      code: "log_damaged",
      at: { file: "/gone", line: 1, offset: 0 },
    });
  });

  test("of a log of a newer version names the version, and reads up to it", async () => {
    const builder = logOf(2);
    const lines = builder.lines.map((line) => line.bytes);
    const newer = withHead(lines[2] ?? Buffer.alloc(0), /^\{"v":1/, '{"v":2');
    const source = builder.source(Buffer.concat([...lines.slice(0, 2), newer]));
    expect(await errorOf(source)).toMatchObject({
      code: "unsupported_version",
      message: expect.stringContaining("format 2") as string,
      at: { line: 3 },
    });
    expect(sumsOf((await readAll(source)).commits)).toEqual(sumsOf(builder.commits.slice(0, 2)));
    expect(sumsOf((await readPage(source, { recordsMin: 9 })).commits)).toEqual(
      sumsOf(builder.commits.slice(0, 2)),
    );
  });

  test("refuses what follows a line that was put in the place of another one", async () => {
    const builder = logOf(3);
    const lines = builder.lines.map((line) => line.bytes);
    const other = withHead(lines[1] ?? Buffer.alloc(0), /"text":"m0"/, '"text":"n0"');
    const source = builder.source(Buffer.concat(lines.map((line, index) => (index === 1 ? other : line))));
    expect(await errorOf(source)).toMatchObject({ code: "log_damaged", at: { line: 3 } });
    expect((await readPage(source, { recordsMin: 9 })).damage).toMatchObject({ line: 3 });
  });

  test("refuses a line of an older place that continues nothing which is there", async () => {
    const builder = logOf(3);
    const lines = builder.lines.map((line) => line.bytes);
    const stray = withHead(lines[2] ?? Buffer.alloc(0), /"prev":"[^"]*"/, `"prev":"${"1".repeat(32)}"`);
    const source = builder.source(Buffer.concat([...lines, stray]));
    expect(await errorOf(source)).toMatchObject({ code: "log_damaged", at: { line: 5 } });
    expect((await readPage(source, { recordsMin: 9 })).damage).toMatchObject({ line: 5 });
  });

  test("takes white space in facts for what it is, carriage returns too", async () => {
    const builder = logOf(1);
    const lines = builder.lines.map((line) => line.bytes);
    const spaced = withHead(lines[1] ?? Buffer.alloc(0), /"facts":\[/, '"facts":[\r\t ');
    const [first = Buffer.alloc(0)] = lines;
    const { commits } = await readAll(builder.source(Buffer.concat([first, spaced])));
    expect(commits.map(({ facts }) => facts)).toEqual(builder.commits.map(({ facts }) => facts));
  });

  test("takes a raised epoch only from a line that raises it, and never a lower one", async () => {
    for (const [before, facts, epoch] of [
      [0, [message("x")], 1],
      [0, [epochRaised()], 0],
      [2, [message("x")], 1],
      [2, [epochRaised()], 1],
      [2, [epochRaised()], 2],
    ] as const) {
      const builder = logOf(1);
      for (let raised = 0; raised < before; raised++) builder.add([epochRaised()]);
      const line = builder.add(facts, { epoch });
      for (const source of [builder.source(), (builder.add([message("y")], { epoch }), builder.source())]) {
        const error = await errorOf(source);
        expect(error).toMatchObject({ at: { offset: line.offset } });
        expect(error.message).toMatch(/epoch/);
        expect((await readPage(source, { recordsMin: 9 })).damage).toMatchObject({ offset: line.offset });
      }
    }
  });

  test("reads a base exactly to its cut", async () => {
    const parent = logOf(4);
    const branch = parent.fork(idOf("ses", "branch"), 3);
    const [part] = branch.parents;
    const source = branch.source();
    expect((await openStrictly(source)).sums).toEqual(sumsOf(branch.commits));
    for (const change of [{ bytes: -1 }, { bytes: 1 }, { seq: 1 }]) {
      const base = part === undefined ? undefined : { ...part.base };
      if (base === undefined) continue;
      base.bytes += "bytes" in change ? change.bytes : 0;
      base.seq += "seq" in change ? change.seq : 0;
      const bases = source.bases.map((one) => ({ ...one, base }));
      expect(await errorOf({ ...source, bases })).toMatchObject({
        code: "log_damaged",
        at: { file: "/base/0" },
      });
    }
  });

  test("refuses a base that is shorter than its cut", async () => {
    const branch = logOf(4).fork(idOf("ses", "branch"), 3);
    const source = branch.source();
    source.disk.plant("/base/0", logOf(2).bytes);
    expect(await errorOf(source)).toMatchObject({ at: { file: "/base/0" } });
    expect((await readPage(source, { recordsMin: 9 })).damage).toMatchObject({ file: "/base/0" });
  });
});

describe("what stands after the last line", () => {
  const builder = logOf(3);
  const next = logOf(3).add([row("next")]).bytes;
  const remainderOf = async (after: Uint8Array) => {
    const { remainder, damage } = await readAll(builder.source(Buffer.concat([builder.bytes, after])));
    return { state: remainder.state, damage };
  };

  test("nothing", async () => {
    expect(await remainderOf(Buffer.alloc(0))).toEqual({ state: "none", damage: undefined });
  });

  test("is a whole line that only lacks its newline: kept", async () => {
    expect(await remainderOf(next.subarray(0, -1))).toEqual({ state: "complete", damage: undefined });
    const stale = builder.lines[2]?.bytes.subarray(0, -1) ?? next;
    expect((await remainderOf(stale)).state).toBe("complete");
  });

  test.each([
    ["a piece of a line", next.subarray(0, 200)],
    ["one byte", next.subarray(0, 1)],
    ["NULs", Buffer.alloc(4096)],
    ["NULs with a newline behind them", Buffer.concat([Buffer.alloc(4096), Buffer.from("\n")])],
    ["a line with a hole of NULs", Buffer.from(next).fill(0, 40, 90)],
    ["several broken pieces", Buffer.from("a\nb\n\n\nc")],
    ["a piece as long as a line may be", Buffer.alloc(1_048_576, "x")],
    [
      "a broken piece and a whole line without its newline",
      Buffer.concat([Buffer.from("x\n"), next.subarray(0, -1)]),
    ],
  ])("is %s: nobody can have acknowledged it", async (_name, bytes) => {
    expect(await remainderOf(bytes)).toEqual({ state: "torn", damage: undefined });
  });

  test.each([
    ["a broken piece before a whole line", Buffer.concat([Buffer.from("x\n"), next])],
    [
      "a broken line before a whole line of somebody else",
      Buffer.concat([Buffer.from("x\n"), foreign(logOf(0))]),
    ],
    ["longer than any line", Buffer.alloc(1_048_577, "x")],
    [
      "a whole line that follows nothing here, without its newline",
      logOf(7).lines[7]?.bytes.subarray(0, -1) ?? next,
    ],
    ["a whole line of another session, without its newline", foreign(logOf(0)).subarray(0, -1)],
    ["a whole line that follows nothing here", logOf(7).lines[7]?.bytes ?? next],
  ])("is damage where it is %s", async (_name, bytes) => {
    const { state, damage } = await remainderOf(bytes);
    expect(state).toBe("damaged");
    expect(damage).toMatchObject({ file: "/log", line: 5, offset: builder.size });
  });
});

/** The last line of a log as if another session had written it. */
function foreign(builder: LogBuilder): Buffer {
  const line = builder.lines.at(-1)?.bytes ?? Buffer.alloc(0);
  return withHead(line, /"ses":"ses_[^"]*"/, `"ses":"${idOf("ses", "foreign")}"`);
}

/** A line with another head, and the sum that fits it. */
function withHead(line: Buffer, found: RegExp, replacement: string): Buffer {
  const hashed = Buffer.from(line.subarray(0, -43).toString().replace(found, replacement));
  const sum = createHash("sha256").update(hashed).digest("hex").slice(0, 32);
  const changed = Buffer.concat([hashed, Buffer.from(`,"sum":"${sum}"}\n`)]);
  expect(readEnvelope(changed)).toBeDefined();
  return changed;
}

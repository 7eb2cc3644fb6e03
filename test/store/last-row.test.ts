import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Row } from "../../src/model/facts.ts";
import { factSchemas } from "../../src/model/facts.ts";
import { readLastRow } from "../../src/store/last-row.ts";
import { isRow } from "../../src/store/row.ts";
import { LogBuilder } from "./build-log.ts";
import { epochRaised, idOf, message, row } from "./builders.ts";
import { history } from "./log-steps.ts";
import { readAll } from "./read-all.ts";

function newLog(): LogBuilder {
  return new LogBuilder(idOf("ses", "row"), [], [row("first")]);
}

describe("the last row", () => {
  test("is the one that a full reading finds last, whatever the history and wherever it is cut", async () => {
    await fc.assert(
      fc.asyncProperty(history(25), fc.double({ min: 0, max: 1, noNaN: true }), async (builder, part) => {
        const { bytes } = builder;
        const [first] = builder.lines;
        const least = first?.bytes.length ?? 0;
        for (const cut of [bytes.length, least + Math.floor(part * (bytes.length - least))]) {
          const source = builder.source(bytes.subarray(0, cut));
          const full = await readAll(source);
          const own = full.commits.filter((commit) => commit.ses === builder.session);
          const last = own.at(-1);
          expect(await readLastRow(source)).toEqual({
            row: own.flatMap((commit) => commit.facts.filter((fact) => fact.kind === "row")).at(-1),
            head: full.head,
            at: last?.at,
            rev: last?.rev,
            msgs: last?.msgs,
            released: last?.seq === 0 || last?.facts.some((fact) => fact.kind === "lease.released"),
            remainder: full.remainder,
          });
        }
      }),
      { numRuns: 150 },
    );
  });

  test("is never one of another session, whatever line the last one points at", async () => {
    const builder = newLog();
    const foreign = new LogBuilder(idOf("ses", "foreign"), [], [row("of somebody else")]);
    builder.add([message("m0")]);
    builder.add([message("m1")], { row: builder.lines[0]?.bytes.length ?? 0 });
    const [first = Buffer.alloc(0), ...rest] = builder.lines.map((line) => line.bytes);
    const source = builder.source(Buffer.concat([first, foreign.bytes, ...rest]));
    expect(await readLastRow(source)).toMatchObject({ damage: { reason: "there is no row" } });
  });

  test("costs one open and at most two reads, however long the log", async () => {
    const builder = newLog();
    for (let number = 0; number < 400; number++) builder.add([message(`m${number} ${"x".repeat(1000)}`)]);
    builder.add([epochRaised(), { kind: "lease.released" }]);
    const source = builder.source();
    expect(await readLastRow(source)).toMatchObject({ row: { title: "first" }, released: true, msgs: 400 });
    const verbs = source.disk.effects.map((effect) => effect.verb);
    expect(verbs.filter((verb) => verb === "open")).toHaveLength(1);
    expect(verbs.filter((verb) => verb === "read").length).toBeLessThanOrEqual(2);
  });

  test("costs one read where the log is small, wherever in it the row stands", async () => {
    const builder = newLog();
    for (let number = 0; number < 20; number++) builder.add([message(`m${number}`)]);
    const source = builder.source();
    expect(await readLastRow(source)).toMatchObject({ row: { title: "first" }, msgs: 20 });
    expect(source.disk.effects.map((effect) => effect.verb)).toEqual(["open", "read", "close"]);
  });

  test("is found behind lines of any length, and behind stale ones", async () => {
    const builder = newLog();
    builder.add([message("x".repeat(900_000)), row("long")]);
    builder.add([message("y".repeat(900_000))]);
    builder.addStale(1, [message("stale"), row("stale")]);
    expect(await readLastRow(builder.source())).toMatchObject({ row: { title: "long" }, msgs: 2 });
    for (let number = 0; number < 300; number++) builder.addStale(1, [message(`s${number}`), row("stale")]);
    expect(await readLastRow(builder.source())).toMatchObject({ row: { title: "long" }, msgs: 2 });
  });

  test.each([
    ["is empty", () => newLog().bytes.subarray(0, 0), { line: 1, offset: 0 }],
    ["holds half of line 0", () => newLog().bytes.subarray(0, 300), { line: 1, offset: 0 }],
    ["ends in a line that follows nothing", endsWrongly, { line: 3 }],
    ["points at a line without a row", () => pointsAt("message"), { line: 2 }],
    ["points into a line", () => pointsAt("inside"), { line: 1 }],
  ])("of a log that %s is damage, with its place", async (_name, bytes, place) => {
    expect(await readLastRow(newLog().source(bytes()))).toMatchObject({ damage: { file: "/log", ...place } });
  });

  test("of a log that is missing is damage", async () => {
    const source = newLog().source();
    const own = { ...source.own, path: "/gone" };
    expect(await readLastRow({ ...source, own })).toMatchObject({ damage: { file: "/gone" } });
  });
});

function endsWrongly(): Buffer {
  const builder = newLog();
  for (let number = 0; number < 5; number++) builder.add([message(`m${number}`)]);
  const lines = builder.lines.map((line) => line.bytes);
  lines.splice(2, 3);
  return Buffer.concat(lines);
}

function pointsAt(what: "message" | "inside"): Buffer {
  const builder = newLog();
  const line = builder.add([message("no row here")]);
  builder.add([message("last")], { row: what === "message" ? line.offset : 7 });
  return builder.bytes;
}

describe("the check of a row by hand", () => {
  test("says what the schema says", () => {
    const names = Object.keys({
      ...row(""),
      order: 1,
      model: "",
      run: "",
      parent: "",
      vendor: "",
      moved: true,
    });
    const member = fc.oneof(
      fc.constantFrom("row", "auto", "person", "", true, false, 0, -1, 1.5, null, undefined),
      fc.jsonValue(),
      fc.constantFrom(Number.NaN, Infinity),
    );
    const change = fc.record({ name: fc.constantFrom(...names, "other"), value: member, drop: fc.boolean() });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 3 }), (changes) => {
        const value: Record<string, unknown> = { ...row("a row"), order: 3, model: "p/m", moved: false };
        for (const { name, value: other, drop } of changes) {
          if (drop) delete value[name];
          else value[name] = other;
        }
        expect(isRow(value)).toBe(factSchemas.row.safeParse(value).success);
      }),
      { numRuns: 3000 },
    );
    for (const value of [null, undefined, 1, "row", [], {}, [row("in a list")]]) {
      expect(isRow(value)).toBe(factSchemas.row.safeParse(value).success);
    }
    const whole: Row = row("a row");
    expect(isRow(whole)).toBe(true);
  });
});

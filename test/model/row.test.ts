import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Fact, Row } from "../../src/model/facts.ts";
import { evolveRow, titleOf } from "../../src/model/row.ts";
import { anyText } from "./any-text.ts";
import { examples } from "./fact-examples.ts";

const titleOfText = (...texts: string[]) =>
  titleOf({ parts: texts.map((text) => ({ type: "text", text }) as const) });

const row: Row = {
  kind: "row",
  title: "",
  titleBy: "auto",
  archived: false,
  pinned: false,
  agent: "builtin",
  binding: "/project",
  state: "idle",
  openUnknowns: 0,
};

describe("an automatic title", () => {
  test.each([
    ["the first line that shows something", ["\n \t\nFix the tests\nplease"], "Fix the tests"],
    ["of the first text that has one", ["", "  ", "Fix it"], "Fix it"],
    ["with one space for many", ["  Fix\t\tthe   tests  "], "Fix the tests"],
    ["without a carriage return", ["Fix it\r\nnow"], "Fix it"],
    ["empty where nothing is said", ["", "\n\n", "\u200d", "\u0007"], ""],
    ["with all its signs", ["修复测试 👩‍👩‍👧 می‌خواهم"], "修复测试 👩‍👩‍👧 می‌خواهم"],
  ])("is %s", (_, texts, title) => {
    expect(titleOfText(...texts)).toBe(title);
  });

  test("of a message without text is empty", () => {
    expect(titleOf({ parts: [] })).toBe("");
    expect(titleOf({ parts: [{ type: "text", blob: { sha256: "ab".repeat(32), bytes: 40_000 } }] })).toBe("");
    expect(
      titleOf({
        parts: [{ type: "context", source: "a", title: "b", hidden: true, reversible: true, text: "c" }],
      }),
    ).toBe("");
  });

  test.each([
    ["escape sequences", "\u001b[2J\u001b]0;owned\u0007Fix", "[2J ]0;owned Fix"],
    ["C1 controls", "a\u009b2Jb", "a 2Jb"],
    ["bidirectional overrides", "Fix \u202egnp.exe\u202c \u2066x\u2069\u200f", "Fix gnp.exe x"],
    ["invisible signs", "F\u200bi\u00adx\ufeff \u{e0041}it", "Fix it"],
    ["separators of lines", "Fix\u2028it\u0085now", "Fix it now"],
  ])("cannot disturb a terminal with %s", (_, text, title) => {
    expect(titleOfText(text)).toBe(title);
  });

  test("is at most 80 characters long, cut between words where that leaves enough", () => {
    expect(titleOfText("word ".repeat(40))).toBe(`${"word ".repeat(15)}word…`);
    expect(titleOfText("x".repeat(81))).toBe(`${"x".repeat(79)}…`);
    expect(titleOfText("x".repeat(80))).toBe("x".repeat(80));
    expect(titleOfText("修".repeat(200))).toBe(`${"修".repeat(79)}…`);
    expect(titleOfText(`short ${"x".repeat(100)}`)).toBe(`short ${"x".repeat(73)}…`);
    expect(titleOfText(`${"x".repeat(78)}\u200d${"👧".repeat(9)}`)).toBe(`${"x".repeat(78)}…`);
  });

  test("is one clean line of well-formed text for whatever is said", () => {
    fc.assert(
      fc.property(fc.array(anyText), (texts) => {
        const title = titleOfText(...texts.map((text) => text.toWellFormed()));
        expect(Array.from(title).length).toBeLessThanOrEqual(80);
        expect(title).toBe(title.trim());
        expect(title).not.toMatch(/[\p{Cc}\u2028\u2029]|(?![\u200c\u200d])\p{Cf}/u);
        expect(title.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe("the list row", () => {
  const say = (role: "user" | "assistant", text: string): Fact => ({
    kind: "message",
    id: "msg_1",
    role,
    parts: [{ type: "text", text }],
  });

  test("takes its title from the first message of a user, and never over one that is there", () => {
    expect(evolveRow(row, say("assistant", "Hello"))).toBe(row);
    const titled = evolveRow(row, say("user", "Fix it"));
    expect(titled).toEqual({ ...row, title: "Fix it" });
    expect(evolveRow(titled, say("user", "Something else"))).toBe(titled);
  });

  test("takes what a person gives, and from then on nothing else", () => {
    const named = evolveRow({ ...row, title: "Fix it" }, { kind: "session.changed", title: "" });
    expect(named).toMatchObject({ title: "", titleBy: "person" });
    expect(evolveRow(named, say("user", "Fix it"))).toBe(named);
    const changed = evolveRow(row, examples["session.changed"]);
    expect(changed).toMatchObject({
      title: "Shop",
      titleBy: "person",
      archived: true,
      pinned: false,
      order: -1,
    });
  });

  test("follows the newest run and counts what is unknown", () => {
    const { run } = examples["run.created"];
    const facts: Fact[] = [
      examples["run.created"],
      examples["run.started"],
      examples["op.unknown"],
      examples["run.input_required"],
      examples["op.resolved"],
      examples["run.started"],
      examples["run.suspended"],
      examples["run.ended"],
    ];
    let state = row;
    const seen = facts.map((fact) => {
      state = evolveRow(state, fact);
      return `${state.state} ${state.openUnknowns}`;
    });
    expect(seen).toEqual([
      "queued 0",
      "running 0",
      "running 1",
      "input_required 1",
      "input_required 0",
      "running 0",
      "suspended 0",
      "failed 0",
    ]);
    expect(state.run).toBe(run);
  });

  test("tells where it is bound, what answers and whether it was moved", () => {
    expect(evolveRow(row, examples["workspace.rebound"]).binding).toBe("/project/shop");
    expect(evolveRow(row, examples["vendor.bound"]).vendor).toBe("thread_1");
    const sealed = evolveRow(row, { kind: "session.moved", from: "sto_1", sealed: true });
    expect(sealed.moved).toBe(true);
    expect(evolveRow(sealed, { kind: "session.moved", from: "sto_1", to: "sto_2" }).moved).toBe(false);
  });

  test("is left alone by every other fact, also one of a later version", () => {
    const moving = new Set(
      "message session.changed session.moved workspace.rebound vendor.bound op.unknown op.resolved".split(
        " ",
      ),
    );
    for (const fact of Object.values(examples) as Fact[]) {
      if (!moving.has(fact.kind) && !fact.kind.startsWith("run.")) expect(evolveRow(row, fact)).toBe(row);
    }
    expect(evolveRow(row, { kind: "later" })).toBe(row);
  });
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "../../src/model/canonical-json.ts";
import { differencesOf } from "../../src/model/difference.ts";

test("what differs is said in a line for each member, by its path", () => {
  const recorded = { a: 1, b: { c: [1], d: "same" }, gone: true };
  const given = { a: 2, b: { c: [2], d: "same" }, come: null };
  expect(differencesOf(recorded, given)).toEqual([
    "a: 1 is recorded, 2 was given",
    "b.c: [1] is recorded, [2] was given",
    "gone: true is recorded, nothing was given",
    "come: nothing is recorded, null was given",
  ]);
});

test("of long lists of texts only what one of them lacks is said", () => {
  const words = (...more: string[]) => ["look before you change", "make the smallest change", ...more];
  expect(differencesOf({ list: words("a".repeat(40)) }, { list: words("b".repeat(80)) })).toEqual([
    `list: "${"a".repeat(40)}" is recorded and was not given`,
    `list: "${"b".repeat(59)}… was given and is not recorded`,
  ]);
  expect(
    differencesOf({ list: words("x".repeat(40)) }, { list: words("x".repeat(40)).toReversed() }),
  ).toEqual(["list: the same in another order is recorded"]);
});

test("of long texts it is shown where they begin to differ", () => {
  const text = (end: string) => `${"Do what the user asks. ".repeat(10)}${end}`;
  const [line = ""] = differencesOf({ objective: text("Now.") }, { objective: text("Later.") });
  expect(line).toContain('Now." is recorded');
  expect(line).toContain('Later." was given');
  expect(line.length).toBeLessThan(160);
});

test("nothing differs where both say the same, in whatever order; and something does where they do not", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
      const isSame = canonicalJson(left) === canonicalJson(right);
      expect(differencesOf(left, right).length === 0).toBe(isSame);
      expect(differencesOf(left, JSON.parse(canonicalJson(left)))).toEqual([]);
    }),
  );
});

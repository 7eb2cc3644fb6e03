import { expect, test } from "vitest";
import { startTimeLimit } from "../../src/host/index.ts";

test("work that does not end is stopped, also inside one match of a regular expression", () => {
  const limit = startTimeLimit();
  expect(limit(50, () => /(a+)+$/.test(`${"a".repeat(60)}!`))).toEqual({ ended: false });
  expect(
    limit(50, () => {
      for (;;);
    }),
  ).toEqual({ ended: false });
});

test("work that ends gives its value, nothing included, and the limit can be used again", () => {
  const limit = startTimeLimit();
  for (const value of [1, undefined, null, "text"])
    expect(limit(1_000, () => value)).toEqual({ ended: true, value });
});

test("what the work throws is thrown as it is", () => {
  const fault = new TypeError("mine");
  expect(() =>
    startTimeLimit()(1_000, () => {
      throw fault;
    }),
  ).toThrow(fault);
});

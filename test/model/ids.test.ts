import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { IdPrefix } from "../../src/model/ids.ts";
import { anyText } from "./any-text.ts";
import { isId, makeId, timeOfId } from "../../src/model/ids.ts";

const prefixes: IdPrefix[] = ["ses", "run", "op", "msg", "dlv", "req", "dev", "sto"];
const prefix = fc.constantFrom(...prefixes);
const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });
const random = fc.uint8Array({ minLength: 10, maxLength: 10 });
const good = "ses_01m8psrzhe5e1gx5jdk40j2jvs";

describe("an id", () => {
  test("is its prefix and 26 characters that no one confuses, and tells its time", () => {
    fc.assert(
      fc.property(prefix, time, random, (kind, atMs, bytes) => {
        const id = makeId(kind, atMs, bytes);
        expect(id).toMatch(/^[a-z]{2,3}_[0-7][0-9abcdefghjkmnpqrstvwxyz]{25}$/);
        expect(isId(kind, id)).toBe(true);
        expect(timeOfId(id)).toBe(atMs);
      }),
    );
  });

  test("of a later millisecond sorts after every earlier one, as text", () => {
    fc.assert(
      fc.property(fc.tuple(time, time), random, random, ([one, other], bytes, more) => {
        fc.pre(one < other);
        expect(makeId("op", one, bytes) < makeId("op", other, more)).toBe(true);
      }),
    );
  });

  test("keeps every bit of its chance", () => {
    fc.assert(
      fc.property(time, random, random, (atMs, bytes, more) => {
        fc.pre(bytes.join() !== more.join());
        expect(makeId("op", atMs, bytes)).not.toBe(makeId("op", atMs, more));
      }),
    );
  });

  test("is well-formed whatever the clock says", () => {
    for (const atMs of [-1, -1e15, 1e18, 0.5, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]) {
      expect(isId("ses", makeId("ses", atMs, new Uint8Array(10)))).toBe(true);
    }
    expect(timeOfId(makeId("ses", -5, new Uint8Array(10)))).toBe(0);
    expect(timeOfId(makeId("ses", 12.9, new Uint8Array(10)))).toBe(12);
  });

  test("never turns one prefix into another", () => {
    for (const kind of prefixes) {
      for (const other of prefixes) {
        expect(isId(other, makeId(kind, 0, new Uint8Array(10)))).toBe(kind === other);
      }
    }
  });

  test.each([
    "",
    "ses_",
    good.slice(0, -1),
    `${good}0`,
    `${good}\n`,
    ` ${good}`,
    `${good}/../x`,
    good.toUpperCase(),
    good.replace("ses_", "ses-"),
    good.replace("ses_", "SES_"),
    good.replace("ses_0", "ses_8"),
    good.replace("m8", "i8"),
    good.replace("m8", "l8"),
    good.replace("m8", "o8"),
    good.replace("m8", "u8"),
    good.replace("m8", "．．"),
    good.replace("m8", "\u0000\u0000"),
    `ses_${"/".repeat(26)}`,
    `ses_${".".repeat(26)}`,
    "../../../../etc/passwd",
    `ses_0${"٠".repeat(25)}`,
  ])("is nothing else: %j", (text) => {
    expect(isId("ses", good)).toBe(true);
    expect(isId("ses", text)).toBe(false);
  });

  test("holds nothing that a path, a shell or a URL reads in another way", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        if (isId("ses", text)) expect(text).toMatch(/^[a-z0-9_]{30}$/);
      }),
    );
  });
});

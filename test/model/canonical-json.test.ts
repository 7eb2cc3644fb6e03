import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyText } from "./any-text.ts";
import { canonicalJson } from "../../src/model/canonical-json.ts";
import type { Json } from "../../src/model/values.ts";

/** The same value with its members in another order, and with members that are absent. */
function shuffled(value: Json, seed: number): unknown {
  if (Array.isArray(value)) return value.map((element) => shuffled(element, seed));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => [name, shuffled(member, seed)] as const);
  entries.sort(
    ([one], [other]) => ((one.length * seed) % 7) - ((other.length * seed) % 7) || (one < other ? 1 : -1),
  );
  return Object.fromEntries([...entries, ["\u0000absent", undefined]]);
}

const name = fc.oneof(fc.string(), fc.constantFrom("0", "10", "9", "a", "B", "é", "__proto__", "\ud800"));
const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<Json>(null, true, false, 0, -1.5, 1e21, "", "é\u2028"),
    anyText,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(name, tie("value")), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
  ),
})).value;

describe("canonical JSON", () => {
  test("is one text for equal values, whatever the order of their members", () => {
    fc.assert(
      fc.property(json, fc.nat(6), (value, seed) => {
        expect(canonicalJson(shuffled(value, seed))).toBe(canonicalJson(value));
      }),
    );
  });

  test("says the whole value and is JSON", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test("differs for values that differ", () => {
    fc.assert(
      fc.property(json, json, (one, other) => {
        const isSame = canonicalJson(one) === canonicalJson(other);
        const twin =
          JSON.stringify(JSON.parse(canonicalJson(one))) === JSON.stringify(JSON.parse(canonicalJson(other)));
        expect(isSame).toBe(twin);
      }),
    );
  });

  test("sorts by code unit, also names that are numbers", () => {
    expect(canonicalJson({ b: 1, a: { "9": 1, "10": 2, z: undefined }, B: [], é: null })).toBe(
      '{"B":[],"a":{"10":2,"9":1},"b":1,"é":null}',
    );
  });
});

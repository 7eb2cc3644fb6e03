import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import type { FactKind } from "../../src/model/facts.ts";
import { factSchemas, faultOfFact } from "../../src/model/facts.ts";
import { validatorOf } from "../../src/model/validator.ts";

/** What a schema says about itself; walked here a second time, to make values that fit it. */
interface Definition {
  readonly type: string;
  readonly checks?: readonly { readonly _zod: { readonly def: { readonly pattern?: RegExp } } }[];
  readonly innerType: Schema;
  readonly element: Schema;
  readonly valueType: Schema;
  readonly values: readonly unknown[];
  readonly entries: Readonly<Record<string, unknown>>;
  readonly shape: Readonly<Record<string, Schema>>;
  readonly options: readonly Schema[];
  readonly fn: (value: unknown) => boolean;
}
interface Schema {
  readonly _zod: { readonly def: unknown };
}

const names = fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "toString", "0"));
const anything = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, 0.5, 2 ** 53, "", "x", [], {}, [[]], [null]),
  fc.jsonValue(),
  fc.constantFrom<unknown>(...Object.keys(factSchemas)),
);

function fitting(schema: Schema): fc.Arbitrary<unknown> {
  const def = schema._zod.def as Definition;
  switch (def.type) {
    case "string": {
      const pattern = def.checks?.[0]?._zod.def.pattern;
      return pattern === undefined ? fc.string() : fc.stringMatching(pattern);
    }
    case "number":
      return fc.double({ min: 0, noNaN: true, noDefaultInfinity: true });
    case "boolean":
      return fc.boolean();
    case "literal":
      return fc.constantFrom(...def.values);
    case "enum":
      return fc.constantFrom(...Object.values(def.entries));
    case "optional":
      return fitting(def.innerType);
    case "array":
      return fc.array(fitting(def.element), { maxLength: 3 });
    case "record":
      return fc.dictionary(names, fitting(def.valueType), { maxKeys: 3 });
    case "union":
      return fc.oneof(...def.options.map(fitting));
    case "custom":
      return fc.oneof(fc.nat(), fc.jsonValue()).filter(def.fn);
    default: {
      const members = Object.entries(def.shape);
      const isOptional = ([, member]: [string, Schema]) =>
        (member._zod.def as Definition).type === "optional";
      const requiredKeys = members.filter((member) => !isOptional(member)).map(([name]) => name);
      return fc.record(Object.fromEntries(members.map(([name, member]) => [name, fitting(member)])), {
        requiredKeys,
      });
    }
  }
}

/** Every place in a value, as the steps to it. */
function placesIn(value: unknown, at: readonly string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [[...at]];
  const inside = Object.entries(value).flatMap(([name, member]) => placesIn(member, [...at, name]));
  return [[...at], ...inside];
}

/** The value with another one, or nothing, at a place. */
function changed(value: unknown, place: readonly string[], other: unknown): unknown {
  const [name, ...rest] = place;
  if (name === undefined) return other;
  if (Array.isArray(value)) {
    return value.map((one: unknown, index) => (String(index) === name ? changed(one, rest, other) : one));
  }
  const entries = Object.entries(value as Record<string, unknown>).flatMap(([key, one]) => {
    if (key !== name) return [[key, one]];
    return rest.length === 0 && other === undefined ? [] : [[key, changed(one, rest, other)]];
  });
  // As JSON does: a member called __proto__ is a member.
  return JSON.parse(
    `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${JSON.stringify(one)}`).join()}}`,
  );
}

const kinds = Object.keys(factSchemas) as FactKind[];

describe("a validator", () => {
  test.each(kinds)("says of %s what its schema says", (kind) => {
    const schema = factSchemas[kind];
    const isValid = validatorOf(schema);
    const change = fc.record({ place: fc.nat(), other: fc.option(anything, { nil: undefined }) });
    fc.assert(
      fc.property(fitting(schema), fc.array(change, { maxLength: 2 }), (fits, changes) => {
        let value: unknown = JSON.parse(JSON.stringify(fits));
        expect(isValid(value)).toBe(true);
        for (const { place, other } of changes) {
          const places = placesIn(value);
          value = changed(value, places[place % places.length] ?? [], other);
          expect(isValid(value)).toBe(schema.safeParse(value).success);
        }
      }),
      { numRuns: 150 },
    );
  });

  test.each([
    ["a list where an object is due", z.object({ a: z.optional(z.string()) }), []],
    ["an unknown member", z.object({ a: z.string() }), { a: "x", b: 1 }],
    ["an infinite number", z.number(), Infinity],
    ["an absent member of any kind", z.object({ a: z.custom((value) => value !== undefined) }), {}],
    ["an optional member that is undefined", z.object({ a: z.optional(z.string()) }), { a: undefined }],
    [
      "a union's member without its discriminator",
      z.discriminatedUnion("t", [z.object({ t: z.literal("a") })]),
      {},
    ],
  ])("agrees on %s", (_name, schema, value) => {
    expect(validatorOf(schema)(value)).toBe(schema.safeParse(value).success);
  });

  test("is never made for a schema that it does not understand", () => {
    expect(() => validatorOf(z.date())).toThrow(/date/);
    expect(() => validatorOf(z.string().check(z.maxLength(3)))).toThrow(/max_length/);
  });
});

describe("a fact", () => {
  test("that does not fit is refused with the member that does not", () => {
    expect(faultOfFact({ kind: "op.settled" })).toMatch(/^op\.settled: operation /);
    expect(faultOfFact({ kind: "op.settled", operation: "op_1" })).toBeUndefined();
    expect(faultOfFact({ kind: "constructor" })).toBeUndefined();
    expect(faultOfFact({ kind: "__proto__" })).toBeUndefined();
  });
});

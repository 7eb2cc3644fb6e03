import fc from "fast-check";
import * as z from "zod/mini";
import { describe, expect, test } from "vitest";
import type { FactKind } from "../../src/model/facts.ts";
import { factSchemas } from "../../src/model/facts.ts";
import { validatorOf } from "../../src/model/validator.ts";
import type { Json } from "../../src/model/values.ts";
import { examples } from "./fact-examples.ts";

const sum = "a".repeat(32);
const kinds = Object.keys(factSchemas) as FactKind[];

/** Puts `value` at a place inside a JSON value: `picks` say which member on each level. */
function planted(owner: Json, picks: readonly number[], value: Json): Json {
  const [pick, ...rest] = picks;
  if (pick === undefined || typeof owner !== "object" || owner === null) return value;
  const names = Object.keys(owner);
  const name = names[pick % (names.length + 1)];
  if (name === undefined) return value;
  const member = planted((owner as Record<string, Json>)[name] ?? null, rest, value);
  return Array.isArray(owner) ? owner.with(Number(name), member) : { ...owner, [name]: member };
}

describe("the function made of a schema", () => {
  test("says yes and no exactly as the schema does, for every kind of fact", () => {
    const functions = new Map(kinds.map((kind) => [kind, validatorOf(factSchemas[kind])]));
    const odd: fc.Arbitrary<Json> = fc.constantFrom<Json>(
      -1,
      0,
      1.5,
      2 ** 53,
      "",
      "ok",
      "text",
      "pure",
      sum,
      sum + sum,
      {},
      [],
    );
    const picks = fc.array(fc.nat(40), { maxLength: 5 });
    fc.assert(
      fc.property(fc.constantFrom(...kinds), picks, fc.oneof(odd, fc.jsonValue()), (kind, at, value) => {
        const fact = planted(JSON.parse(JSON.stringify(examples[kind])) as Json, at, value as Json);
        expect(functions.get(kind)?.(fact)).toBe(factSchemas[kind].safeParse(fact).success);
      }),
      { numRuns: 3000 },
    );
  });

  test("cannot be made of what it does not know", () => {
    expect(() => validatorOf(z.date())).toThrow("no validator is known for date");
    expect(() => validatorOf(z.object({ a: z.string().check(z.minLength(3)) }))).toThrow("min_length");
    expect(() => validatorOf(z.union([z.string(), z.object({ a: z.string() })]))).toThrow("discriminator");
  });
});

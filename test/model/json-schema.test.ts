import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { problemsOfValue } from "../../src/model/json-schema/check.ts";
import { problemsOfSchema } from "../../src/model/json-schema/form.ts";
import { writeProblem } from "../../src/model/problems.ts";

const faultsOf = (schema: unknown) => problemsOfSchema(schema, { path: [] }).map(writeProblem);
const wrongWith = (schema: unknown, value: unknown) => problemsOfValue(schema, value).map(writeProblem);

/** A schema with values that satisfy it and values that do not. */
type Case = readonly [schema: unknown, good: readonly unknown[], bad: readonly unknown[]];

const cases: Record<string, Case> = {
  "nothing said": [{}, [1, null, {}, []], []],
  "a type": [{ type: "string" }, ["", "a"], [1, null, [], {}, true]],
  "a whole number": [{ type: "integer" }, [1, -1, 1.0, 1e300], [1.5, "1"]],
  "a number": [{ type: "number" }, [1, 1.5], ["1", null]],
  "null alone": [{ type: "null" }, [null], [0, "", false]],
  "true or false": [{ type: "boolean" }, [true, false], [0, 1, "true"]],
  "one of several types": [{ type: ["string", "null"] }, ["a", null], [1, []]],
  "an object and no list": [{ type: "object" }, [{}], [[], null]],
  "a list and no object": [{ type: "array" }, [[]], [{}, "a"]],
  "one of some values": [
    { enum: ["a", 1, { b: [1] }, null] },
    ["a", 1, { b: [1] }, null],
    ["b", 2, { b: [2] }],
  ],
  "one value": [{ const: { a: [1], b: 2 } }, [{ b: 2, a: [1] }], [{ a: [1] }, { a: [1], b: 2, c: 3 }]],
  "the value null": [{ const: null }, [null], [0, "null"]],
  "bounds of a number": [{ minimum: 1, maximum: 3 }, [1, 2.5, 3, "x"], [0.9, 3.1]],
  "open bounds of a number": [{ exclusiveMinimum: 1, exclusiveMaximum: 3 }, [2], [1, 3]],
  "steps of a number": [{ multipleOf: 0.1 }, [0.3, 1, -0.7, 0], [0.35]],
  "the length of a text, in characters": [
    { minLength: 2, maxLength: 3 },
    ["ab", "😀😀😀", 1],
    ["a", "😀", "abcd"],
  ],
  "a pattern, anywhere in a text": [{ pattern: "b+" }, ["abc", 1], ["a"]],
  "a pattern of whole characters": [{ pattern: "^.$" }, ["😀"], ["ab"]],
  "the length of a list": [{ minItems: 1, maxItems: 2 }, [[1], [1, 2], {}], [[], [1, 2, 3]]],
  items: [{ items: { type: "number" } }, [[], [1, 2]], [[1, "a"]]],
  "first items and further ones": [
    { prefixItems: [{ type: "string" }, { type: "number" }], items: false },
    [[], ["a"], ["a", 1]],
    [[1], ["a", "b"], ["a", 1, 2]],
  ],
  "different items": [
    { uniqueItems: true },
    [[1, "1", { a: 1 }]],
    [
      [1, 1],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
  ],
  "an item among others": [{ contains: { const: 1 } }, [[0, 1], {}], [[], [0]]],
  "so many items among others": [
    { contains: { const: 1 }, minContains: 2, maxContains: 3 },
    [
      [1, 1],
      [1, 0, 1, 1],
    ],
    [[1], [1, 1, 1, 1]],
  ],
  "no item among others, but not too many": [
    { contains: { const: 1 }, minContains: 0, maxContains: 1 },
    [[], [1]],
    [[1, 1]],
  ],
  members: [{ properties: { a: { type: "string" } } }, [{}, { a: "x" }, { b: 1 }, []], [{ a: 1 }]],
  "members that must be there": [
    { required: ["a", "constructor"] },
    [{ a: null, constructor: 1 }, 7],
    [{}, { a: 1 }],
  ],
  "no other members": [
    {
      properties: { a: true },
      patternProperties: { "^x-": { type: "number" } },
      additionalProperties: false,
    },
    [{ a: 1 }, { "x-b": 1 }],
    [{ b: 1 }, { "x-b": "1" }],
  ],
  "other members of a form": [
    { properties: { a: true }, additionalProperties: { type: "string" } },
    [{ a: 1, b: "x" }],
    [{ b: 1 }],
  ],
  "names of members": [{ propertyNames: { pattern: "^[a-z]$" } }, [{ a: 1 }], [{ ab: 1 }]],
  "a count of members": [{ minProperties: 1, maxProperties: 2 }, [{ a: 1 }], [{}, { a: 1, b: 2, c: 3 }]],
  "members that need others": [
    { dependentRequired: { a: ["b"] } },
    [{}, { b: 1 }, { a: 1, b: 1 }],
    [{ a: 1 }],
  ],
  "members that change the form": [
    { dependentSchemas: { a: { properties: { b: { const: 1 } }, required: ["b"] } } },
    [{}, { b: 2 }, { a: 1, b: 1 }],
    [{ a: 1 }, { a: 1, b: 2 }],
  ],
  "all of several": [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1], [0, 3]],
  "any of several": [{ anyOf: [{ type: "string" }, { minimum: 5 }] }, ["a", 5], [4]],
  "exactly one of several": [{ oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, [2, 3], [6, 1]],
  "what it must not be": [{ not: { type: "string" } }, [1], ["a"]],
  "one thing or another": [
    JSON.parse('{ "if": { "type": "string" }, "then": { "minLength": 2 }, "else": { "minimum": 2 } }'),
    ["ab", 2, null],
    ["a", 1],
  ],
  "parts by name": [
    {
      $ref: "#/$defs/a~1b",
      $defs: { "a/b": { $ref: "#/definitions/c%20d" } },
      definitions: { "c d": { type: "string" } },
    },
    ["a"],
    [1],
  ],
  "a tree": [
    {
      type: "object",
      required: ["value"],
      properties: { children: { type: "array", items: { $ref: "#" } } },
    },
    [{ value: 1, children: [{ value: 2 }, { value: 3, children: [] }] }],
    [{ value: 1, children: [{ value: 2, children: [{}] }] }],
  ],
  nothing: [{ properties: { a: false } }, [{}], [{ a: 1 }]],
  "a date": [{ format: "date" }, ["2026-02-28", 1], ["2026-02-30", "28.2.2026"]],
  "a point in time": [
    { format: "date-time" },
    ["2026-02-28T10:00:00Z", "2026-02-28T10:00:00.5+01:00"],
    ["2026-02-28"],
  ],
  "a time": [{ format: "time" }, ["10:00:00Z", "10:00:00.25-02:30"], ["25:00:00Z", "10:00"]],
  "an address": [{ format: "uri" }, ["https://a.example/b?c"], ["a b", "/a"]],
  "a mailbox": [{ format: "email" }, ["a@b.example"], ["a@", "a"]],
  "an id": [{ format: "uuid" }, ["01890a5d-ac96-774b-bcce-b302099a8057"], ["1"]],
  "addresses of machines": [
    { anyOf: [{ format: "ipv4" }, { format: "ipv6" }] },
    ["127.0.0.1", "::1"],
    ["localhost"],
  ],
  "words for people, which demand nothing": [
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: "https://a.example",
      title: "t",
      description: "d",
      $comment: "c",
      default: 1,
      examples: [1],
      deprecated: true,
      readOnly: false,
      writeOnly: false,
      "x-y": {},
    },
    [1, "a"],
    [],
  ],
};

describe("a schema", () => {
  test.each(Object.entries(cases))("that says %s is held against values", (_, [schema, good, bad]) => {
    expect(faultsOf(schema)).toEqual([]);
    for (const value of good) expect([value, wrongWith(schema, value)]).toEqual([value, []]);
    for (const value of bad) expect([value, wrongWith(schema, value).length > 0]).toEqual([value, true]);
  });

  test("says what is wrong with a value, where, and everything of it", () => {
    const schema = {
      type: "object",
      required: ["summary", "files"],
      properties: {
        summary: { type: "string", minLength: 3 },
        files: {
          type: "array",
          items: { type: "object", required: ["path"], properties: { path: { type: "string" } } },
        },
        grade: { enum: ["a", "b"] },
      },
      additionalProperties: false,
    };
    const value = { summary: "x", files: [{ path: 1 }, {}, "c"], grade: "c", "odd name": 1 };
    expect(wrongWith(schema, value).join("\n")).toMatchInlineSnapshot(`
      "summary: must have at least 3 characters, not 1
      files[0].path: must be text, not 1
      files[1].path: is missing
      files[2]: must be an object, not "c"
      grade: must be "a" or "b", not "c"
      ["odd name"]: is not a known member"
    `);
    expect(wrongWith(schema, [])).toEqual(["must be an object, not a list"]);
    expect(wrongWith(schema, {})).toEqual(["summary: is missing", "files: is missing"]);
  });

  test("never says more than a person reads", () => {
    const long = Array.from({ length: 1000 }, () => "x");
    expect(wrongWith({ items: { type: "number" } }, long)).toHaveLength(20);
  });

  const refused: Record<string, unknown> = {
    "is a mapping": true,
    "has no keyword that nobody knows": { type: "object", requierd: ["a"] },
    "has no keyword that is not checked here": { unevaluatedProperties: false },
    "of an older draft says it the new way": { dependencies: { a: ["b"] } },
    "has no list of items in the way of an older draft": { items: [{ type: "string" }] },
    "has known types": { type: "strin" },
    "has different types": { type: ["string", "string"] },
    "has bounds that are numbers": { minimum: "1", exclusiveMaximum: true },
    "has sizes from 0 on": { minLength: -1, maxItems: 1.5 },
    "has steps above 0": { multipleOf: 0 },
    "has regular expressions": { pattern: "(", patternProperties: { "[": {} } },
    "has formats that are checked": { format: "hostname" },
    "has names of members": { required: "a" },
    "has names in lists": { required: ["a", "a"], dependentRequired: { a: "b" } },
    "has schemas where schemas belong": { properties: { a: 7 }, items: "x", anyOf: [] },
    "refers to what is there": { $ref: "#/$defs/a" },
    "refers to a schema and to nothing else": { $ref: "#/title", title: "t" },
    "refers to nothing elsewhere": { $ref: "https://a.example/schema" },
    "names a draft that is known": { $schema: "http://json-schema.org/draft-04/schema#" },
    "names its draft once": { properties: { a: { $id: "b" } } },
    "is not itself alone": { $ref: "#" },
    "does not go round": {
      $ref: "#/$defs/a",
      $defs: { a: { allOf: [{ $ref: "#/$defs/b" }] }, b: { $ref: "#/$defs/a" } },
    },
  };
  test.each(Object.entries(refused))("%s, and else is refused before anything relies on it", (_, schema) => {
    expect(faultsOf(schema)).not.toEqual([]);
  });

  test("is told everything that is wrong with it, at its place", () => {
    expect(
      problemsOfSchema(
        { minLength: -1, properties: { a: { typ: "x", $ref: "#/b" } } },
        { path: ["schema"] },
      ).map(writeProblem),
    ).toMatchInlineSnapshot(`
      [
        "schema.minLength: must be a whole number from 0 on, not -1",
        "schema.properties.a.typ: is not a keyword that can be checked",
        "schema.properties.a.$ref: names no schema of this one: "#/b"",
      ]
    `);
  });

  test("that goes round by way of what a value holds is none that goes round", () => {
    expect(
      faultsOf({
        properties: { a: { $ref: "#" } },
        items: { $ref: "#" },
        anyOf: [{ not: { $ref: "#/$defs/s" } }],
        $defs: { s: { type: "string" } },
      }),
    ).toEqual([]);
  });
});

describe("a check comes to an end", () => {
  test("where each step of a value doubles what is to be looked at", () => {
    const half = { items: { $ref: "#" } };
    const schema = { anyOf: [half, { allOf: [half, { not: {} }] }, half] };
    let value: unknown = 1;
    for (let level = 0; level < 200; level++) value = [value, value];
    expect(faultsOf(schema)).toEqual([]);
    expect(wrongWith(schema, value)).toEqual(["takes too long to be held against the schema"]);
  });

  /** A schema that leads over so many others to the one at its end. */
  const chain = (length: number, end: unknown) => {
    const $defs: Record<string, unknown> = { [`d${length}`]: end };
    for (let level = 0; level < length; level++) $defs[`d${level}`] = { $ref: `#/$defs/d${level + 1}` };
    return { $defs, $ref: "#/$defs/d0" };
  };

  test("where schema and value together lead deeper than a stack goes", () => {
    const schema = chain(400, { items: { $ref: "#" } });
    expect(faultsOf(schema)).toEqual([]);
    expect(wrongWith(schema, [])).toEqual([]);
    expect(wrongWith(schema, [[[[]]]])).toEqual(["is nested too deep to be held against the schema"]);
  });

  test("since a schema that leads on and on is refused", () => {
    for (const length of [600, 20_000]) {
      expect(faultsOf(chain(length, true))).toEqual([expect.stringContaining("on and on") as string]);
    }
  });

  test("for whatever may stand for a schema or a value", () => {
    const names = "type items properties required $ref anyOf not if enum minimum pattern $defs".split(" ");
    const member = fc.constantFrom(...names);
    const { schema: schemas } = fc.letrec((tie) => ({
      schema: fc.oneof({ maxDepth: 4 }, fc.jsonValue(), fc.dictionary(member, tie("schema"))),
    }));
    fc.assert(
      fc.property(schemas, fc.jsonValue(), (schema, value) => {
        if (faultsOf(schema).length === 0) expect(Array.isArray(wrongWith(schema, value))).toBe(true);
      }),
    );
  });
});

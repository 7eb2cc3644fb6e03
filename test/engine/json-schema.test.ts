import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openSchemaChecker } from "../../src/engine/json-schema.ts";
import { writeProblem } from "../../src/model/problems.ts";

const checker = openSchemaChecker();
const faultsOf = (schema: unknown) => checker.problemsOfSchema(schema).map(writeProblem);
const wrongWith = (schema: unknown, value: unknown) =>
  checker.problemsOfValue(schema, value).map(writeProblem);

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
  "no members but those that some part of it knows": [
    { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
    [{}, { a: 1 }],
    [{ b: 1 }],
  ],
  "no items but those that some part of it knows": [
    { allOf: [{ prefixItems: [true] }], unevaluatedItems: false },
    [[], [1]],
    [[1, 2]],
  ],
  "what members need, as older drafts say it": [
    { dependencies: { a: ["b"], c: { required: ["d"] } } },
    [{}, { a: 1, b: 1 }, { c: 1, d: 1 }],
    [{ a: 1 }, { c: 1 }],
  ],
  "a member in two ways": [
    { properties: { a: { type: "string" } }, patternProperties: { "^a": { minLength: 2 } } },
    [{ a: "xx" }],
    [{ a: 1 }, { a: "x" }],
  ],
  "members that every object of the language has": [
    { properties: { constructor: { type: "string" }, hasOwnProperty: { type: "number" } } },
    [{}, { constructor: "a", hasOwnProperty: 1 }],
    [{ constructor: 1 }, { hasOwnProperty: "a" }],
  ],
  "members that are called like keywords": [
    {
      properties: {
        $ref: { type: "string" },
        $id: { type: "string" },
        "x-a": { type: "string" },
        format: true,
      },
      required: ["$ref"],
    },
    [{ $ref: "a", $id: "b", format: 1 }],
    [{ $ref: 1 }, { $id: "b" }, { $ref: "a", $id: 1 }, { $ref: "a", "x-a": 1 }],
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
      "x-é b": 1,
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
      "["odd name"]: is not a known member
      summary: must have at least 3 characters, not 1
      files[0].path: must be text, not 1
      files[1].path: is missing
      files[2]: must be an object, not "c"
      grade: must be "a" or "b", not "c""
    `);
    expect(wrongWith(schema, [])).toEqual(["must be an object, not a list"]);
    expect(wrongWith(schema, {})).toEqual(["summary: is missing", "files: is missing"]);
  });

  test("says of alternatives what is wrong by the one that was meant, and else that none fits", () => {
    const file = { type: "object", required: ["path"] };
    const schema = {
      properties: { file: { anyOf: [{ type: "null" }, { $ref: "#/$defs/file" }] } },
      $defs: { file },
    };
    expect(wrongWith(schema, { file: {} })).toEqual(["file.path: is missing"]);
    expect(wrongWith(schema, { file: 7 })).toEqual(["file: must be null or an object, not 7"]);
    const numbers = { maximum: 0, anyOf: [{ minimum: 5 }, { multipleOf: 2 }] };
    expect(wrongWith(numbers, 3)).toEqual(
      expect.arrayContaining(["must be at most 0, not 3", "fits none of the schemas of anyOf"]),
    );
    expect(wrongWith(numbers, 3)).toHaveLength(2);
    expect(wrongWith({ oneOf: [{ type: "string" }, { minLength: 1 }] }, "a")).toEqual([
      "fits several of the schemas of oneOf, not one",
    ]);
  });

  test("is not satisfied by a value that trips the check up", () => {
    const schema = { uniqueItems: true };
    const value: unknown = JSON.parse('[{"valueOf": 1}, {"valueOf": 2}]');
    expect(wrongWith(schema, value)).toEqual([expect.stringMatching(/^cannot be checked: /)]);
  });

  test("that is none is satisfied by nothing", () => {
    for (const schema of [true, false, null, []]) {
      expect(wrongWith(schema, {})).toEqual(["cannot be checked: its schema is no mapping"]);
    }
  });

  test("never says more than a person reads", () => {
    const long = Array.from({ length: 1000 }, () => "x");
    expect(wrongWith({ items: { type: "number" } }, long)).toHaveLength(20);
  });

  const refused: Record<string, unknown> = {
    "is a mapping": true,
    "has no keyword that nobody knows": { type: "object", requierd: ["a"] },
    "has no keyword that is not checked here": { contentEncoding: "base64" },
    "has none in a part that nothing refers to": { $defs: { a: { requierd: ["a"] } } },
    "of another dialect says it in this one": { type: "string", nullable: true },
    "has no keyword that does nothing where it stands": { minContains: 2 },
    "has no condition without a consequence": { if: { type: "string" } },
    "has values to choose from": { enum: [] },
    "has no member that would be passed over": { properties: { ["__proto__"]: false } },
    "is no promise": { $async: true },
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
    "names its draft in text": { $schema: 7 },
    "has no name in its parts": { properties: { a: { $id: "b" } } },
    "refers to no anchor": { $ref: "#a", $defs: { a: { $anchor: "a" } } },
    "refers to nothing that only the package knows": { $ref: "https://json-schema.org/draft/2020-12/schema" },
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
    const schema = {
      $schema: "http://json-schema.org/draft-07/schema#",
      minLength: -1,
      type: ["string", "string"],
      patternProperties: { "[": {} },
      properties: {
        a: { typ: "x", $ref: "other.json", nullable: true, $id: "b" },
        b: { items: [], type: "strin" },
        c: { format: "ipv4", pattern: "(", contains: 7 },
      },
    };
    expect(faultsOf(schema).toSorted()).toMatchInlineSnapshot(`
      [
        "minLength: must be at least 0, not -1",
        "patternProperties["["]: must not be called so",
        "properties.a.$id: is not a keyword that can be checked; only the whole schema may have one",
        "properties.a.$ref: must be a reference into the schema itself (#/$defs/NAME), not "other.json"",
        "properties.a.nullable: is not a keyword that can be checked; say type: [..., "null"]",
        "properties.a.typ: is not a keyword that can be checked",
        "properties.b.items: must be an object or true or false, not a list",
        "properties.b.type: must be "array" or "boolean" or "integer" or "null" or "number" or "object" or "string", not "strin"",
        "properties.c.contains: must be an object or true or false, not 7",
        "properties.c.pattern: must be a regular expression that takes the flag u, not "("",
        "type: must be one or several different types of array, boolean, integer, null, number, object, string",
      ]
    `);
    expect(faultsOf({ properties: { a: { $ref: "#/b" } } })).toEqual([
      'properties.a.$ref: names no schema of this one: "#/b"',
    ]);
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
  const hasty = openSchemaChecker({ limitMs: 100 });
  const tooLong = [{ path: [], text: "takes too long to be checked" }];

  test("where each step of a value doubles what is to be looked at", () => {
    const half = { items: { $ref: "#" } };
    const schema = { anyOf: [half, { allOf: [half, { not: {} }] }, half] };
    let value: unknown = 1;
    for (let level = 0; level < 200; level++) value = [value];
    expect(faultsOf(schema)).toEqual([]);
    expect(hasty.problemsOfValue(schema, value)).toEqual(tooLong);
  });

  test("where a pattern tries again and again", () => {
    const schema = { type: "string", pattern: "^(a+)+$" };
    expect(faultsOf(schema)).toEqual([]);
    expect(hasty.problemsOfValue(schema, `${"a".repeat(60)}!`)).toEqual(tooLong);
    expect(hasty.problemsOfValue(schema, "aaa")).toEqual([]);
  });

  test("where a schema doubles what is to be looked at, which is then refused", () => {
    const $defs: Record<string, unknown> = { d60: { type: "string" } };
    for (let level = 0; level < 60; level++) {
      const next = { $ref: `#/$defs/d${level + 1}` };
      $defs[`d${level}`] = { allOf: [next, next] };
    }
    expect(hasty.problemsOfSchema({ $ref: "#/$defs/d0", $defs })).toEqual(tooLong);
  });

  test("where a schema refers to itself for the value of a member", () => {
    const $defs = { a: { allOf: [{ $ref: "#/$defs/a" }] } };
    expect(wrongWith({ properties: { a: { $ref: "#/$defs/a" } }, $defs }, { a: 1 })).toEqual([
      "leads deeper than can be checked",
    ]);
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

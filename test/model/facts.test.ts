import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FactKind } from "../../src/model/facts.ts";
import { factSchemas, faultOfFact, isKnownKind } from "../../src/model/facts.ts";
import { evidence, examples, parts } from "./fact-examples.ts";

const kinds = Object.keys(factSchemas) as FactKind[];

type Path = readonly (string | number)[];

/** Every member of a value with its path, however deep. Of texts in a list the first stands for all. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  const inside = Array.isArray(value)
    ? (typeof value[0] === "string" ? value.slice(0, 1) : value).flatMap((element, index) =>
        pathsOf(element, [...path, index]),
      )
    : Object.entries(value).flatMap(([name, member]) => pathsOf(member, [...path, name]));
  return path.length === 0 ? inside : [path, ...inside];
}

function changed(
  fact: object,
  path: Path,
  change: (owner: Record<string | number, unknown>) => void,
): object {
  const copy = JSON.parse(JSON.stringify(fact)) as object;
  let owner = copy as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) owner = owner[step] as Record<string | number, unknown>;
  change(owner);
  return copy;
}

function accepts(kind: FactKind, path: Path, value: unknown): boolean {
  const last = path.at(-1) ?? "";
  return faultOfFact(changed(examples[kind], path, (owner) => (owner[last] = value))) === undefined;
}

function isOptional(kind: FactKind, path: Path): boolean {
  const last = path.at(-1) ?? "";
  // A list of JSON has no holes.
  if (typeof last === "number") return false;
  return faultOfFact(changed(examples[kind], path, (owner) => delete owner[last])) === undefined;
}

/** What a member may be, found out by trying. */
function typeOf(kind: FactKind, path: Path): string {
  const may = (value: unknown) => accepts(kind, path, value);
  if (may("~") && may(3.5) && may(null)) return "json";
  if (may("~")) return "string";
  if (may(true)) return "boolean";
  if (may(-3.5)) return "number";
  if (may(3.5)) return "duration";
  if (may(3)) return may(-1) ? "count from -1" : "count";
  if (may([])) return "list";
  const value = path.reduce<unknown>((one, step) => (one as Record<string, unknown>)[step], examples[kind]);
  return typeof value === "string" ? "word" : "object";
}

/** A list's elements stand under their type or class, or under their place in it. */
function nameOf(kind: FactKind, path: Path): string {
  let value: unknown = examples[kind];
  return path
    .map((step) => {
      value = (value as Record<string | number, unknown>)[step];
      const { type, class: effect } = (value ?? {}) as { type?: string; class?: string };
      return `${step}${type === undefined ? "" : `(${type})`}${effect === undefined ? "" : `(${effect})`}`;
    })
    .join(".");
}

/** The inside of what may be any JSON is nobody's business. */
function membersOf(kind: FactKind): Path[] {
  const paths = pathsOf(examples[kind]).filter((path) => path[0] !== "kind");
  const free = paths.filter((path) => typeOf(kind, path) === "json");
  return paths.filter(
    (path) => !free.some((one) => one.length < path.length && one.every((s, i) => s === path[i])),
  );
}

describe("the facts of the file format", () => {
  test("are a closed set with these members", async () => {
    const lines = kinds.flatMap((kind) => {
      const members = membersOf(kind).map(
        (path) =>
          `    ${nameOf(kind, path)}: ${typeOf(kind, path)}${isOptional(kind, path) ? ", optional" : ""}`,
      );
      return [kind, ...members];
    });
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./recorded/fact-members.txt");
  });

  test.each(kinds)("%s: a whole one is legal, and every wrong member is named", (kind) => {
    expect(faultOfFact(examples[kind])).toBeUndefined();
    for (const path of membersOf(kind)) {
      const isFree = typeOf(kind, path) === "json";
      const fits = (value: unknown) => accepts(kind, path, value);
      const wrong = [null, true, 7, "~", [], {}].filter((value) => !fits(value));
      expect(wrong.length, `${kind} ${path.join(".")}`).toBeGreaterThanOrEqual(isFree ? 0 : 4);
      if (isFree) continue;
      const last = path.at(-1) ?? "";
      const fault = faultOfFact(changed(examples[kind], path, (owner) => (owner[last] = null)));
      expect(fault).toContain(`${kind}: ${path.join(".")}`);
    }
  });

  test("every part and every class of evidence is legal alone", () => {
    for (const part of parts) expect(faultOfFact({ ...examples.message, parts: [part] })).toBeUndefined();
    for (const one of evidence) {
      expect(faultOfFact({ ...examples["op.started"], evidence: one })).toBeUndefined();
    }
  });

  test("numbers that no line can hold exactly are refused", () => {
    const members = kinds.flatMap((kind) => membersOf(kind).map((path) => ({ kind, path })));
    const numbers = members.filter(({ kind, path }) =>
      ["number", "duration", "count", "count from -1"].includes(typeOf(kind, path)),
    );
    expect(numbers.length).toBeGreaterThan(40);
    for (const { kind, path } of numbers) {
      expect(accepts(kind, path, Number.NaN)).toBe(false);
      expect(accepts(kind, path, Number.POSITIVE_INFINITY)).toBe(false);
      if (typeOf(kind, path) !== "number") expect(accepts(kind, path, -2)).toBe(false);
      if (typeOf(kind, path).startsWith("count")) expect(accepts(kind, path, 2 ** 53)).toBe(false);
    }
  });

  test("members that this version does not know are legal and stay", () => {
    for (const kind of kinds) {
      const fact = { ...examples[kind], later: { deep: [1] } };
      const before = JSON.stringify(fact);
      expect(faultOfFact(fact)).toBeUndefined();
      expect(JSON.stringify(fact)).toBe(before);
    }
  });

  test("kinds that this version does not know are legal, whatever they hold", () => {
    const name = fc.oneof(fc.string(), fc.constantFrom("0", "17", "toString", "constructor"));
    const members = fc.dictionary(name, fc.jsonValue(), { noNullPrototype: true });
    fc.assert(
      fc.property(fc.string(), members, (kind, rest) => {
        fc.pre(!isKnownKind(kind) && !Object.hasOwn(rest, "kind"));
        expect(faultOfFact(JSON.parse(JSON.stringify({ kind, ...rest })))).toBeUndefined();
      }),
    );
  });

  test("names that every object inherits are no kinds", () => {
    for (const kind of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
      expect(isKnownKind(kind)).toBe(false);
      expect(faultOfFact({ kind })).toBeUndefined();
    }
  });

  test("the first member is the kind", () => {
    for (const kind of kinds) {
      const { kind: own, ...rest } = examples[kind];
      if (Object.keys(rest).length === 0) continue;
      expect(faultOfFact({ ...rest, kind: own })).toBe("a fact's first member is its kind");
    }
    for (const value of [{}, { kind: 7 }, { later: 1, kind: "later" }]) {
      expect(faultOfFact(value)).toBe("a fact's first member is its kind");
    }
    for (const value of [null, [], "row", 7, undefined]) {
      expect(faultOfFact(value)).toBe("a fact is an object");
    }
  });

  test("no member but a rewind's address is named like the envelope of a printed line", () => {
    const envelope = ["schema", "seq", "at", "session", "type"];
    const named = kinds.flatMap((kind) =>
      Object.keys(factSchemas[kind].shape).flatMap((name) =>
        envelope.includes(name) ? [`${kind} ${name}`] : [],
      ),
    );
    expect(named).toEqual(["rewound session", "rewound seq"]);
  });

  test("the examples leave no member out", () => {
    for (const kind of kinds) {
      expect(Object.keys(examples[kind]).toSorted()).toEqual(Object.keys(factSchemas[kind].shape).toSorted());
    }
  });
});

describe("the text of the file format and of what others build on", () => {
  const schemas = [...readdirSync("src/model/facts").map((name) => join("facts", name)), "values.ts"];
  const interfaces = ["commit.ts", "agent.ts", "views.ts", "printed-line.ts"];

  test.each([
    ["every member of a fact", schemas, isMemberOfSchema],
    ["every member of a shape", interfaces, (line: string) => /^ {2}(?:readonly )?\w+\??: .*;$/.test(line)],
  ])("says what %s is, in a sentence", (_, files, isMember) => {
    const faults = files.flatMap((file) => {
      const lines = readFileSync(join("src/model", file), "utf8").split("\n");
      return lines.flatMap((line, index) => {
        const before = lines.slice(0, index).join("\n");
        const isTold = /\/\*\*\s+(?:\* )?[A-Z`](?:(?!\*\/)[^])*\.\s+\*\/$/.test(before);
        return isMember(line) && !isTold ? [`${file}:${index + 1} ${line.trim()}`] : [];
      });
    });
    expect(faults).toEqual([]);
  });
});

/** What only tells one shape from others needs no words; what stands in one line with its schema hides from them. */
function isMemberOfSchema(line: string): boolean {
  if (/object\(\{ (?!(?:kind|type|class): z\.literal\("[\w.]+"\) \}\))/.test(line)) return true;
  return /^ +(?:\w+: (?!z\.literal\("(?!holdfast|Agent))|[a-z]\w*,$)/.test(line);
}

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileGlob } from "../../src/agents/builtin/tools/glob-pattern.ts";

function matches(pattern: string, path: string): boolean {
  const glob = compileGlob(pattern);
  if ("problem" in glob) throw new Error(glob.problem);
  return glob.matches(path);
}

// The reference: braces spelled out by recursion, names matched by plain backtracking.

function spellOut(pattern: string): string[] {
  for (let start = 0; start < pattern.length; start++) {
    if (pattern[start] !== "{") continue;
    let depth = 0;
    const cuts = [start];
    for (let at = start; at < pattern.length; at++) {
      if (pattern[at] === "{") depth++;
      if (pattern[at] === "," && depth === 1) cuts.push(at);
      if (pattern[at] !== "}" || --depth > 0) continue;
      if (cuts.length === 1) break;
      cuts.push(at);
      return cuts
        .slice(1)
        .flatMap((cut, index) =>
          spellOut(
            pattern.slice(0, start) + pattern.slice((cuts[index] ?? 0) + 1, cut) + pattern.slice(at + 1),
          ),
        );
    }
  }
  return [pattern];
}

function nameMatches(pattern: string, name: string): boolean {
  if (pattern === "") return name === "";
  const rest = pattern.slice(1);
  if (pattern[0] === "*") {
    return nameMatches(rest, name) || (name !== "" && nameMatches(pattern, name.slice(1)));
  }
  if (name === "") return false;
  const found = /^\[([!^]?)(ab|a|b|a-c)\]/.exec(pattern);
  if (found !== null)
    return classMatches(found, name) && nameMatches(pattern.slice(found[0].length), name.slice(1));
  return (pattern[0] === "?" || pattern[0] === name[0]) && nameMatches(rest, name.slice(1));
}

function classMatches([, negation, members = ""]: RegExpExecArray, name: string): boolean {
  return (members === "a-c" ? "abc" : members).includes(name[0] ?? "") !== (negation !== "");
}

function segmentsMatch(pattern: readonly string[], path: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return path.length === 0;
  const isGlobstar = first.length > 1 && /^\*+$/.test(first);
  if (!isGlobstar)
    return path.length > 0 && nameMatches(first, path[0] ?? "") && segmentsMatch(rest, path.slice(1));
  if (rest.length === 0) return path.length > 0;
  return segmentsMatch(rest, path) || (path.length > 0 && segmentsMatch(pattern, path.slice(1)));
}

function reference(pattern: string, path: string): boolean {
  return spellOut(pattern).some((one) =>
    segmentsMatch(
      one.split("/").filter((segment) => segment !== ""),
      path.split("/"),
    ),
  );
}

const name = fc
  .string({ unit: fc.constantFrom("a", "b", "c", "."), minLength: 1, maxLength: 4 })
  .filter((text) => !/^\.+$/.test(text));
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
const piece = fc.constantFrom(
  "a",
  "b",
  ".",
  "*",
  "**",
  "?",
  "/",
  "[ab]",
  "[!a]",
  "[a-c]",
  "[^b]",
  "{",
  ",",
  "}",
  "{a,b}",
  "{,c}",
  "/**/",
);
const pattern = fc
  .array(piece, { minLength: 1, maxLength: 9 })
  .map((pieces) => pieces.join(""))
  .filter((text) =>
    spellOut(text).every((one) => one.split("/").every((part) => part !== "." && part !== "..")),
  );

describe("a glob pattern", () => {
  test("means what the plain reference means", () => {
    fc.assert(
      fc.property(pattern, path, (glob, text) => {
        expect(matches(glob, text)).toBe(reference(glob, text));
      }),
      { numRuns: 20_000 },
    );
  });

  test("never turns away from a directory that holds a match", () => {
    fc.assert(
      fc.property(pattern, path, (glob, text) => {
        const compiled = compileGlob(glob);
        if ("problem" in compiled || !compiled.matches(text)) return;
        const names = text.split("/");
        for (let depth = 0; depth < names.length; depth++) {
          expect(compiled.reaches(names.slice(0, depth).join("/"))).toBe(true);
        }
      }),
      { numRuns: 20_000 },
    );
  });

  test.each([
    ["*.ts", "a.ts", true],
    ["*.ts", "src/a.ts", false],
    ["**/*.ts", "a.ts", true],
    ["**/*.ts", "src/deep/a.ts", true],
    ["src/**", "src", false],
    ["src/**", "src/a/b", true],
    ["src/**/a", "src/a", true],
    ["{src,test/unit}/**/*.{ts,tsx}", "test/unit/x/y.tsx", true],
    ["*", ".env", true],
    ["[]]", "]", true],
    ["[!]]", "]", false],
    ["[a", "[a", true],
    ["a{b", "a{b", true],
    ["{a}", "{a}", true],
    ["\\*", "*", true],
    ["\\*", "x", false],
    ["[a\\-c]", "b", false],
    ["?", "😀", true],
    ["[😀-😂]", "😁", true],
    ["./src//a", "src/a", true],
    ["A", "a", false],
  ])("%s against %s is %s", (glob, text, expected) => {
    expect(matches(glob, text)).toBe(expected);
  });

  test("takes time linear in the path, also where backtracking would not end", () => {
    const glob = `${"*a".repeat(60)}b`;
    expect(matches(glob, "a".repeat(5_000))).toBe(false);
    expect(matches("**/".repeat(60) + "b", "a/".repeat(500) + "a")).toBe(false);
  });

  test("is refused where its braces stand for too much", () => {
    expect(compileGlob("{a,b}".repeat(20))).toEqual({ problem: "has too many alternatives in braces" });
    expect(compileGlob("{".repeat(3_000))).toHaveProperty("matches");
  });
});

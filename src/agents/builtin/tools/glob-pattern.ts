/**
 * Glob patterns, matched in time linear in the path: a pattern becomes a small machine whose states are all followed
 * at once, so there is nothing to backtrack.
 *
 * `*` any characters of one name · `?` one of them · `**` as a whole name: any number of directories, none included;
 * at the end everything below · `[a-z]` `[!a]` `[^a]` one character · `{a,b}` either · `\x` x itself. Names that begin
 * with a dot are names like others. Case counts.
 */
import { endOfClass, expandBraces } from "./glob-braces.ts";

/** A compiled pattern. Paths are relative, with `/`, without `.` and `..`. */
export interface GlobPattern {
  /** True where the pattern stands for the whole path. */
  readonly matches: (path: string) => boolean;
  /** True where something below the directory may match. */
  readonly reaches: (directory: string) => boolean;
}

const patternLengthMax = 4_000;

/** Compiles a pattern, or says in words what is wrong with it. */
export function compileGlob(pattern: string): GlobPattern | { readonly problem: string } {
  if (pattern.length > patternLengthMax) return { problem: "is too long" };
  const alternatives = expandBraces(pattern);
  if (alternatives === undefined) return { problem: "has too many alternatives in braces" };
  const states: State[] = [{ kind: "accept" }];
  const starts = alternatives.map((alternative) => addPath(states, alternative));
  return {
    matches: (path) => run(states, starts, path).has(0),
    reaches: (directory) => run(states, starts, directory === "" ? "" : `${directory}/`).size > 0,
  };
}

type Test = (character: string) => boolean;
type State =
  | { readonly kind: "accept" }
  | { readonly kind: "one"; readonly test: Test; readonly next: number }
  | { readonly kind: "either"; readonly next: number[] };

const isSlash: Test = (character) => character === "/";
const isNameCharacter: Test = (character) => character !== "/";
const isAny: Test = () => true;

/** Adds the states of one alternative, from its end to its start, and returns where it starts. */
function addPath(states: State[], pattern: string): number {
  const segments = pattern.split("/").filter((segment) => segment !== "" && segment !== ".");
  let next = 0;
  for (let index = segments.length - 1; index >= 0; index--) {
    const segment = segments[index] ?? "";
    const isLast = index === segments.length - 1;
    if (/^\*\*+$/.test(segment)) {
      next = isLast ? addMany(states, isAny, next) : addDirectories(states, next);
    } else {
      if (!isLast) next = add(states, { kind: "one", test: isSlash, next });
      next = addSegment(states, segment, next);
    }
  }
  return next;
}

function add(states: State[], state: State): number {
  return states.push(state) - 1;
}

/** One or more characters. */
function addMany(states: State[], test: Test, next: number): number {
  const again: State = { kind: "either", next: [next] };
  const first = add(states, { kind: "one", test, next: add(states, again) });
  again.next.push(first);
  return first;
}

/** Zero or more whole names, each with its slash. */
function addDirectories(states: State[], next: number): number {
  const again: State = { kind: "either", next: [next] };
  const start = add(states, again);
  const slash = add(states, { kind: "one", test: isSlash, next: start });
  again.next.push(addMany(states, isNameCharacter, slash));
  return start;
}

function addSegment(states: State[], segment: string, end: number): number {
  let next = end;
  for (const part of partsOf(segment).reverse()) {
    if (part === "star") {
      const many = addMany(states, isNameCharacter, next);
      next = add(states, { kind: "either", next: [next, many] });
    } else {
      next = add(states, { kind: "one", test: part, next });
    }
  }
  return next;
}

function partsOf(segment: string): ("star" | Test)[] {
  const parts: ("star" | Test)[] = [];
  for (let at = 0; at < segment.length;) {
    const character = characterAt(segment, at);
    at += character.length;
    if (character === "*") {
      if (parts.at(-1) !== "star") parts.push("star");
    } else if (character === "?") {
      parts.push(isNameCharacter);
    } else if (character === "[" && endOfClass(segment, at - 1) !== undefined) {
      const end = endOfClass(segment, at - 1) ?? at;
      parts.push(classTest(segment.slice(at, end)));
      at = end + 1;
    } else if (character === "\\" && at < segment.length) {
      const escaped = characterAt(segment, at);
      at += escaped.length;
      parts.push((other) => other === escaped);
    } else {
      parts.push((other) => other === character);
    }
  }
  return parts;
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0);
}

/** The test for what stands between the brackets. */
function classTest(body: string): Test {
  const isNegated = /^[!^]/.test(body);
  const members = membersOf(isNegated ? body.slice(1) : body);
  return (character) => {
    if (character === "/") return false;
    const code = character.codePointAt(0) ?? 0;
    return members.some(([from, to]) => code >= from && code <= to) !== isNegated;
  };
}

function membersOf(body: string): [number, number][] {
  const tokens: { code: number; isDash: boolean }[] = [];
  const characters = Array.from(body);
  for (let at = 0; at < characters.length; at++) {
    const isEscape = characters[at] === "\\" && at + 1 < characters.length;
    if (isEscape) at++;
    const character = characters[at] ?? "";
    tokens.push({ code: character.codePointAt(0) ?? 0, isDash: character === "-" && !isEscape });
  }
  const members: [number, number][] = [];
  for (let at = 0; at < tokens.length; at++) {
    const from = tokens[at]?.code ?? 0;
    const to = tokens[at + 1]?.isDash === true ? tokens[at + 2] : undefined;
    members.push([from, to?.code ?? from]);
    if (to !== undefined) at += 2;
  }
  return members;
}

/** The states that are alive after `text`. */
function run(states: readonly State[], starts: readonly number[], text: string): Set<number> {
  let alive = closure(states, starts);
  for (const character of text) {
    if (alive.size === 0) return alive;
    const next: number[] = [];
    for (const index of alive) {
      const state = states[index];
      if (state?.kind === "one" && state.test(character)) next.push(state.next);
    }
    alive = closure(states, next);
  }
  return alive;
}

/** What is reached without reading a character. */
function closure(states: readonly State[], from: readonly number[]): Set<number> {
  const reached = new Set<number>();
  const open = [...from];
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    if (reached.has(index)) continue;
    reached.add(index);
    const state = states[index];
    if (state?.kind === "either") open.push(...state.next);
  }
  return reached;
}

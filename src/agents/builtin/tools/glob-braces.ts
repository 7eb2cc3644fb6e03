/** The alternatives of `{a,b}` in a glob pattern. */

/** Alternatives that one pattern may stand for, and their length together: beyond that it is refused. */
const alternativesMax = 1_000;
const lengthMax = 20_000;

/**
 * Every pattern that one with `{a,b}` stands for, in order; nested groups and empty alternatives included. Braces
 * without a partner or without a comma stand for themselves. Undefined where there are too many.
 */
export function expandBraces(pattern: string): string[] | undefined {
  const done: string[] = [];
  const open = [pattern];
  let length = pattern.length;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const group = findGroup(next);
    if (group === undefined) {
      done.push(next);
      continue;
    }
    const head = next.slice(0, group.start);
    const tail = next.slice(group.end + 1);
    const expanded = group.alternatives.map((alternative) => head + alternative + tail);
    length += expanded.reduce((sum, text) => sum + text.length, 0);
    open.push(...expanded.reverse());
    if (done.length + open.length > alternativesMax || length > lengthMax) return undefined;
  }
  return done;
}

interface Group {
  readonly start: number;
  readonly end: number;
  readonly alternatives: readonly string[];
}

/** The first group that closes and has a comma. One pass: inner groups wait on a stack. */
function findGroup(pattern: string): Group | undefined {
  const stack: { start: number; commas: number[] }[] = [];
  let found: Group | undefined;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === "\\") at++;
    else if (character === "[") at = endOfClass(pattern, at) ?? at;
    else if (character === "{") stack.push({ start: at, commas: [] });
    else if (character === ",") stack.at(-1)?.commas.push(at);
    else if (character === "}") {
      const group = stack.pop();
      if (group === undefined || group.commas.length === 0) continue;
      // Outer groups close later, so the last one that starts first is the one to expand.
      if (found === undefined || group.start < found.start) {
        found = { start: group.start, end: at, alternatives: split(pattern, group, at) };
      }
    }
  }
  return found;
}

function split(pattern: string, group: { start: number; commas: number[] }, end: number): string[] {
  const borders = [group.start, ...group.commas, end];
  return borders.slice(1).map((border, index) => pattern.slice((borders[index] ?? 0) + 1, border));
}

/** Where the `[…]` that begins at `start` ends; undefined where it does not end in its segment. */
export function endOfClass(pattern: string, start: number): number | undefined {
  let at = start + 1;
  if (pattern[at] === "!" || pattern[at] === "^") at++;
  // A bracket right at the beginning stands for itself.
  if (pattern[at] === "]") at++;
  for (; at < pattern.length && pattern[at] !== "/"; at++) {
    if (pattern[at] === "\\") at++;
    else if (pattern[at] === "]") return at;
  }
  return undefined;
}

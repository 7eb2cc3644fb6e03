/**
 * Many patterns as one table: a state stands for the longest end of the text read so far that begins a pattern, and each
 * character leads to the next state. So a text is read once, however many patterns there are and whatever it holds.
 */
export interface PatternTable {
  /** The class of each UTF-16 code unit; 0 where it is in no pattern. */
  readonly classes: Uint16Array;
  /** How many classes there are. */
  readonly width: number;
  /** The next state, at the state times `width` plus the class. State 0 begins no pattern. */
  readonly next: Int32Array;
  /** How many characters of a pattern a state stands for. */
  readonly depth: Int32Array;
  /** The length of the longest pattern that ends in a state; 0 where none does. */
  readonly ended: Int32Array;
  /** The length of the longest pattern. */
  readonly lengthMax: number;
}

/** Builds the table of these patterns, none of which is empty. */
export function buildPatternTable(patterns: readonly string[]): PatternTable {
  const classes = new Uint16Array(65_536);
  let width = 1;
  for (const pattern of patterns) {
    for (let index = 0; index < pattern.length; index++) {
      const unit = pattern.charCodeAt(index);
      if (classes[unit] === 0) classes[unit] = width++;
    }
  }
  const statesMax = 1 + patterns.reduce((sum, pattern) => sum + pattern.length, 0);
  const table: PatternTable = {
    classes,
    width,
    next: new Int32Array(statesMax * width),
    depth: new Int32Array(statesMax),
    ended: new Int32Array(statesMax),
    lengthMax: Math.max(0, ...patterns.map((pattern) => pattern.length)),
  };
  plantPatterns(table, patterns);
  linkStates(table);
  return table;
}

/** Makes the tree of all beginnings; a next state of 0 still means that there is none. */
function plantPatterns(
  { classes, width, next, depth, ended }: PatternTable,
  patterns: readonly string[],
): void {
  let states = 1;
  for (const pattern of patterns) {
    let state = 0;
    for (let index = 0; index < pattern.length; index++) {
      const place = state * width + at(classes, pattern.charCodeAt(index));
      if (next[place] === 0) {
        depth[states] = index + 1;
        next[place] = states++;
      }
      state = at(next, place);
    }
    ended[state] = pattern.length;
  }
}

/** Where the tree ends, a state goes on as the longest shorter beginning would: those are linked already. */
function linkStates({ width, next, depth, ended }: PatternTable): void {
  const shorter = new Int32Array(depth.length);
  const queue = [0];
  for (const state of queue) {
    for (let unitClass = 1; unitClass < width; unitClass++) {
      const place = state * width + unitClass;
      const fallback = state === 0 ? 0 : at(next, at(shorter, state) * width + unitClass);
      const child = at(next, place);
      if (child === 0) {
        next[place] = fallback;
        continue;
      }
      shorter[child] = fallback;
      if (ended[child] === 0) ended[child] = at(ended, fallback);
      queue.push(child);
    }
  }
}

function at(numbers: Int32Array | Uint16Array, index: number): number {
  return numbers[index] ?? 0;
}

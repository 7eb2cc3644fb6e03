/**
 * Searching lines by a JavaScript regular expression that a model wrote. Such an expression may backtrack for ever.
 * One without repetitions and alternatives cannot, and runs as it is; any other runs under a time limit that the engine enforces
 * inside the match itself. So no pattern stops the process for longer than that, and none is refused for its looks.
 */
import { startTimeLimit } from "../../../host/index.ts";
import type { Line } from "./text-lines.ts";

/** A line that matches. */
export interface Hit {
  /** Index in the lines that were given. */
  readonly index: number;
  /** Where in the line the match begins. */
  readonly column: number;
}

/** Searches lines. */
export interface LineSearch {
  /** All hits, or the index of the line at which the expression took too long. */
  search(lines: readonly Line[]): { readonly hits: Hit[] } | { readonly stuckAt: number };
}

/** The longest stretch that matching may take without a pause. */
const stretchMs = 1_000;

/** Compiles an expression, or says what is wrong with it. A leading `(?i)` means the same as `ignoreCase`. */
export function compileSearch(
  pattern: string,
  ignoreCase: boolean,
): LineSearch | { readonly problem: string } {
  const hasPrefix = pattern.startsWith("(?i)");
  const source = hasPrefix ? pattern.slice(4) : pattern;
  // The strict grammar refuses harmless escapes that models write; it is taken only where it is needed.
  const flags = `${ignoreCase || hasPrefix ? "i" : ""}${/\\[pP]\{|\\u\{/.test(source) ? "u" : ""}`;
  try {
    const expression = new RegExp(source, flags);
    expression.exec(""); // Only now it is compiled, and refused where it is too large.
    return /[*+?{|]/.test(source) ? limitedSearch(expression) : { search: plainSearch(expression) };
  } catch (error) {
    if (error instanceof SyntaxError) return { problem: error.message };
    throw error;
  }
}

type Search = LineSearch["search"];

function plainSearch(expression: RegExp): Search {
  return (lines) => {
    const hits: Hit[] = [];
    lines.forEach((line, index) => {
      const match = expression.exec(line.text);
      if (match !== null) hits.push({ index, column: match.index });
    });
    return { hits };
  };
}

function limitedSearch(expression: RegExp): LineSearch {
  const limit = startTimeLimit();
  return {
    search(lines) {
      const hits: Hit[] = [];
      let at = 0;
      const work = limit(stretchMs, () => {
        for (; at < lines.length; at++) {
          const match = expression.exec(lines[at]?.text ?? "");
          if (match !== null) hits.push({ index: at, column: match.index });
        }
      });
      return work.ended ? { hits } : { stuckAt: at };
    },
  };
}

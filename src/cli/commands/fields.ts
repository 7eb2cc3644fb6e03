import type { Screen, Span } from "../screen.ts";
import { cleanText } from "../text/clean.ts";
import { formatCount } from "../text/units.ts";
import { wrapText } from "../text/wrap.ts";

/** Blocks of a page for people. */

const nameColumns = 10;
const linesMax = 40;

/** Names and values, one below the other; a long value is broken between words. */
export function writeFields(screen: Screen, fields: readonly (readonly [string, Span])[]): void {
  for (const [name, value] of fields) {
    const [tone, text] = typeof value === "string" ? (["plain", value] as const) : value;
    wrapText(cleanText(text), screen.columns - nameColumns - 2).forEach((line, index) => {
      screen.line(["dim", `  ${(index === 0 ? name : "").padEnd(nameColumns)}`], [tone, line]);
    });
  }
}

/** A text of several lines, indented; a long one is cut and says so. */
export function writeIndented(screen: Screen, text: string, indent = "    "): void {
  const clean = cleanText(text.trimEnd());
  const lines = wrapText(clean, screen.columns - indent.length);
  const shown = lines.length > linesMax ? lines.slice(0, linesMax - 1) : lines;
  for (const line of shown) screen.line(indent, line);
  const rest = lines.length - shown.length;
  if (rest > 0) screen.line(indent, ["dim", `… ${formatCount(rest, "more line")}; all of it with --json`]);
}

import type { Screen, Span } from "../screen.ts";
import { cleanText } from "../text/clean.ts";
import { formatCount } from "../text/units.ts";
import { fitEnd } from "../text/width.ts";
import { wrapLines, wrapText } from "../text/wrap.ts";

/** Blocks of a page for people. */

const nameColumns = 10;
const linesMax = 40;
/** A word that is wider than the screen stays whole, as a path should; none is as long as this. */
const wordColumnsMax = 4096;

/** Names and values, one below the other; a long value is broken between words. */
export function writeFields(screen: Screen, fields: readonly (readonly [string, Span])[]): void {
  for (const [name, value] of fields) {
    const [tone, text] = typeof value === "string" ? (["plain", value] as const) : value;
    wrapText(cleanText(text), screen.columns - nameColumns - 2).forEach((line, index) => {
      screen.line(["dim", `  ${(index === 0 ? name : "").padEnd(nameColumns)}`], [tone, line]);
    });
  }
}

/** A command as a field; it stays in one line, to be copied. */
export function writeCommand(screen: Screen, name: string, command: string): void {
  screen.line(["dim", `  ${name.padEnd(nameColumns)}`], command);
}

/** How a long text is shown. */
export interface Indenting {
  readonly indent?: string;
  /** Rows that it may take; all where absent. */
  readonly rowsMax?: number;
  /** Where the rest of it is to be had. */
  readonly rest?: string;
}

/** A text of several lines, indented; a long one is cut between lines where that is possible, and says so. */
export function writeIndented(screen: Screen, text: string, how: Indenting = {}): void {
  const { indent = "    ", rowsMax = linesMax, rest = "all of it with --json" } = how;
  const lines = wrapLines(cleanText(text.trimEnd()), screen.columns - indent.length);
  const rows = lines.reduce((sum, { length }) => sum + length, 0);
  let left = rows > rowsMax ? rowsMax - 1 : rowsMax;
  let shown = 0;
  for (const line of lines) {
    // A line is shown whole, but for one that is the first and too long for that.
    if (line.length > left && shown > 0) break;
    const room = rowsMax === Number.POSITIVE_INFINITY ? rowsMax : wordColumnsMax;
    for (const row of line.slice(0, left)) screen.line(indent, fitEnd(row, room));
    left -= line.length;
    if (left < 0) break;
    shown++;
  }
  const more = lines.length - shown;
  if (more === 0) return;
  const words = left < 0 ? restOfLine(more - 1) : formatCount(more, "more line");
  screen.line(indent, ["dim", `… ${words}; ${rest}`]);
}

function restOfLine(more: number): string {
  return `the rest of this line${more === 0 ? "" : ` and ${formatCount(more, "more line")}`}`;
}

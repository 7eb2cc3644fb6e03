import type { Screen, Span, Tone } from "./screen.ts";
import { fitEnd, fitStart, padEnd, widthOf } from "./text/width.ts";

/** A table of one line a row. */

/** One column. */
export interface Column {
  readonly title: string;
  /** Shrinks to this width where the table is too wide, the first in `shrinkOrder` first; absent: never. */
  readonly widthMin?: number;
  /** Which end is cut; a path tells most by its end. */
  readonly cut?: "start" | "end";
}

/** One cell; its text is clean and of one line. */
export interface Cell {
  readonly text: string;
  readonly tone?: Tone;
}

const gap = "  ";

/** Writes a table that fits the screen, as far as its columns can shrink. `shrinkOrder`: indexes of columns. */
export function writeTable(
  screen: Screen,
  table: {
    readonly columns: readonly Column[];
    readonly rows: readonly (readonly Cell[])[];
    readonly shrinkOrder: readonly number[];
  },
): void {
  const { columns, rows } = table;
  const widths = fitWidths(screen.columns, table);
  const write = (cells: readonly Cell[]): void => {
    const spans = cells.map((cell, index): Span => {
      const column = columns[index];
      const width = widths[index] ?? 0;
      const text = column?.cut === "start" ? fitStart(cell.text, width) : fitEnd(cell.text, width);
      const isLast = index === cells.length - 1;
      return [cell.tone ?? "plain", isLast ? text : padEnd(text, width) + gap];
    });
    screen.line(...spans);
  };
  write(columns.map(({ title }) => ({ text: title, tone: "dim" })));
  for (const row of rows) write(row);
}

function fitWidths(
  available: number,
  table: {
    readonly columns: readonly Column[];
    readonly rows: readonly (readonly Cell[])[];
    readonly shrinkOrder: readonly number[];
  },
): number[] {
  const { columns, rows, shrinkOrder } = table;
  const widths = columns.map(({ title }, index) =>
    rows.reduce((width, row) => Math.max(width, widthOf(row[index]?.text ?? "")), widthOf(title)),
  );
  const gaps = gap.length * (columns.length - 1);
  for (const index of shrinkOrder) {
    const over = widths.reduce((sum, width) => sum + width, gaps) - available;
    const width = widths[index] ?? 0;
    const least = Math.min(width, Math.max(columns[index]?.widthMin ?? width, 1));
    if (over > 0) widths[index] = Math.max(least, width - over);
  }
  return widths;
}

import type { Span, Tone } from "../screen.ts";

/** The name before what a command says, so wide that one stands below the other. */

/** How wide such a name is, with the blanks behind it. */
export const labelColumns = 11;

/** The name as the beginning of a line. */
export function label(name: string, tone: Tone = "dim"): Span {
  return [tone, name.padEnd(labelColumns)];
}

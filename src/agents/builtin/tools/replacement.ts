/** Replacing exact text: pure. */

/** What to replace by what. */
export interface Replacement {
  readonly old: string;
  readonly new: string;
  /** Every occurrence; else there must be exactly one. */
  readonly all: boolean;
}

/** The text afterwards, or how often `old` stands in it where that is not as it must be. */
export type Replaced =
  | { readonly text: string; readonly count: number }
  /** `lines` are those on which the first ones begin, from 1; counting ends at a thousand. */
  | { readonly text: undefined; readonly count: number; readonly lines: readonly number[] };

/** Lines named for an ambiguous text, and occurrences after which counting ends. */
const linesMax = 5;
const countMax = 1_000;

/**
 * Replaces exact text. In a text whose lines all end in CRLF, a line end of `old` and `new` means CRLF, however it is
 * written; in any other text each character means itself. Of occurrences that overlap, each counts where there must
 * be one, and the first one is replaced where all are.
 */
export function replaceText(text: string, { old, new: fresh, all }: Replacement): Replaced {
  const adapt = endsInCrlfOnly(text)
    ? (part: string) => part.replaceAll(/\r?\n/g, "\r\n")
    : (part: string) => part;
  const wanted = adapt(old);
  if (all) {
    const pieces = text.split(wanted);
    if (pieces.length === 1) return { text: undefined, count: 0, lines: [] };
    return { text: pieces.join(adapt(fresh)), count: pieces.length - 1 };
  }
  const places = findAll(text, wanted);
  const [first] = places;
  if (first === undefined || places.length > 1) {
    return { text: undefined, count: places.length, lines: linesOf(text, places.slice(0, linesMax)) };
  }
  return { text: text.slice(0, first) + adapt(fresh) + text.slice(first + wanted.length), count: 1 };
}

/** True where there are line ends and each is CRLF. */
export function endsInCrlfOnly(text: string): boolean {
  return text.includes("\r\n") && !/(?<!\r)\n/.test(text);
}

/** Where `wanted` begins, overlapping occurrences included. */
function findAll(text: string, wanted: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    places.push(at);
    if (places.length === countMax) break;
  }
  return places;
}

function linesOf(text: string, places: readonly number[]): number[] {
  return places.map((place) => text.slice(0, place).split("\n").length);
}

/** The line, from 1, at which `old` would stand if white space did not count; undefined where it would not. */
export function findSimilar(text: string, old: string): number | undefined {
  const wanted = withoutSpace(old);
  if (wanted.text === "") return undefined;
  const plain = withoutSpace(text);
  const at = plain.text.indexOf(wanted.text);
  return at < 0 ? undefined : plain.lineAt(at);
}

function withoutSpace(text: string): { text: string; lineAt(index: number): number } {
  const lines = text.split("\n").map((line) => line.replaceAll(/\s+/g, ""));
  const lineAt = (index: number): number => {
    let rest = index;
    const found = lines.findIndex((line) => (rest -= line.length) < 0);
    return found + 1;
  };
  return { text: lines.join(""), lineAt };
}

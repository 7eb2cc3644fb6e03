/** How many columns a text takes in a terminal, and how to make it fit. Texts here are clean and of one line. */

const ellipsis = "…";
const ascii = /^[\u0020-\u007e]*$/;
const joining = /[\p{Mn}\p{Me}\p{Cf}\ufe00-\ufe0f]/u;
const emoji = /\p{Emoji_Presentation}/u;

/** First and last code point of what East Asian scripts and their punctuation set twice as wide, in order. */
const wideRanges = [
  [0x11_00, 0x11_5f],
  [0x2e_80, 0x30_3e],
  [0x30_41, 0x4d_bf],
  [0x4e_00, 0xa4_cf],
  [0xa9_60, 0xa9_7f],
  [0xac_00, 0xd7_a3],
  [0xf9_00, 0xfa_ff],
  [0xfe_30, 0xfe_6f],
  [0xff_00, 0xff_60],
  [0xff_e0, 0xff_e6],
  [0x1_70_00, 0x1_b2_ff],
  [0x2_00_00, 0x3_ff_fd],
] as const;

/** The columns that a text takes. */
export function widthOf(text: string): number {
  if (ascii.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

/** The text, cut at its end where it is wider than `width`. */
export function fitEnd(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let [kept, used] = ["", 0];
  for (const character of text) {
    used += widthOfCharacter(character);
    if (used > width - 1) break;
    kept += character;
  }
  return width < 1 ? "" : `${kept}${ellipsis}`;
}

/** The text, cut at its beginning where it is wider than `width`: of a path, the end tells most. */
export function fitStart(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let [kept, used] = ["", 0];
  for (const character of Array.from(text).toReversed()) {
    used += widthOfCharacter(character);
    if (used > width - 1) break;
    kept = character + kept;
  }
  return width < 1 ? "" : `${ellipsis}${kept}`;
}

/** The text with blanks behind it, up to `width` columns. */
export function padEnd(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

/**
 * The text in pieces of at most `width` columns where wide characters let it be broken: before or behind one. What
 * stands between them, as a path may, stays whole.
 */
export function breakWide(text: string, width: number): string[] {
  if (widthOf(text) <= width || ascii.test(text)) return [text];
  const pieces: string[] = [];
  let piece = "";
  for (const unit of wideUnits(text)) {
    if (piece !== "" && widthOf(piece) + widthOf(unit) > width) {
      pieces.push(piece);
      piece = "";
    }
    piece += unit;
  }
  return [...pieces, piece];
}

/** Wide characters, each with what joins it, and the texts between them. */
function wideUnits(text: string): string[] {
  const units: string[] = [];
  let isOpen = false;
  for (const character of text) {
    const width = widthOfCharacter(character);
    const joins = units.length > 0 && (width === 0 || (width === 1 && isOpen));
    if (joins) units[units.length - 1] += character;
    else units.push(character);
    if (width > 0) isOpen = width === 1;
  }
  return units;
}

function widthOfCharacter(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x3_00) return 1;
  if (joining.test(character)) return 0;
  const isWide = wideRanges.some(([first, last]) => code >= first && code <= last);
  return isWide || emoji.test(character) ? 2 : 1;
}

/**
 * Text of models, tools and file names on its way to a terminal. A terminal obeys control characters, so none of them
 * gets there: what was one is shown as a picture of it. Stateless, so that it holds for every piece of a stream.
 */

// Everything that a terminal may obey or that turns the reading order around; newline and tab stay.
// oxlint-disable-next-line no-control-regex
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
// oxlint-disable-next-line no-control-regex
const plain = /^[\n\t\u0020-\u007e]*$/;

/** Colours say nothing that would be missed. */
// oxlint-disable-next-line no-control-regex
const colour = /\u001b\[[\d;:]*m/g;

/** The text without colours, and with every other control character but newline and tab made visible. */
export function cleanText(text: string): string {
  if (plain.test(text)) return text;
  const shown = text.replaceAll(colour, "").replaceAll("\r\n", "\n");
  return shown.replaceAll(unsafe, picture).toWellFormed();
}

/** The text as one line: line ends and runs of white space become single blanks. */
export function oneLine(text: string): string {
  return cleanText(text).replaceAll(/\s+/g, " ").trim();
}

function picture(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x24_00 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}

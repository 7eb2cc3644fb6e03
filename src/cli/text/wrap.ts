import { breakWide, widthOf } from "./width.ts";

/**
 * Breaks lines between words as text comes in pieces, so that a terminal does not break them within. A word that may
 * go on in the next piece is held back. Lines of code between fences stay as they are, and so does a word that is
 * wider than the screen.
 */
export class WordWrap {
  readonly #columns: number;
  /** What is written of the line, for the fence and for the width. */
  #line = "";
  #width = 0;
  /** White space that is written only where a word follows on the same line. */
  #blank = "";
  #word = "";
  #isCode = false;

  constructor(columns: number) {
    this.#columns = columns;
  }

  /** What can be written now. */
  push(text: string): string {
    let out = "";
    for (const piece of text.match(/\n|[^\S\n]+|\S+/g) ?? []) {
      if (piece === "\n") {
        out += this.#takeWord();
        // White space behind the last column would take a line of its own.
        const fits = this.#isCode || this.#width + this.#blank.length <= this.#columns;
        out += fits ? this.#blank + piece : piece;
        this.#endLine();
      } else if (piece.trim() === "") {
        out += this.#takeWord();
        this.#blank += piece;
      } else {
        this.#word += piece;
      }
    }
    return out;
  }

  /** What was held back. */
  end(): string {
    const out = this.#takeWord();
    this.#endLine();
    this.#isCode = false;
    return out;
  }

  #takeWord(): string {
    const [word, blank] = [this.#word, this.#blank];
    if (word === "") return "";
    [this.#word, this.#blank] = ["", ""];
    const width = widthOf(word);
    const breaks =
      !this.#isCode && this.#width > 0 && this.#width + blank.length + width > this.#columns && blank !== "";
    const piece = breaks ? `\n${word}` : blank + word;
    this.#line = breaks ? word : this.#line + piece;
    this.#width = breaks ? width : this.#width + blank.length + width;
    return piece;
  }

  #endLine(): void {
    if (this.#line.trimStart().startsWith("```")) this.#isCode = !this.#isCode;
    [this.#line, this.#width, this.#blank] = ["", 0, ""];
  }
}

/** The lines of a whole text, broken between words. */
export function wrapText(text: string, columns: number): string[] {
  const wrap = new WordWrap(columns);
  return (wrap.push(text) + wrap.end()).split("\n");
}

/** The rows of each line of a text: broken between words, and within a word of wide characters, which has no blanks. */
export function wrapLines(text: string, columns: number): string[][] {
  const wrap = new WordWrap(columns);
  return text.split("\n").map((line, index, { length }) => {
    const isLast = index === length - 1;
    const out = isLast ? wrap.push(line) + wrap.end() : wrap.push(`${line}\n`).slice(0, -1);
    return out.split("\n").flatMap((row) => breakWide(row, columns));
  });
}

import type { Message } from "../../model/facts.ts";
import type { Screen, Tone } from "../screen.ts";
import { cleanText } from "../text/clean.ts";
import { formatBytes } from "../text/units.ts";
import { WordWrap } from "../text/wrap.ts";

/** Blocks of text one under the other, some of which grow: what a model says, between tool calls and notes. */

/** What a block is; two of the same kind stand together where they are lines, apart where they are texts. */
export type BlockKind = "text" | "reasoning" | "task" | "tool" | "note" | "question" | "summary";

const tones: Partial<Record<BlockKind, Tone>> = { reasoning: "dim", task: "accent" };
const lineKinds = new Set<BlockKind>(["tool", "note"]);

/** Writes blocks; a text may come in pieces. */
export class TextStream {
  readonly #screen: Screen;
  #last: BlockKind | undefined;
  /** The block that still grows. */
  #open: BlockKind | undefined;
  /** Line ends that are written only where more text follows. */
  #held = "";
  #wrap: WordWrap | undefined;
  /** True where pieces of the answer that is expected were written. */
  #streamed = false;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** A new answer begins; what was streamed so far was of another. */
  expectAnswer(): void {
    this.end();
    this.#streamed = false;
  }

  /** A piece of an answer. */
  push(kind: "text" | "reasoning", text: string): void {
    this.#streamed = true;
    this.#grow(kind, text);
  }

  /** The whole answer: written where no piece of it was. */
  answer(message: Message): void {
    const streamed = this.#streamed;
    this.end();
    this.#streamed = false;
    if (streamed) return;
    for (const part of message.parts) {
      if (part.type !== "text" && part.type !== "reasoning") continue;
      const { text, blob } = part;
      this.whole(part.type, text ?? (blob === undefined ? "" : `(${formatBytes(blob.bytes)} of text)`));
    }
  }

  /** A text that is there at once. */
  whole(kind: BlockKind, text: string): void {
    this.end();
    this.#grow(kind, text);
    this.end();
  }

  /** Ends the block that grows: the cursor stands at the beginning of a line then. */
  end(): void {
    if (this.#open !== undefined) {
      this.#writeWrapped(this.#open, this.#wrap?.end() ?? "");
      this.#screen.write("\n");
    }
    this.#open = undefined;
    this.#held = "";
  }

  /** Sets the next block apart from the last one, which ends. */
  gap(kind: BlockKind): void {
    this.end();
    const together = this.#last === undefined || (this.#last === kind && lineKinds.has(kind));
    if (!together) this.#screen.write("\n");
    this.#last = kind;
  }

  #grow(kind: BlockKind, piece: string): void {
    const isNew = this.#open !== kind;
    const text = isNew ? piece.replace(/^\s*\n/, "") : this.#held + piece;
    const body = text.replace(/\n+$/, "");
    if (body === "") {
      if (!isNew) this.#held = text;
      return;
    }
    if (isNew) {
      this.gap(kind);
      this.#wrap = new WordWrap(this.#screen.columns);
    }
    this.#open = kind;
    this.#held = text.slice(body.length);
    // Cleaned first: only then its width is known.
    this.#writeWrapped(kind, this.#wrap?.push(cleanText(body)) ?? body);
  }

  #writeWrapped(kind: BlockKind, text: string): void {
    this.#screen.write([tones[kind] ?? "plain", text]);
  }
}

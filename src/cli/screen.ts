import colours from "picocolors";
import type { OutputStream } from "../host/index.ts";
import { cleanText } from "./text/clean.ts";
import { Writer } from "./writer.ts";

/**
 * The one way to a terminal. S1 Text is cleaned here and styled after that, so no control character that came from a
 * model, a tool or a file name is ever written. S2 Without colours the same words are written.
 */

/** How a piece of text looks. */
export type Tone = "plain" | "dim" | "bold" | "good" | "bad" | "warn" | "accent";

/** Text of one look; a bare string is plain. */
export type Span = string | readonly [Tone, string];

/** A stream for people. */
export class Screen {
  readonly isTerminal: boolean;
  readonly #stream: OutputStream;
  readonly #writer: Writer;
  readonly #paint: Record<Tone, (text: string) => string>;

  constructor(stream: OutputStream, mayColour: boolean) {
    this.#stream = stream;
    this.#writer = new Writer(stream);
    this.isTerminal = stream.isTerminal;
    const { dim, bold, green, red, yellow, cyan } = colours.createColors(mayColour && stream.isTerminal);
    this.#paint = { plain: (text) => text, dim, bold, good: green, bad: red, warn: yellow, accent: cyan };
  }

  /** Columns that a line may take. */
  get columns(): number {
    return Math.max(20, this.#stream.columns);
  }

  /** Writes spans as they are, in order; see {@link flushed} for when they are out. */
  write(...spans: readonly Span[]): void {
    this.raw(this.paint(spans));
  }

  /** Writes spans as one line. */
  line(...spans: readonly Span[]): void {
    this.raw(`${this.paint(spans)}\n`);
  }

  /** The spans with their colours, cleaned. */
  paint(spans: readonly Span[]): string {
    const paintOne = (span: Span): string => {
      if (typeof span === "string") return cleanText(span);
      const [tone, text] = span;
      return text === "" ? "" : this.#paint[tone](cleanText(text));
    };
    return spans.map(paintOne).join("");
  }

  /** Writes what this room made itself: painted text and cursor movements. */
  raw(text: string): void {
    this.#writer.write(text);
  }

  /** Resolves when at most `waitsMax` characters wait for the reader, or nothing does; never rejects. */
  room(waitsMax: number): Promise<void> {
    return this.#writer.room(waitsMax);
  }

  /** Resolves when everything is written; rejects where the stream failed. */
  flushed(): Promise<void> {
    return this.#writer.flushed();
  }
}

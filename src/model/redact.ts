import type { PatternTable } from "./pattern-table.ts";
import { buildPatternTable } from "./pattern-table.ts";
import { formsOfSecret } from "./secret-forms.ts";

/**
 * Replaces known secret values before anything is stored or shown: whole texts, and streams across chunk borders. Every
 * character that belongs to a secret in one of its forms is masked, also where line breaks stand in between; secrets
 * that overlap become one mask. Takes time in proportion to the text alone.
 */

const mask = "[redacted]";
/** A secret is followed over so many line breaks in a row: an empty line between two lines, with carriage returns. */
const breaksMax = 4;
/** A text that ends in so many characters of a secret has been cut in it: they are masked as well. */
const begunLengthMin = 8;
const [lineFeed, carriageReturn] = [10, 13];

/** A masker for one stream. */
export interface RedactedStream {
  /** Takes the next piece; returns what is decided. What may be the beginning of a secret is held back. */
  push(chunk: string): string;
  /** Takes no more; returns what was held back. */
  end(): string;
}

/** Replaces secrets; made by {@link makeRedactor}. */
export interface Redactor {
  /** The text with every known secret masked. */
  text(text: string): string;
  /** A masker for one stream. All that it returns, joined, is what `text` makes of the whole. */
  stream(): RedactedStream;
}

/** Makes a redactor for these values. One of fewer than 6 characters is not searched for: it would hit ordinary words. */
export function makeRedactor(secrets: readonly string[]): Redactor {
  // A form that the mask itself contains could never be hidden by it.
  const forms = [...new Set(secrets.flatMap(formsOfSecret))].filter((form) => !mask.includes(form));
  if (forms.length === 0) return { text: (text) => text, stream: () => unmasked };
  const table = buildPatternTable(forms);
  const whole = new Masker(table);
  return { text: (text) => whole.push(text) + whole.end(), stream: () => new Masker(table) };
}

const unmasked: RedactedStream = { push: (chunk) => chunk, end: () => "" };

/** Positions count all characters of the stream, from 0. */
class Masker implements RedactedStream {
  readonly #table: PatternTable;
  /** Where the last characters of the current state stand: a ring, written at `#taken`. */
  readonly #places: Float64Array;
  #taken = 0;
  #state = 0;
  #breaks = 0;
  /** What is held back, from `#start` on. */
  #held = "";
  #start = 0;
  /** What must be masked and is not yet: in order, without overlaps. */
  #masks: { start: number; end: number }[] = [];
  /** Up to here the last mask that was given out reaches. */
  #maskedTo = 0;

  constructor(table: PatternTable) {
    this.#table = table;
    this.#places = new Float64Array(2 ** Math.ceil(Math.log2(table.lengthMax + 1)));
  }

  push(chunk: string): string {
    this.#scan(chunk, this.#start + this.#held.length);
    this.#held += chunk;
    const end = this.#start + this.#held.length;
    return this.#release(this.#state === 0 ? end : this.#placeBack(this.#table.depth[this.#state] ?? 0));
  }

  end(): string {
    const begun = this.#table.depth[this.#state] ?? 0;
    // Cut in its middle, a secret is still most of one.
    if (begun >= begunLengthMin) this.#cover(this.#placeBack(begun), this.#placeBack(1) + 1);
    const rest = this.#release(this.#start + this.#held.length);
    [this.#taken, this.#state, this.#breaks, this.#start, this.#maskedTo] = [0, 0, 0, 0, 0];
    return rest;
  }

  #scan(chunk: string, position: number): void {
    const { classes, width, next, ended } = this.#table;
    const ringMask = this.#places.length - 1;
    for (let index = 0; index < chunk.length; index++) {
      const unit = chunk.charCodeAt(index);
      if (unit === lineFeed || unit === carriageReturn) {
        if (++this.#breaks > breaksMax) this.#state = 0;
        continue;
      }
      this.#breaks = 0;
      this.#state = next[this.#state * width + (classes[unit] ?? 0)] ?? 0;
      if (this.#state === 0) continue;
      this.#places[this.#taken++ & ringMask] = position + index;
      const length = ended[this.#state] ?? 0;
      if (length > 0) this.#cover(this.#placeBack(length), position + index + 1);
    }
  }

  /** Where the character stands that is so many before the next one. */
  #placeBack(count: number): number {
    return this.#places[(this.#taken - count) & (this.#places.length - 1)] ?? 0;
  }

  /** Nothing that is to be masked ends after `end`. */
  #cover(start: number, end: number): void {
    if (start < this.#maskedTo) {
      this.#masks = [];
      this.#maskedTo = end;
      return;
    }
    while ((this.#masks.at(-1)?.start ?? -1) >= start) this.#masks.pop();
    const last = this.#masks.at(-1);
    if (last !== undefined && last.end > start) last.end = end;
    else this.#masks.push({ start, end });
  }

  /** Gives out what stands before `border`; no secret that is found later begins there. */
  #release(border: number): string {
    let text = "";
    let from = Math.max(this.#start, this.#maskedTo);
    const ready = this.#masks.filter(({ start }) => start < border);
    for (const { start, end } of ready) {
      text += this.#held.slice(from - this.#start, start - this.#start) + mask;
      this.#maskedTo = end;
      from = end;
    }
    this.#masks.splice(0, ready.length);
    if (from < border) text += this.#held.slice(from - this.#start, border - this.#start);
    this.#held = this.#held.slice(border - this.#start);
    this.#start = border;
    return text;
  }
}

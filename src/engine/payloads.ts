import { utf8Bytes } from "../host/index.ts";
import type { BlobRef, Json } from "../model/values.ts";
import type { Blobs } from "../store/index.ts";
import { inlineBytesMax, lineBytesMax } from "../store/index.ts";
import { isDeep, writeJson } from "./json-texts.ts";

/**
 * Ingestion: what comes from outside becomes well-formed text of a bounded size, without known secrets, before it
 * enters the log. A payload over 32 KiB of JSON text, or nested deeper than anybody writes by hand, becomes a blob; nothing is lost either way.
 */

/** Left for the envelope, the row, and the facts that stand beside the payloads' own. */
const lineRestBytes = 128 * 1024;

/** A text in the line, or a blob; `original` keeps the bytes of a text that was not well-formed. */
export interface StoredText {
  readonly text?: string;
  readonly blob?: BlobRef;
  readonly original?: BlobRef;
}

/** A value in the line, or a blob of its JSON text. */
export interface StoredJson {
  readonly value?: Json;
  readonly blob?: BlobRef;
}

/** Where payloads go, and what is masked in them. */
export interface PayloadTarget {
  readonly blobs: Pick<Blobs, "put">;
  redact(text: string): string;
}

/** Stores the payloads of one line: the later ones go to blobs when the line gets full. */
export class PayloadWriter {
  readonly #target: PayloadTarget;
  #roomBytes: number;

  /** `membersBytes`: what the line takes without its payloads, where that is much. */
  constructor(target: PayloadTarget, membersBytes = 0) {
    this.#target = target;
    this.#roomBytes = lineBytesMax - lineRestBytes - membersBytes;
  }

  /** Stores a text, its secrets masked; also in what is kept of one that was not well-formed. */
  async text(raw: string): Promise<StoredText> {
    const masked = this.#target.redact(raw);
    const text = masked.toWellFormed();
    const original = text === masked ? {} : { original: await this.#put(utf16Bytes(masked)) };
    if (this.#fits(JSON.stringify(text))) return { text, ...original };
    return { blob: await this.#put(utf8Bytes(text)), ...original };
  }

  /** Stores a value as it is; whoever gives it has masked it. */
  async json(value: Json): Promise<StoredJson> {
    const text = writeJson(value);
    if (!isDeep(value) && this.#fits(text)) return { value };
    return { blob: await this.#put(utf8Bytes(text)) };
  }

  /** A value of no fixed form, for a member that has no blob of its own: what is too long becomes `{blob}` that names one. */
  async loose(value: Json): Promise<Json> {
    const stored = await this.json(value);
    return stored.blob === undefined ? value : { blob: { ...stored.blob } };
  }

  #put(bytes: Uint8Array): Promise<BlobRef> {
    return this.#target.blobs.put(bytes);
  }

  #fits(jsonText: string): boolean {
    const bytes = Buffer.byteLength(jsonText);
    if (bytes > inlineBytesMax || bytes > this.#roomBytes) return false;
    this.#roomBytes -= bytes;
    return true;
  }
}

/** A text with lone surrogates has no UTF-8: its code units are kept as they came. */
function utf16Bytes(text: string): Uint8Array {
  return Buffer.from(text, "utf16le");
}

/** True where a well-formed text may stand in a line as it is. */
export function fitsInline(text: string): boolean {
  return Buffer.byteLength(JSON.stringify(text)) <= inlineBytesMax;
}

/** As much of a text as may stand in a line, cut between characters. */
export function headOfText(text: string): string {
  const wellFormed = text.toWellFormed();
  if (fitsInline(wellFormed)) return wellFormed;
  let head = wellFormed.slice(0, inlineBytesMax);
  // A character takes up to six bytes of JSON text.
  while (!fitsInline(head)) head = head.slice(0, Math.ceil(head.length * 0.9) - 1);
  return head.replace(/[\ud800-\udbff]$/, "");
}

import { utf8Bytes } from "../host/index.ts";
import type { BlobRef, Json } from "../model/values.ts";
import type { Blobs } from "../store/index.ts";
import { inlineBytesMax, lineBytesMax } from "../store/index.ts";
import { isDeep, writeJson } from "./json-texts.ts";

/**
 * Ingestion: what comes from outside becomes well-formed text of a bounded size before it enters the log. A payload
 * over 32 KiB of JSON text, or nested deeper than anybody writes by hand, becomes a blob; nothing is lost either way.
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

/** Stores the payloads of one line: the later ones go to blobs when the line gets full. */
export class PayloadWriter {
  readonly #blobs: Blobs;
  #roomBytes: number;

  /** `membersBytes`: what the line takes without its payloads, where that is much. */
  constructor(blobs: Blobs, membersBytes = 0) {
    this.#blobs = blobs;
    this.#roomBytes = lineBytesMax - lineRestBytes - membersBytes;
  }

  async text(raw: string): Promise<StoredText> {
    const text = raw.toWellFormed();
    const original = text === raw ? {} : { original: await this.#blobs.put(utf16Bytes(raw)) };
    if (this.#fits(JSON.stringify(text))) return { text, ...original };
    return { blob: await this.#blobs.put(utf8Bytes(text)), ...original };
  }

  async json(value: Json): Promise<StoredJson> {
    const text = writeJson(value);
    if (!isDeep(value) && this.#fits(text)) return { value };
    return { blob: await this.#blobs.put(utf8Bytes(text)) };
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

/** As much of a text as may stand in a line, cut between characters. */
export function headOfText(text: string): string {
  const wellFormed = text.toWellFormed();
  if (Buffer.byteLength(JSON.stringify(wellFormed)) <= inlineBytesMax) return wellFormed;
  let head = wellFormed.slice(0, inlineBytesMax);
  // A character takes up to six bytes of JSON text.
  while (Buffer.byteLength(JSON.stringify(head)) > inlineBytesMax)
    head = head.slice(0, Math.ceil(head.length * 0.9) - 1);
  return head.replace(/[\ud800-\udbff]$/, "");
}

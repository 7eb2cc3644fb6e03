import { utf8Bytes } from "../host/index.ts";
import type { BlobRef, Json } from "../model/values.ts";
import type { Blobs } from "../store/index.ts";
import { inlineBytesMax } from "../store/index.ts";

/**
 * Ingestion: what comes from outside becomes well-formed text of a bounded size before it enters the log. A payload
 * over 32 KiB of JSON text, or nested deeper than anybody writes by hand, becomes a blob; nothing is lost either way.
 */

const depthMax = 256;
/** How much of a line the payloads may take together; the rest is left for the envelope and small members. */
const linePayloadBytesMax = 512 * 1024;

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
  #bytes = 0;

  constructor(blobs: Blobs) {
    this.#blobs = blobs;
  }

  async text(raw: string): Promise<StoredText> {
    const text = raw.toWellFormed();
    const original = text === raw ? {} : { original: await this.#blobs.put(utf16Bytes(raw)) };
    if (this.#fits(JSON.stringify(text))) return { text, ...original };
    return { blob: await this.#blobs.put(utf8Bytes(text)), ...original };
  }

  async json(value: Json): Promise<StoredJson> {
    const deep = depthOf(value) > depthMax;
    const text = deep ? "" : JSON.stringify(value).toWellFormed();
    if (!deep && this.#fits(text)) return { value };
    return { blob: await this.#blobs.put(utf8Bytes(deep ? writeDeep(value) : text)) };
  }

  #fits(jsonText: string): boolean {
    const bytes = Buffer.byteLength(jsonText);
    if (bytes > inlineBytesMax || this.#bytes + bytes > linePayloadBytesMax) return false;
    this.#bytes += bytes;
    return true;
  }
}

/** A text with lone surrogates has no UTF-8: its code units are kept as they came. */
function utf16Bytes(text: string): Uint8Array {
  return Buffer.from(text, "utf16le");
}

function depthOf(value: Json): number {
  let depth = 0;
  let level: Json[] = [value];
  while (level.length > 0 && depth <= depthMax) {
    depth++;
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
  }
  return depth;
}

/** JSON text without recursion: JSON.stringify overflows at some thousand levels that JSON.parse still reads. */
function writeDeep(root: Json): string {
  const out: string[] = [];
  const work: (string | { readonly value: Json })[] = [{ value: root }];
  for (let item = work.pop(); item !== undefined; item = work.pop()) {
    if (typeof item === "string") out.push(item);
    else if (Array.isArray(item.value)) {
      work.push(
        "]",
        ...item.value.flatMap((value, index) => [...(index > 0 ? [","] : []), { value }]).toReversed(),
        "[",
      );
    } else if (typeof item.value === "object" && item.value !== null) {
      const members = Object.entries(item.value).flatMap(([name, value], index) => [
        `${index > 0 ? "," : ""}${JSON.stringify(name)}:`,
        { value },
      ]);
      work.push("}", ...members.toReversed(), "{");
    } else out.push(JSON.stringify(item.value));
  }
  return out.join("");
}

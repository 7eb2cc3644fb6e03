import { isAscii, isUtf8 as isUtf8Bytes } from "node:buffer";

/** True where the bytes are well-formed UTF-8 (no CESU surrogates, no overlong forms). */
export function isUtf8(bytes: Uint8Array): boolean {
  return isUtf8Bytes(bytes);
}

/** The text of bytes that are well-formed UTF-8; a byte order mark is kept. */
export function utf8Text(bytes: Uint8Array, start = 0, end = bytes.length): string {
  return bufferOf(bytes).toString("utf8", start, end);
}

/** The same text; undefined where the bytes, also those before and behind it, are no well-formed UTF-8. */
export function checkedUtf8Text(bytes: Uint8Array, start = 0, end = bytes.length): string | undefined {
  // As a rule they are ASCII, which is checked and made into text in half the time.
  if (isAscii(bytes)) return bufferOf(bytes).toString("latin1", start, end);
  return isUtf8Bytes(bytes) ? bufferOf(bytes).toString("utf8", start, end) : undefined;
}

/** The UTF-8 bytes of a text. */
export function utf8Bytes(text: string): Uint8Array {
  return Buffer.from(text, "utf8");
}

/** Bytes as one character each, for patterns over ASCII grammar. */
export function latin1Text(bytes: Uint8Array, start: number, end: number): string {
  return bufferOf(bytes).toString("latin1", start, end);
}

/** True where both hold the same bytes. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

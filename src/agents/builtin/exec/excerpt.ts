/** Parts of UTF-8 text in bytes, cut where a character, and if possible a line, ends. */

const newline = 0x0a;

/** A border may move at most this far to reach the end of a line. */
const lineSearchBytes = 2048;

/** The longest beginning of at most `bytesMax` bytes that does not cut a character. */
export function cutAtCharacter(bytes: Uint8Array, bytesMax: number): Uint8Array {
  if (bytes.byteLength <= bytesMax) return bytes;
  let end = Math.max(0, bytesMax);
  while (end > 0 && isContinuation(bytes[end])) end--;
  return bytes.subarray(0, end);
}

/** A beginning of at most `bytesMax` bytes: whole lines if one ends near the limit, else whole characters. */
export function headOf(bytes: Uint8Array, bytesMax: number): Uint8Array {
  const head = cutAtCharacter(bytes, bytesMax);
  if (head.byteLength === bytes.byteLength) return head;
  const lineEnd = head.lastIndexOf(newline) + 1;
  return lineEnd > 0 && lineEnd >= head.byteLength - lineSearchBytes ? head.subarray(0, lineEnd) : head;
}

/** An ending of at most `bytesMax` bytes: whole lines if one begins near the limit, else whole characters. */
export function tailOf(bytes: Uint8Array, bytesMax: number): Uint8Array {
  if (bytes.byteLength <= bytesMax) return bytes;
  let start = bytes.byteLength - bytesMax;
  while (start < bytes.byteLength && isContinuation(bytes[start])) start++;
  const lineEnd = bytes.indexOf(newline, start);
  const isNear = lineEnd >= 0 && lineEnd < start + lineSearchBytes && lineEnd + 1 < bytes.byteLength;
  const isAtLine = start > 0 && bytes[start - 1] === newline;
  return bytes.subarray(isNear && !isAtLine ? lineEnd + 1 : start);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

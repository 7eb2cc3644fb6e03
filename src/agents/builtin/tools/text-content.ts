/** Text as bytes and back, without losing any. */

/** UTF-8 bytes of a text, or where the half of a surrogate pair stands that UTF-8 cannot say. */
export function encodeText(text: string): Uint8Array | { readonly loneSurrogateAt: number } {
  const at = text.search(/\p{Surrogate}/u);
  return at >= 0 ? { loneSurrogateAt: at } : new TextEncoder().encode(text);
}

/** What a model is told where a text cannot be written. */
export function surrogateProblem(argument: string, at: number): { problem: string; reason: string } {
  return {
    problem:
      `${argument} has half of a surrogate pair at character ${at + 1}, which no UTF-8 file can hold. ` +
      "Nothing was written; give whole characters.",
    reason: "lone_surrogate",
  };
}

/** The text of UTF-8 bytes, a byte order mark included; undefined where they are something else. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Number of lines: ends of lines, and what stands behind the last one. */
export function countLines(text: string): number {
  if (text === "") return 0;
  const ends = text.split("\n").length - 1;
  return text.endsWith("\n") ? ends : ends + 1;
}

/** `1 line`, `2 lines`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** True for what JSON calls an object: neither a list nor null. */
export function isRecord(value: unknown): value is { [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What the text says as JSON; undefined where it is none, which callers expect: models and providers write anything. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

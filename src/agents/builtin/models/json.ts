/** What the text says as JSON; undefined where it is none, which callers expect: models and providers write anything. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

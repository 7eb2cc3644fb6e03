/**
 * Replaces known secret values, also URL- and base64-encoded, before anything is stored: whole texts, and streams
 * across chunk borders. A secret shorter than 6 characters is not searched for: it would hit ordinary words.
 */

const mask = "[redacted]";
const secretLengthMin = 6;

function base64(text: string): string {
  const bytes = new TextEncoder().encode(text);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** The three ways a secret can stand inside longer base64 text, without the characters its neighbours share. */
function base64Forms(secret: string): string[] {
  return [0, 1, 2].map((shift) => {
    const encoded = base64("\0".repeat(shift) + secret).replaceAll("=", "");
    const head = shift === 0 ? 0 : shift + 1;
    const spare = (shift + new TextEncoder().encode(secret).length) % 3 === 0 ? 0 : 1;
    return encoded.slice(head, encoded.length - spare);
  });
}

function formsOf(secret: string): string[] {
  const forms = new Set([secret, encodeURIComponent(secret), ...base64Forms(secret)]);
  for (const form of base64Forms(secret)) forms.add(form.replaceAll("+", "-").replaceAll("/", "_"));
  return [...forms].filter((form) => form.length >= secretLengthMin);
}

/** Replaces secrets; made by {@link makeRedactor}. */
export interface Redactor {
  /** The text with every known secret masked. */
  text(text: string): string;
  /** A masker for one stream: holds back what may be the start of a secret until it is decided. */
  stream(): { push(chunk: string): string; end(): string };
}

/** Makes a redactor for these values. */
export function makeRedactor(secrets: readonly string[]): Redactor {
  const forms = secrets.filter((secret) => secret.length >= secretLengthMin).flatMap(formsOf);
  forms.sort((left, right) => right.length - left.length);
  const longest = forms[0]?.length ?? 0;
  const text = (value: string): string => {
    let result = value;
    for (const form of forms) if (result.includes(form)) result = result.replaceAll(form, mask);
    return result;
  };
  const stream = () => {
    let held = "";
    return {
      push(chunk: string): string {
        held = text(held + chunk);
        const keep = heldBack(held, forms, longest);
        const out = held.slice(0, held.length - keep);
        held = held.slice(held.length - keep);
        return out;
      },
      end(): string {
        const out = held;
        held = "";
        return out;
      },
    };
  };
  return { text, stream };
}

/** How many characters at the end may be the start of a secret. */
function heldBack(text: string, forms: readonly string[], longest: number): number {
  for (let length = Math.min(longest - 1, text.length); length > 0; length--) {
    const tail = text.slice(text.length - length);
    if (forms.some((form) => form.startsWith(tail))) return length;
  }
  return 0;
}

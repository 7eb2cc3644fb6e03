/** The texts in which a secret may stand: as it is, inside JSON, URL-encoded and base64-encoded. */

/** A secret shorter than this is not searched for: it would hit ordinary words. */
const secretLengthMin = 6;

/** Everything to search for, without line breaks. Space around a secret is not part of it. */
export function formsOfSecret(secret: string): string[] {
  const value = secret.trim().toWellFormed();
  if (value.length < secretLengthMin) return [];
  const forms = [value, JSON.stringify(value).slice(1, -1), ...urlForms(value), ...base64Forms(value)];
  return [...new Set(forms.map(withoutBreaks))].filter((form) => form.length >= secretLengthMin);
}

/** The text without line breaks: whoever wraps a secret has still told it. */
function withoutBreaks(text: string): string {
  return text.replaceAll(/[\r\n]/g, "");
}

/** As a whole URL, as a path, as a component, and as a form field; each with hexadecimal digits in both cases. */
function urlForms(value: string): string[] {
  const component = encodeURIComponent(value);
  const strict = component.replaceAll(/[!'()*]/g, hexOf);
  const path = strict.replaceAll("%2F", "/");
  const field = component.replaceAll("%20", "+").replaceAll(/[!'()~]/g, hexOf);
  return [encodeURI(value), path, component, strict, field].flatMap((form) => [form, lowerHex(form)]);
}

function hexOf(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

function lowerHex(form: string): string {
  return form.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase());
}

/**
 * A secret inside longer base64 text can begin at each of three places of a group; the characters that it shares with its
 * neighbours are left out. Also for URLs: with their own alphabet, and with the usual one URL-encoded.
 */
function base64Forms(value: string): string[] {
  const bytes = new TextEncoder().encode(value);
  return [0, 1, 2].flatMap((shift) => {
    const encoded = base64([...new Uint8Array(shift), ...bytes]).replaceAll("=", "");
    const head = shift === 0 ? 0 : shift + 1;
    const tail = (shift + bytes.length) % 3 === 0 ? 0 : 1;
    const form = encoded.slice(head, encoded.length - tail);
    const escaped = encodeURIComponent(form);
    return [form, form.replaceAll("+", "-").replaceAll("/", "_"), escaped, lowerHex(escaped)];
  });
}

function base64(bytes: readonly number[]): string {
  return btoa(bytes.map((byte) => String.fromCharCode(byte)).join(""));
}

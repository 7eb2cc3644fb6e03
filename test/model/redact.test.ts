import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeRedactor } from "../../src/model/redact.ts";
import { formsOfSecret } from "../../src/model/secret-forms.ts";
import { anyText } from "./any-text.ts";

const mask = "[redacted]";
const key = "sk-ant-api03-Zm9v/YmFy+cXV4_eHk~enp6 'q\"\\é😀";

function inPieces(
  redact: { push(chunk: string): string; end(): string },
  text: string,
  cuts: number[],
): string {
  const borders = [
    0,
    ...cuts.map((cut) => cut % (text.length + 1)).toSorted((one, other) => one - other),
    text.length,
  ];
  const pieces = borders.slice(1).map((border, index) => text.slice(borders[index], border));
  return pieces.map((piece) => redact.push(piece)).join("") + redact.end();
}

/** What must become of a text, found out the slow way: every place of every form, and what lies between its lines. */
function masked(secrets: readonly string[], text: string): string {
  const kept = Array.from({ length: text.length }, (_, index) => index).filter(
    (index) => !/[\r\n]/.test(text[index] ?? ""),
  );
  const flat = kept.map((index) => text[index]).join("");
  const spans = secrets.flatMap(formsOfSecret).flatMap((form) => {
    const found: [number, number][] = [];
    for (let at = flat.indexOf(form); at !== -1; at = flat.indexOf(form, at + 1)) {
      found.push([kept[at] ?? 0, (kept[at + form.length - 1] ?? 0) + 1]);
    }
    return found.filter(([start, end]) => !/[\r\n]{5}/.test(text.slice(start, end)));
  });
  spans.push(...begunSpan(secrets, text, kept));
  let [result, from] = ["", 0];
  for (const [start, end] of spans.toSorted((one, other) => one[0] - other[0])) {
    if (start >= from) result += text.slice(from, start) + mask;
    from = Math.max(from, end);
  }
  return result + text.slice(from);
}

/** The longest secret that the text's end has begun, where it has told eight characters of it or more. */
function begunSpan(secrets: readonly string[], text: string, kept: readonly number[]): [number, number][] {
  const flat = kept.map((index) => text[index]).join("");
  const forms = secrets.flatMap(formsOfSecret);
  for (let size = flat.length; size >= 8; size--) {
    const start = kept[kept.length - size] ?? 0;
    const begins = forms.some((form) => form.startsWith(flat.slice(-size)));
    if (begins && !/[\r\n]{5}/.test(text.slice(start))) return [[start, (kept.at(-1) ?? 0) + 1]];
  }
  return [];
}

/** Pieces of one string: secrets that overlap, hold, begin and end one another, and a text of such pieces. */
const secretsAndText = fc
  .string({ unit: fc.constantFrom("a", "b", "c"), minLength: 12, maxLength: 24 })
  .chain((whole) => {
    const place = fc.nat(whole.length - 6);
    const secret = fc
      .tuple(place, fc.integer({ min: 6, max: 14 }))
      .map(([at, size]) => whole.slice(at, at + size));
    const piece = fc.tuple(place, fc.nat(whole.length)).map(([at, size]) => whole.slice(at, at + size));
    const pieces = fc.array(fc.oneof(piece, fc.constantFrom("\n", "\r\n", "\n\n", "é", whole)), {
      maxLength: 8,
    });
    return fc.tuple(
      fc.array(secret, { minLength: 1, maxLength: 4 }),
      pieces.map((some) => some.join("")),
    );
  });
const cuts = fc.array(fc.nat(200), { maxLength: 12 });

const wrapped = (value: string, columns: number) =>
  Array.from({ length: Math.ceil(value.length / columns) }, (_, line) =>
    value.slice(line * columns, (line + 1) * columns),
  ).join("\n");

describe("a redacted text", () => {
  test("that was cut in the middle of a secret does not end in most of it", () => {
    const stream = makeRedactor(["sk-secret-0123456789"]).stream();
    expect(stream.push("key: sk-secret-0123") + stream.end()).toBe(`key: ${mask}`);
    expect(makeRedactor(["sk-secret-0123456789"]).text("key: sk-sec")).toBe("key: sk-sec");
  });

  test("masks every sign of every secret and nothing else, however secrets overlap", () => {
    fc.assert(
      fc.property(secretsAndText, ([values, told]) => {
        expect(makeRedactor(values).text(told)).toBe(masked(values, told));
      }),
      { numRuns: 1000 },
    );
  });

  test("is the same wherever a stream of it is cut", () => {
    fc.assert(
      fc.property(secretsAndText, cuts, ([values, told], borders) => {
        const redactor = makeRedactor(values);
        expect(inPieces(redactor.stream(), told, borders)).toBe(redactor.text(told));
      }),
      { numRuns: 1000 },
    );
  });

  test("is the text itself where no secret stands in it", () => {
    fc.assert(
      fc.property(fc.array(anyText), anyText, cuts, (values, told, borders) => {
        const redactor = makeRedactor(values);
        fc.pre(masked(values, told) === told);
        expect(redactor.text(told)).toBe(told);
        expect(inPieces(redactor.stream(), told, borders)).toBe(told);
      }),
    );
    const none = makeRedactor([]);
    expect(none.text("hunter2")).toBe("hunter2");
    expect(inPieces(none.stream(), "hunter2", [3])).toBe("hunter2");
  });

  test("can be redacted again without change", () => {
    fc.assert(
      fc.property(secretsAndText, ([values, told]) => {
        const redactor = makeRedactor(values);
        const once = redactor.text(told);
        expect(redactor.text(once)).toBe(once);
      }),
    );
  });
});

const encodings: Record<string, (value: string) => string> = {
  plain: (value) => value,
  "of a JSON text": (value) => JSON.stringify({ key: value }),
  "of a component of a URL": (value) => `https://example.org/?key=${encodeURIComponent(value)}&x=1`,
  "of a whole URL": (value) => encodeURI(`https://example.org/${value}`),
  "of a form": (value) => new URLSearchParams({ key: value, x: "1" }).toString(),
  "with small digits": (value) => encodeURIComponent(value).replaceAll(/%../g, (one) => one.toLowerCase()),
  "of base64": (value) => Buffer.from(value).toString("base64"),
  "of base64 behind one byte": (value) => Buffer.from(`:${value}:`).toString("base64"),
  "of base64 behind two bytes": (value) => Buffer.from(`u:${value}\n`).toString("base64"),
  "of base64 for URLs": (value) => Buffer.from(`user:${value}`).toString("base64url"),
  "of base64 in a URL": (value) => encodeURIComponent(Buffer.from(`me:${value}`).toString("base64")),
  "of wrapped base64": (value) => wrapped(Buffer.from(`x${value}`).toString("base64"), 20),
  "of base64 with carriage returns": (value) =>
    wrapped(Buffer.from(value.repeat(2)).toString("base64"), 24).replaceAll("\n", "\r\n"),
  "of a narrow terminal": (value) => wrapped(value, 7),
};

/** What a reader of base64 could still make of a text, at each of the three places of a group. */
function decodings(told: string): string {
  const runs = decodeURIComponent(told.replaceAll(/%(?![0-9a-f]{2})/gi, "%25"))
    .replaceAll(/[\r\n]/g, "")
    .match(/[\w+/-]{4,}/g);
  return (runs ?? [])
    .flatMap((run) => [0, 1, 2, 3].map((skip) => Buffer.from(run.slice(skip), "base64").toString("latin1")))
    .join(" ");
}

describe("a secret", () => {
  const plain = fc.string({
    unit: fc.constantFrom(..."abkz019-_/+ ~'\"\\é".split("")),
    minLength: 12,
    maxLength: 40,
  });
  const around = fc.string({ unit: fc.constantFrom("(", ")", " ", "\n", "=", "&"), maxLength: 12 });

  test.each(Object.entries(encodings))("is found in its form %s, wherever the stream is cut", (_, encode) => {
    const told = `before ${encode(key)} after`;
    const redactor = makeRedactor(["another secret", key]);
    const whole = redactor.text(told);
    expect(whole).toContain(mask);
    expect(whole).toMatch(/^before .* after$/s);
    for (let cut = 0; cut <= told.length; cut++) {
      expect(inPieces(redactor.stream(), told, [cut])).toBe(whole);
    }
    const stream = redactor.stream();
    const signs = told.split("").map((sign) => stream.push(sign));
    expect(signs.join("") + stream.end()).toBe(whole);
  });

  test.each(Object.entries(encodings))("never leaves in its form %s, whatever it is", (_, encode) => {
    fc.assert(
      fc.property(plain, around, around, cuts, (value, before, after, borders) => {
        fc.pre(value.trim() === value && value.length >= 12);
        const told = before + encode(value) + after;
        const out = inPieces(makeRedactor([value]).stream(), told, borders);
        const rest = out.replaceAll(/[\r\n]/g, "");
        for (const form of formsOfSecret(value)) expect(rest).not.toContain(form);
        // All but the signs that base64 shares with its neighbours is gone.
        const core = Buffer.from(value).toString("latin1").slice(2, -2);
        expect(decodings(out)).not.toContain(core);
      }),
    );
  });

  test("of several lines is found with either end of a line, and as one line", () => {
    const pem = `-----BEGIN KEY-----\n${"Zm9v".repeat(16)}\n\nYmFy\n-----END KEY-----`;
    const redactor = makeRedactor([`${pem}\n`]);
    for (const told of [pem, pem.replaceAll("\n", "\r\n"), pem.replaceAll("\n", "")]) {
      expect(redactor.text(`a${told}b`)).toBe(`a${mask}b`);
    }
    expect(redactor.text(JSON.stringify(pem))).toBe(`"${mask}"`);
  });

  test("that begins another is masked with the rest of that one, or without it", () => {
    const redactor = makeRedactor(["abcdef", "abcdefghijk"]);
    for (const cut of [6, 8, 11]) {
      expect(inPieces(redactor.stream(), "abcdefghijk.", [cut])).toBe(`${mask}.`);
      expect(inPieces(redactor.stream(), "abcdefghijx.", [cut])).toBe(`${mask}ghijx.`);
    }
  });

  test("too short to be told from a word is left alone, and so is what the mask itself says", () => {
    expect(makeRedactor(["test", "  abc  ", ""]).text("a test, abc")).toBe("a test, abc");
    expect(makeRedactor(["redacted"]).text("redacted")).toBe("redacted");
  });

  test("that is no well-formed text hinders nothing", () => {
    expect(makeRedactor(["abc\ud800def", "hunter2"]).text("hunter2 \ud800")).toBe(`${mask} \ud800`);
  });
});

describe("a stream", () => {
  test("gives out at once what cannot belong to a secret, and holds back no more than one secret", () => {
    const stream = makeRedactor(["hunter2"]).stream();
    expect(stream.push("a line\n")).toBe("a line\n");
    expect(stream.push("a hun")).toBe("a ");
    expect(stream.push("t\n\n\n\n\n")).toBe("hunt\n\n\n\n\n");
    expect(stream.push("hunter")).toBe("");
    expect(stream.push("2")).toBe("");
    expect(stream.push(" ")).toBe(`${mask} `);
    expect(stream.push("hunter")).toBe("");
    expect(stream.end()).toBe("hunter");
  });

  test("begins anew after its end", () => {
    const stream = makeRedactor(["hunter2"]).stream();
    expect(stream.push("xx hunter2") + stream.end()).toBe(`xx ${mask}`);
    expect(stream.push("2 hunter2 x") + stream.end()).toBe(`2 ${mask} x`);
  });

  test("reads each sign a few times at most, however hostile the text and however many the secrets", () => {
    const values = Array.from({ length: 60 }, (_, index) => `${"a".repeat(20 + index)}b${index}`);
    const redactor = makeRedactor(values);
    const hostile = "a".repeat(2_000_000);
    const stream = redactor.stream();
    // A search that starts again at each sign would take hours here.
    for (let at = 0; at < hostile.length; at += 1000) stream.push(hostile.slice(at, at + 1000));
    expect(redactor.text(hostile)).toBe(`${"a".repeat(hostile.length - 79)}${mask}`);
    expect(redactor.text(values.join("").repeat(300)).replaceAll(mask, "")).toBe("");
  });
});

import { describe, expect, test } from "vitest";
import { parseCassette } from "../../src/agents/builtin/models/cassette.ts";
import { openModel } from "../../src/agents/builtin/models/model.ts";
import { HoldfastError } from "../../src/model/errors.ts";
import { outside } from "./wire.ts";

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function refusalOf(content: string | Uint8Array): string {
  try {
    parseCassette(typeof content === "string" ? bytesOf(content) : content, "demo.yaml");
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    expect(error.code).toBe("usage");
    return error.message;
  }
  throw new Error("it was accepted");
}

describe("a cassette is read", () => {
  test("from JSON too, with tabs, a byte order mark and escapes", () => {
    const text = '\uFEFF{\n\t"cassette": 1,\n\t"turns": [\n\t\t{"text": "a\\/\\ud83d\\ude00"}\n\t]\n}\n';
    expect(parseCassette(bytesOf(text), "demo.json").turns).toEqual([{ text: "a/😀" }]);
  });

  test("with anchors, as long as they stay few", () => {
    const text = "cassette: 1\nturns:\n  - calls: [&c { tool: read, args: { path: a } }, *c]\n";
    expect(parseCassette(bytesOf(text), "demo.yaml").turns).toMatchObject([
      { calls: [{ tool: "read" }, { tool: "read" }] },
    ]);
  });

  test("keeping arguments whatever their names are", () => {
    const text =
      '{"cassette":1,"turns":[{"calls":[{"tool":"t","args":{"__proto__":{"x":1},"constructor":2}}]}]}';
    const [turn] = parseCassette(bytesOf(text), "demo.json").turns;
    expect(JSON.stringify(turn)).toBe(
      '{"calls":[{"tool":"t","args":{"__proto__":{"x":1},"constructor":2}}]}',
    );
  });
});

describe("a cassette is refused", () => {
  test("with everything that is wrong with it at once, each with its path", () => {
    const text = `
cassette: 2
turn: []
turns:
  - txt: typo
    text: 7
    calls:
      - { tol: write, args: [1] }
      - { tool: "", args: {} }
      - { tool: read, args: {}, argsText: "{}" }
      - write
    usage: { input: -1, output: 1.5, total: 3 }
    firstTokenMs: soon
  - error: { status: 200, message: 5, when: now }
    text: beside it
  - error: late
  - just text
  -
  - calls:
      - { tool: t, args: { "odd key": { n: 12345678901234567890, x: [.nan, -.inf] } } }
`;
    expect(refusalOf(text)).toMatchInlineSnapshot(`
      "The cassette demo.yaml cannot be used:
        cassette: must be 1, not 2 (line 2, column 1)
        turn: is not a known field (line 3, column 1)
        turns[0].txt: is not a known field (line 5, column 5)
        turns[0].text: must be text, not 7 (line 6, column 5)
        turns[0].calls[0].tool: is missing (line 8, column 9)
        turns[0].calls[0].tol: is not a known field (line 8, column 11)
        turns[0].calls[0].args: must be a mapping, not a list (line 8, column 23)
        turns[0].calls[1].tool: must not be empty (line 9, column 11)
        turns[0].calls[2]: has both args and argsText (line 10, column 9)
        turns[0].calls[3]: must be a mapping, not "write" (line 11, column 9)
        turns[0].usage.input: must be at least 0, not -1 (line 12, column 14)
        turns[0].usage.output: must be a whole number, not 1.5 (line 12, column 25)
        turns[0].usage.total: is not a known field (line 12, column 38)
        turns[0].firstTokenMs: must be a number, not "soon" (line 13, column 5)
        turns[1].error.status: must be at least 400, not 200 (line 14, column 14)
        turns[1].error.message: must be text, not 5 (line 14, column 27)
        turns[1].error.when: is not a known field (line 14, column 39)
        turns[1].text: cannot stand beside error (line 15, column 5)
        turns[2].error: must be a mapping, not "late" (line 16, column 5)
        turns[3]: must be a mapping, not "just text" (line 17, column 5)
        turns[4]: must be a mapping, not null (line 18, column 4)
        turns[5].calls[0].args["odd key"].n: 12345678901234567890 cannot be kept exactly; give the arguments as argsText (line 20, column 41)
        turns[5].calls[0].args["odd key"].x[0]: is no number that JSON has (line 20, column 70)
        turns[5].calls[0].args["odd key"].x[1]: is no number that JSON has (line 20, column 76)"
    `);
  });

  test("where the parts of an answer, or what a failure means, contradict themselves", () => {
    const text = `
cassette: 1
turns:
  - text: beside
    calls: []
    parts: []
  - parts:
      - { text: a, reasoning: b }
      - {}
      - { text: a, signature: s, args: {} }
      - { reasoning: a, tool: t }
      - { tool: t, args: {}, argsText: "{}", signature: s }
      - { text: a, providerMetadataText: "{" }
      - { text: a, metadata: {} }
    stopReason: lenght
    usage: { lowerBound: 1 }
  - error: { message: a, reason: slow, retryable: true }
  - error: { message: a, retryable: true }
  - error: { message: a, reason: interrupted, retryable: 1, began: no, status: 99, retryAfterMs: -1 }
  - error: { message: a, reason: http, retryable: true, parts: [{ text: a, reasoning: b }, {}, { tool: a }] }
  - parts: text
`;
    expect(refusalOf(text)).toMatchInlineSnapshot(`
      "The cassette demo.yaml cannot be used:
        turns[0].text: cannot stand beside parts (line 4, column 5)
        turns[0].calls: cannot stand beside parts (line 5, column 5)
        turns[1].parts[0]: must have one of text, reasoning and tool (line 8, column 9)
        turns[1].parts[1]: must have one of text, reasoning and tool (line 9, column 9)
        turns[1].parts[2]: has signature, which does not belong to text (line 10, column 9)
        turns[1].parts[2]: has args, which does not belong to text (line 10, column 9)
        turns[1].parts[3]: must have one of text, reasoning and tool (line 11, column 9)
        turns[1].parts[4]: has signature, which does not belong to tool (line 12, column 9)
        turns[1].parts[4]: has both args and argsText (line 12, column 9)
        turns[1].parts[5].providerMetadataText: must be JSON text, not "{" (line 13, column 20)
        turns[1].parts[6].metadata: is not a known field (line 14, column 20)
        turns[1].stopReason: must be stop, tool-calls, length, content-filter, error or other, not "lenght" (line 15, column 5)
        turns[1].usage.lowerBound: must be true or false, not 1 (line 16, column 14)
        turns[2].error.reason: must be http, network, auth, quota, rate_limit, context_overflow, content_filter, malformed, timeout or cassette_exhausted, not "slow" (line 17, column 26)
        turns[3].error.reason: is missing (line 18, column 5)
        turns[4].error.reason: must be http, network, auth, quota, rate_limit, context_overflow, content_filter, malformed, timeout or cassette_exhausted, not "interrupted" (line 19, column 26)
        turns[4].error.retryable: must be true or false, not 1 (line 19, column 47)
        turns[4].error.began: must be true or false, not "no" (line 19, column 61)
        turns[4].error.status: must be at least 100, not 99 (line 19, column 72)
        turns[4].error.retryAfterMs: must be at least 0, not -1 (line 19, column 84)
        turns[5].error.parts[0]: must have one of text and reasoning (line 20, column 65)
        turns[5].error.parts[1]: must have one of text and reasoning (line 20, column 92)
        turns[5].error.parts[2]: must have one of text and reasoning (line 20, column 96)
        turns[5].error.parts[2].tool: is not a known field (line 20, column 98)
        turns[6].parts: must be a list, not "text" (line 21, column 5)"
    `);
  });

  test("for whatever is wrong with its form, and says where", () => {
    const contents: Record<string, string> = {
      empty: "",
      blank: " \n\n",
      "only a comment": "# nothing\n",
      "a list": "- text: hi\n",
      "a word": "hello",
      "without turns": "cassette: 1\n",
      "without its version": "turns: []\n",
      "with turns that are none": "cassette: 1\nturns: { text: hi }\n",
      "with one name twice": "cassette: 1\nturns:\n  - text: a\n    text: b\n",
      "with one name twice, in JSON": '{"cassette":1,"turns":[],"turns":[]}',
      "in pieces": "cassette: 1\n---\nturns: []\n",
      "with a syntax error": "cassette: 1\nturns: [\n",
      "cut off": '{"cassette":1,"turns":[{"te',
      "with a tag": "cassette: 1\nturns: [{ text: !!js/function x }]\n",
      "with an alias of nothing": "cassette: 1\nturns: *t\n",
      "with a name that is no text": "cassette: 1\nturns: []\n? [a]\n: b\n",
      "with an alias of itself": "cassette: 1\nturns: [{ calls: [{ tool: t, args: &a { a: *a } }] }]\n",
      "with the prototype for a field": '{"cassette":1,"turns":[],"__proto__":{"x":1}}',
    };
    const refusals = Object.entries(contents).map(
      ([name, text]) => `${name}\n${refusalOf(text).split("\n").slice(1).join("\n")}`,
    );
    expect(refusals.join("\n")).toMatchInlineSnapshot(`
      "empty
        it is empty
      blank
        it is empty
      only a comment
        it is not a mapping with the fields cassette and turns
      a list
        it is not a mapping with the fields cassette and turns
      a word
        it is not a mapping with the fields cassette and turns
      without turns
        turns: is missing (line 1, column 1)
      without its version
        cassette: is missing (line 1, column 1)
      with turns that are none
        turns: must be a list, not a mapping (line 2, column 1)
      with one name twice
        line 4, column 5: this field was given before
      with one name twice, in JSON
        line 1, column 26: this field was given before
      in pieces
        line 2, column 1: a second document begins here
      with a syntax error
        line 3, column 1: Flow sequence in block collection must be sufficiently indented and end with a ]
      cut off
        line 1, column 28: Missing closing "quote
        line 1, column 28: Flow map in block collection must be sufficiently indented and end with a }
        line 1, column 28: Flow sequence in block collection must be sufficiently indented and end with a ]
        line 1, column 28: Flow map must end with a }
      with a tag
        line 2, column 17: Unresolved tag: tag:yaml.org,2002:js/function
      with an alias of nothing
        Unresolved alias (the anchor must be set before the alias): t
      with a name that is no text
        line 3, column 3: a field's name must be text
      with an alias of itself
        turns[0].calls[0]: is nested deeper than 256 levels (line 2, column 19)
      with the prototype for a field
        __proto__: is not a known field (line 1, column 26)"
    `);
  });

  test("that is a bomb of aliases, before it fills the memory", () => {
    const levels = Array.from({ length: 9 }, (_, level) =>
      level === 0
        ? "  - &a0 [x, x, x, x, x, x, x, x, x]"
        : `  - &a${level} [${Array(9)
            .fill(`*a${level - 1}`)
            .join(",")}]`,
    );
    expect(refusalOf(`cassette: 1\nturns:\n${levels.join("\n")}\n`)).toContain("Excessive alias count");
  });

  test("that is nested without end, without falling over", () => {
    expect(refusalOf("[".repeat(20_000))).toContain("it is nested deeper than 256 levels");
    const deep = `${'{"a":'.repeat(300)}1${"}".repeat(300)}`;
    const text = `{"cassette":1,"turns":[{"calls":[{"tool":"t","args":${deep}}]}]}`;
    expect(refusalOf(text)).toContain("turns[0].calls[0]: is nested deeper than 256 levels");
  });

  test("that is no UTF-8", () => {
    expect(refusalOf(new Uint8Array([0x63, 0xff, 0xfe]))).toBe("The cassette demo.yaml is not UTF-8 text.");
    expect(refusalOf(new Uint8Array([0xff, 0xfe, 0x63, 0x00]))).toBe(
      "The cassette demo.yaml is not UTF-8 text.",
    );
  });

  test("with no more complaints than a person reads", () => {
    const turns = Array.from({ length: 300 }, () => "  - { bad: 1 }").join("\n");
    const lines = refusalOf(`cassette: 1\nturns:\n${turns}\n`).split("\n");
    expect(lines).toHaveLength(102);
    expect(lines.at(-1)).toBe("  and 200 more");
  });

  test("where its bytes were not given", () => {
    const choice = { provider: "cassette", model: "demo.yaml" };
    const open = (): unknown => openModel({ choice, environment: {}, host: outside, redact: (text) => text });
    expect(open).toThrow("The cassette demo.yaml was not given.");
  });
});

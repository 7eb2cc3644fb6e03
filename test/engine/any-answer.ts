import * as fc from "fast-check";
import type { AnswerPart, ModelEvent, ModelFailure } from "../../src/model/agent.ts";
import { failureReasons, stopReasons } from "../../src/model/cassette.ts";
import type { Json } from "../../src/model/values.ts";
import { anyText } from "../model/any-text.ts";

/** Anything that a model may do, what disturbs readers and writers of files most often. */

/** A whole answer. */
export type Answered = Extract<ModelEvent, { type: "answered" }>;
/** A failure, and what had come of an answer. */
export interface Failed {
  readonly type: "failed";
  readonly failure: ModelFailure;
  readonly came: readonly { readonly type: "text" | "reasoning"; readonly text: string }[];
}

const blanks = fc
  .array(fc.constantFrom(" ", "\n", "\t", "\r", "a", "#", "-", ":", '"'), { maxLength: 12 })
  .map((units) => units.join(""));
const lines = fc
  .array(fc.oneof(anyText, fc.constantFrom("", "- a", "  b", "# c", "---", "\tx: y ")), { maxLength: 5 })
  .map((some) => some.join("\n"));
// Long in quotes, with a line of blanks in it.
const prose = fc.oneof(
  anyText,
  blanks,
  lines,
  fc.constant("\u0000\u0000\n \n\u0000\u0000\u001b[2J\u0000\u0000"),
);
const awkwardArgs = [
  "",
  " ",
  "{}",
  "{ }",
  "[1]",
  '"a text"',
  "null",
  '{"a": 1',
  '{"path": "a.txt"}',
  '{"path":"a.txt","offset":2}',
  '{"__proto__":{"x":1},"constructor":2}',
  '{"":"","a: b":"# no comment","<<":{"x":1},"? k":"- l","1":true,"true":null,"yes":"no"}',
  '{"big":9007199254740992}',
  '{"bigger":12345678901234567890}',
  '{"float":1.0,"exponent":1e400}',
  '{"float":1e+21,"small":5e-324,"zero":-0}',
  '{"b":1,"a":2,"1":3}',
  '{"half":"\\ud83d"}',
  '{"half":"\ud83d"}',
  '{"whole":"👧","line":"\u2028","bell":"\\u0007"}',
  `{"${"long name ".repeat(200)}":1}`,
  `{"deep":${"[".repeat(300)}${"]".repeat(300)}}`,
  `{"deep":${'{"a":'.repeat(100)}1${"}".repeat(100)}}`,
  `{"long":"${"line\\n".repeat(9000)}"}`,
];
const members = fc.oneof(anyText, blanks, fc.constantFrom("path", "__proto__", "content", "offset"));
const argsText = fc.oneof(
  fc.constantFrom(...awkwardArgs),
  fc.dictionary(members, fc.jsonValue()).map((value) => JSON.stringify(value)),
  fc.dictionary(members, fc.jsonValue()).map((value) => JSON.stringify(value, null, 1)),
  anyText,
);
const metadata = fc.option(
  fc.oneof(
    fc.dictionary(
      fc.constantFrom("anthropic", "openai", "__proto__"),
      fc.dictionary(anyText, fc.jsonValue()),
    ),
    fc.constant({ openai: { big: 2 ** 70, half: "\ud83d", long: "s".repeat(40_000) } }),
  ),
  { nil: undefined },
);

function withMetadata<T extends object>(part: T, added: unknown): T {
  return added === undefined
    ? part
    : { ...part, providerMetadata: JSON.parse(JSON.stringify(added)) as Json };
}

const part: fc.Arbitrary<AnswerPart> = fc.oneof(
  fc.tuple(prose, metadata).map(([text, added]) => withMetadata({ type: "text" as const, text }, added)),
  prose.map((text) => ({ type: "text" as const, text })),
  prose.map((text) => ({ type: "reasoning" as const, text })),
  fc.tuple(prose, anyText).map(([text, signature]) => ({
    type: "reasoning" as const,
    text,
    signature: signature.toWellFormed(),
  })),
  fc
    .record({
      type: fc.constant("call" as const),
      call: anyText,
      tool: fc.oneof(fc.constantFrom("read", "write", "glob", "", "no such tool"), anyText, blanks),
      argsText,
    })
    .chain((call) => metadata.map((added) => withMetadata(call, added))),
  fc.record({
    type: fc.constant("call" as const),
    call: fc.constant("call_1"),
    tool: fc.constantFrom("read", "edit"),
    argsText,
  }),
);
const tokens = fc.option(fc.nat(), { nil: undefined });
const usage = fc.option(
  fc
    .record({ input: tokens, output: tokens, cachedInput: tokens, reasoning: tokens })
    .map((one) => JSON.parse(JSON.stringify(one)) as object),
  { nil: undefined },
);
/** An answer: text, reasoning and calls in any order, whatever they say. */
export const anyAnswer = fc
  .record({ parts: fc.array(part, { maxLength: 5 }), usage, stopReason: fc.constantFrom(...stopReasons) })
  .map(({ usage: used, ...rest }): Answered => ({ type: "answered", ...rest, ...(used && { usage: used }) }));
/** A failure of any kind that a model has. */
export const anyFailure = fc
  .record({
    failure: fc.record(
      {
        reason: fc.constantFrom(...failureReasons.filter((reason) => reason !== "cassette_exhausted")),
        message: anyText,
        status: fc.integer({ min: 100, max: 599 }),
        retryAfterMs: fc.oneof(fc.nat(), fc.constant(1.5)),
        retryable: fc.boolean(),
        began: fc.boolean(),
        usage: fc.record({ input: fc.nat(), output: fc.nat() }),
      },
      { requiredKeys: ["reason", "message", "retryable"] },
    ),
    came: fc.array(fc.record({ type: fc.constantFrom("text", "reasoning"), text: prose }), { maxLength: 4 }),
  })
  .map((one): Failed => ({ type: "failed", ...one }));

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openModel } from "../../src/agents/builtin/models/model.ts";
import type { ModelEvent } from "../../src/model/agent.ts";
import { modelCall, outside } from "./wire.ts";

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

async function play(
  text: string,
  index: number | undefined,
  options: { signal?: AbortSignal; onEvent?: (event: ModelEvent) => void } = {},
): Promise<{ events: ModelEvent[]; pauses: number[] }> {
  const pauses: number[] = [];
  const clock = {
    ...outside.clock,
    sleep: (ms: number): Promise<void> => {
      pauses.push(ms);
      return Promise.resolve();
    },
  };
  const model = openModel({
    choice: { provider: "cassette", model: "demo.yaml" },
    environment: {},
    host: { fetch: outside.fetch, clock },
    redact: (message) => message,
    cassette: bytesOf(text),
  });
  const { signal = new AbortController().signal, onEvent } = options;
  const events: ModelEvent[] = [];
  for await (const event of model.call(
    modelCall(index === undefined ? {} : { cassetteIndex: index }),
    signal,
  )) {
    events.push(event);
    onEvent?.(event);
  }
  return { events, pauses };
}

const demo = `
cassette: 1
turns:
  - reasoning: I need a  file.
    text: "Writing it. \\n"
    calls:
      - { tool: write, args: { path: notes.txt, content: "hello\\n" } }
      - { tool: exec, args: { command: "npm test", timeoutMs: 60000, cwd: "sub/dir" } }
    usage: { input: 120, output: 30, cachedInput: 0, reasoning: 0 }
    firstTokenMs: 5
    perTokenMs: 1
  - error: { status: 429, message: "slow down", retryAfterMs: 50 }
  - text: Done.
  - {}
  - error: { message: "the cable was pulled" }
  - calls: [{ tool: todo }, { tool: read, argsText: '{"n": 12345678901234567890 }' }]
`;

describe("a cassette plays", () => {
  test("an answer: words with their spaces, then all of it", async () => {
    const { events, pauses } = await play(demo, 0);
    expect(events).toMatchInlineSnapshot(`
      [
        {
          "part": "reasoning",
          "text": "I ",
          "type": "delta",
        },
        {
          "part": "reasoning",
          "text": "need ",
          "type": "delta",
        },
        {
          "part": "reasoning",
          "text": "a  ",
          "type": "delta",
        },
        {
          "part": "reasoning",
          "text": "file.",
          "type": "delta",
        },
        {
          "part": "text",
          "text": "Writing ",
          "type": "delta",
        },
        {
          "part": "text",
          "text": "it. 
      ",
          "type": "delta",
        },
        {
          "parts": [
            {
              "text": "I need a  file.",
              "type": "reasoning",
            },
            {
              "text": "Writing it. 
      ",
              "type": "text",
            },
            {
              "argsText": "{"path":"notes.txt","content":"hello\\n"}",
              "call": "call_0_0",
              "tool": "write",
              "type": "call",
            },
            {
              "argsText": "{"command":"npm test","timeoutMs":60000,"cwd":"sub/dir"}",
              "call": "call_0_1",
              "tool": "exec",
              "type": "call",
            },
          ],
          "stopReason": "tool-calls",
          "type": "answered",
          "usage": {
            "cachedInput": 0,
            "input": 120,
            "output": 30,
            "reasoning": 0,
          },
        },
      ]
    `);
    expect(pauses).toEqual([5, 1, 1, 1, 1, 1, 1]);
  });

  test("a refusal, as a provider's would be judged", async () => {
    expect((await play(demo, 1)).events).toMatchInlineSnapshot(`
      [
        {
          "failure": {
            "message": "cassette answered HTTP 429: slow down",
            "reason": "rate_limit",
            "retryAfterMs": 50,
            "retryable": true,
            "status": 429,
          },
          "type": "failed",
        },
      ]
    `);
  });

  test("an answer without usage, and one of nothing", async () => {
    expect((await play(demo, 2)).events).toMatchInlineSnapshot(`
      [
        {
          "part": "text",
          "text": "Done.",
          "type": "delta",
        },
        {
          "parts": [
            {
              "text": "Done.",
              "type": "text",
            },
          ],
          "stopReason": "stop",
          "type": "answered",
        },
      ]
    `);
    expect((await play(demo, 3)).events).toEqual([{ type: "answered", parts: [], stopReason: "stop" }]);
  });

  test("a failure of the network", async () => {
    expect((await play(demo, 4)).events).toMatchInlineSnapshot(`
      [
        {
          "failure": {
            "message": "cassette could not be reached: the cable was pulled",
            "reason": "network",
            "retryable": true,
          },
          "type": "failed",
        },
      ]
    `);
  });

  test("calls without arguments, and arguments whose text must stay", async () => {
    expect((await play(demo, 5)).events).toMatchInlineSnapshot(`
      [
        {
          "parts": [
            {
              "argsText": "{}",
              "call": "call_5_0",
              "tool": "todo",
              "type": "call",
            },
            {
              "argsText": "{"n": 12345678901234567890 }",
              "call": "call_5_1",
              "tool": "read",
              "type": "call",
            },
          ],
          "stopReason": "tool-calls",
          "type": "answered",
        },
      ]
    `);
  });

  test("an answer in parts: in their order, with what a provider added, and why it stopped", async () => {
    const text = `
cassette: 1
turns:
  - parts:
      - { text: "Before." }
      - { reasoning: "I think.", signature: c2ln, providerMetadataText: '{"p":{"n":12345678901234567000}}' }
      - { tool: read, args: { path: a } }
      - { text: "" }
      - { tool: "", argsText: "{ }" }
    stopReason: length
    perTokenMs: 3
`;
    const { events, pauses } = await play(text, 0);
    expect(events.filter((event) => event.type === "delta")).toEqual([
      { type: "delta", part: "text", text: "Before." },
      { type: "delta", part: "reasoning", text: "I " },
      { type: "delta", part: "reasoning", text: "think." },
    ]);
    expect(pauses).toEqual([3, 3, 3]);
    expect(events.at(-1)).toEqual({
      type: "answered",
      parts: [
        { type: "text", text: "Before." },
        {
          type: "reasoning",
          text: "I think.",
          signature: "c2ln",
          providerMetadata: { p: { n: 12345678901234567000 } },
        },
        { type: "call", call: "call_0_0", tool: "read", argsText: '{"path":"a"}' },
        { type: "text", text: "" },
        { type: "call", call: "call_0_1", tool: "", argsText: "{ }" },
      ],
      stopReason: "length",
    });
  });

  test("a failure that says what it means as it stands, begun where an answer had begun", async () => {
    const error = {
      reason: "quota",
      retryable: true,
      status: 302,
      message: "openai answered HTTP 302",
      retryAfterMs: 1.5,
    };
    const parts = [{ reasoning: "I think" }, { text: "It is" }];
    const text = JSON.stringify({
      cassette: 1,
      turns: [
        { error },
        { error: { ...error, began: true, usage: { input: 3 } } },
        { error: { ...error, parts } },
      ],
    });
    expect((await play(text, 0)).events).toEqual([{ type: "failed", failure: error }]);
    const begun = { ...error, began: true, usage: { input: 3 } };
    expect((await play(text, 1)).events).toEqual([{ type: "failed", failure: begun }]);
    expect((await play(text, 2)).events).toEqual([
      { type: "delta", part: "reasoning", text: "I " },
      { type: "delta", part: "reasoning", text: "think" },
      { type: "delta", part: "text", text: "It " },
      { type: "delta", part: "text", text: "is" },
      { type: "failed", failure: error },
    ]);
  });

  test("the same turn again after a crash, to the letter", async () => {
    expect((await play(demo, 0)).events).toEqual((await play(demo, 0)).events);
  });

  test.each([6, -1, 0.5, undefined])(
    "no turn %s: it is exhausted, and nothing retries that",
    async (index) => {
      expect((await play(demo, index)).events).toMatchObject([
        { type: "failed", failure: { reason: "cassette_exhausted", retryable: false } },
      ]);
    },
  );

  test.each([400, 413])("status %i with an overflow's words as an overflow", async (status) => {
    const text = `{"cassette":1,"turns":[{"error":{"status":${status},"message":"prompt is too long"}}]}`;
    expect((await play(text, 0)).events).toMatchObject([
      { type: "failed", failure: { reason: "context_overflow" } },
    ]);
  });

  test("until it is stopped, and then no further", async () => {
    const abort = new AbortController();
    const { events } = await play(demo, 0, { signal: abort.signal, onEvent: () => abort.abort() });
    expect(events.map((event) => event.type)).toEqual(["delta", "failed"]);
    expect(events[1]).toMatchObject({ failure: { reason: "interrupted", retryable: false } });
  });

  test("nothing, where it was stopped before", async () => {
    const { events } = await play(demo, 0, { signal: AbortSignal.abort() });
    expect(events).toMatchObject([{ type: "failed", failure: { reason: "interrupted" } }]);
  });

  test("an abort ends a pause at once", async () => {
    const model = openModel({
      choice: { provider: "cassette", model: "slow.yaml" },
      environment: {},
      host: outside,
      redact: (message) => message,
      cassette: bytesOf("cassette: 1\nturns: [{ text: late, firstTokenMs: 3600000 }]"),
    });
    const abort = new AbortController();
    const events: ModelEvent[] = [];
    setTimeout(() => abort.abort(), 5);
    for await (const event of model.call(modelCall({ cassetteIndex: 0 }), abort.signal)) events.push(event);
    expect(events).toMatchObject([{ type: "failed", failure: { reason: "interrupted" } }]);
  });

  test("any text in words that together are the text", async () => {
    const text = fc.string({ unit: "binary", maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(text, text, async (reasoning, said) => {
        const { events } = await play(JSON.stringify({ cassette: 1, turns: [{ reasoning, text: said }] }), 0);
        const streamed = { reasoning: "", text: "" };
        for (const event of events) if (event.type === "delta") streamed[event.part] += event.text;
        expect(streamed).toEqual({ reasoning, text: said });
        expect(events.at(-1)).toMatchObject({ type: "answered" });
      }),
    );
  });
});

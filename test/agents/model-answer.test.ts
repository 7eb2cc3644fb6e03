import type { LanguageModelV3StreamPart, LanguageModelV3Usage } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { Answer } from "../../src/agents/builtin/models/answer.ts";
import type { ModelEvent } from "../../src/model/agent.ts";

const noUsage: LanguageModelV3Usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};
const finish: LanguageModelV3StreamPart = {
  type: "finish",
  finishReason: { unified: "stop", raw: "stop" },
  usage: noUsage,
};

function eventsOf(parts: LanguageModelV3StreamPart[]): (ModelEvent | undefined)[] {
  const answer = new Answer();
  const deltas = parts.map((part) => answer.add(part)).filter((event) => event !== undefined);
  return [...deltas, answer.answered()];
}

test("parts that are interleaved keep the order in which they began, and ids may come again", () => {
  const events = eventsOf([
    { type: "stream-start", warnings: [] },
    { type: "response-metadata", id: "resp_1" },
    { type: "reasoning-start", id: "0" },
    { type: "text-start", id: "0" },
    { type: "reasoning-delta", id: "0", delta: "why " },
    { type: "text-delta", id: "0", delta: "so " },
    { type: "reasoning-delta", id: "0", delta: "not" },
    { type: "reasoning-end", id: "0" },
    { type: "tool-input-start", id: "c", toolName: "read" },
    { type: "tool-input-delta", id: "c", delta: "{}" },
    { type: "tool-input-end", id: "c" },
    { type: "tool-call", toolCallId: "c", toolName: "read", input: "{ }" },
    { type: "text-end", id: "0" },
    { type: "text-start", id: "0" },
    { type: "text-delta", id: "0", delta: "again" },
    { type: "text-end", id: "0" },
    finish,
  ]);
  expect(events).toMatchInlineSnapshot(`
    [
      {
        "part": "reasoning",
        "text": "why ",
        "type": "delta",
      },
      {
        "part": "text",
        "text": "so ",
        "type": "delta",
      },
      {
        "part": "reasoning",
        "text": "not",
        "type": "delta",
      },
      {
        "part": "text",
        "text": "again",
        "type": "delta",
      },
      {
        "parts": [
          {
            "text": "why not",
            "type": "reasoning",
          },
          {
            "text": "so ",
            "type": "text",
          },
          {
            "argsText": "{ }",
            "call": "c",
            "tool": "read",
            "type": "call",
          },
          {
            "text": "again",
            "type": "text",
          },
        ],
        "responseId": "resp_1",
        "stopReason": "stop",
        "type": "answered",
      },
    ]
  `);
});

test("what providers want back is gathered from a part's start, pieces and end", () => {
  const events = eventsOf([
    {
      type: "reasoning-start",
      id: "r",
      providerMetadata: { openai: { itemId: "rs", reasoningEncryptedContent: null } },
    },
    {
      type: "reasoning-end",
      id: "r",
      providerMetadata: { openai: { itemId: "rs", reasoningEncryptedContent: "e" } },
    },
    { type: "reasoning-start", id: "s" },
    { type: "reasoning-delta", id: "s", delta: "", providerMetadata: { anthropic: { signature: "sig" } } },
    { type: "reasoning-end", id: "s" },
    finish,
  ]);
  expect(events).toMatchInlineSnapshot(`
    [
      {
        "parts": [
          {
            "providerMetadata": {
              "openai": {
                "itemId": "rs",
                "reasoningEncryptedContent": "e",
              },
            },
            "text": "",
            "type": "reasoning",
          },
          {
            "providerMetadata": {
              "anthropic": {
                "signature": "sig",
              },
            },
            "signature": "sig",
            "text": "",
            "type": "reasoning",
          },
        ],
        "stopReason": "stop",
        "type": "answered",
      },
    ]
  `);
});

test("text and reasoning that came to nothing are no parts", () => {
  const events = eventsOf([
    { type: "text-start", id: "t", providerMetadata: { openai: { itemId: "msg" } } },
    { type: "text-end", id: "t" },
    { type: "reasoning-start", id: "r" },
    { type: "reasoning-end", id: "r" },
    finish,
  ]);
  expect(events).toEqual([{ type: "answered", parts: [], stopReason: "stop" }]);
});

test("a call that the provider ran itself is not ours to run", () => {
  const call = {
    type: "tool-call",
    toolCallId: "c",
    toolName: "web",
    input: "{}",
    providerExecuted: true,
  } as const;
  expect(eventsOf([call, finish])).toMatchObject([{ type: "answered", parts: [] }]);
});

test.each([
  ["stop", "end_turn"],
  ["length", "max_tokens"],
  ["content-filter", "refusal"],
  ["tool-calls", "tool_use"],
  ["error", "MALFORMED_FUNCTION_CALL"],
  ["other", "compaction"],
] as const)("the stop reason %s is told", (unified, raw) => {
  const events = eventsOf([{ type: "finish", finishReason: { unified, raw }, usage: noUsage }]);
  expect(events).toMatchObject([{ type: "answered", stopReason: unified }]);
});

test("an end that the provider gave no reason for is none", () => {
  expect(eventsOf([])).toEqual([undefined]);
  for (const unified of ["other", "error"] as const) {
    const end = { type: "finish", finishReason: { unified, raw: undefined }, usage: noUsage } as const;
    expect(eventsOf([end])).toEqual([undefined]);
  }
});

test("tokens that are no amount are not reported, so that the answer can be recorded", () => {
  const usage: LanguageModelV3Usage = {
    inputTokens: { total: -1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 2.5, text: undefined, reasoning: undefined },
    raw: {},
  };
  const events = eventsOf([{ ...finish, usage }]);
  expect(events).toMatchObject([{ type: "answered", usage: {} }]);
});

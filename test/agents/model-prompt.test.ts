import { describe, expect, test } from "vitest";
import { translateCall } from "../../src/agents/builtin/models/prompt.ts";
import type { ModelCall, PromptPart } from "../../src/model/agent.ts";
import { modelCall } from "./wire.ts";

const anthropic = { provider: "anthropic", model: "claude-sonnet-4-5" } as const;
const openai = { provider: "openai", model: "gpt-5" } as const;
const compatible = { provider: "openai-compatible", model: "local" } as const;
const google = { provider: "google", model: "gemini-2.5-pro" } as const;
const targets = [anthropic, openai, compatible, google];

/** A conversation with everything in it: an image, reasoning of each maker, two calls, an error. */
const whole: ModelCall = modelCall({
  tools: [
    {
      name: "read",
      description: "Reads a file.",
      parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    },
  ],
  messages: [
    {
      role: "user",
      parts: [
        { type: "text", text: "Look" },
        { type: "image", base64: "aGk=", mediaType: "image/png" },
      ],
    },
    {
      role: "assistant",
      parts: [
        {
          type: "reasoning",
          text: "a",
          signature: "sig",
          providerMetadata: { anthropic: { signature: "sig" } },
        },
        {
          type: "reasoning",
          text: "",
          providerMetadata: { openai: { itemId: "rs_1", reasoningEncryptedContent: "enc" } },
        },
        { type: "reasoning", text: "g", providerMetadata: { google: { thoughtSignature: "ts" } } },
        { type: "reasoning", text: "plain" },
        { type: "text", text: "Reading.", providerMetadata: { openai: { itemId: "msg_1" } } },
        { type: "tool_call", call: "op_1", tool: "read", args: { path: "a" }, argsText: '{ "path":"a" }' },
        { type: "tool_call", call: "op_2", tool: "read", args: '{"pa', argsText: '{"pa' },
      ],
    },
    {
      role: "tool",
      parts: [
        { type: "tool_result", call: "op_1", tool: "read", output: "A", isError: false },
        { type: "tool_result", call: "op_2", tool: "read", output: "bad arguments", isError: true },
      ],
    },
  ],
});

/** The request as lines: the options, then each message. */
function linesOf(target: (typeof targets)[number]): string {
  const { prompt, ...rest } = translateCall(whole, target);
  return [rest, ...prompt].map((line) => JSON.stringify(line)).join("\n");
}

test("the whole conversation, for Anthropic: only its own reasoning, and marks for the cache", () => {
  expect(linesOf(anthropic)).toMatchInlineSnapshot(`
    "{"tools":[{"type":"function","name":"read","description":"Reads a file.","inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}],"maxOutputTokens":32000,"providerOptions":{"anthropic":{"toolStreaming":false}}}
    {"role":"system","content":"You help.","providerOptions":{"anthropic":{"cacheControl":{"type":"ephemeral"}}}}
    {"role":"user","content":[{"type":"text","text":"Look"},{"type":"file","data":"aGk=","mediaType":"image/png"}],"providerOptions":{"anthropic":{"cacheControl":{"type":"ephemeral"}}}}
    {"role":"assistant","content":[{"type":"reasoning","text":"a","providerOptions":{"anthropic":{"signature":"sig"}}},{"type":"text","text":"Reading.","providerOptions":{"openai":{"itemId":"msg_1"}}},{"type":"tool-call","toolCallId":"op_1","toolName":"read","input":{"path":"a"}},{"type":"tool-call","toolCallId":"op_2","toolName":"read","input":{"arguments":"{\\"pa"}}]}
    {"role":"tool","content":[{"type":"tool-result","toolCallId":"op_1","toolName":"read","output":{"type":"text","value":"A"}},{"type":"tool-result","toolCallId":"op_2","toolName":"read","output":{"type":"error-text","value":"bad arguments"}}],"providerOptions":{"anthropic":{"cacheControl":{"type":"ephemeral"}}}}"
  `);
});

test("the whole conversation, for OpenAI: stateless, its own reasoning, arguments as they came", () => {
  expect(linesOf(openai)).toMatchInlineSnapshot(`
    "{"tools":[{"type":"function","name":"read","description":"Reads a file.","inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]},"strict":false}],"providerOptions":{"openai":{"store":false,"include":["reasoning.encrypted_content"]}}}
    {"role":"system","content":"You help."}
    {"role":"user","content":[{"type":"text","text":"Look"},{"type":"file","data":"aGk=","mediaType":"image/png"}]}
    {"role":"assistant","content":[{"type":"reasoning","text":"","providerOptions":{"openai":{"itemId":"rs_1","reasoningEncryptedContent":"enc"}}},{"type":"text","text":"Reading.","providerOptions":{"openai":{"itemId":"msg_1"}}},{"type":"tool-call","toolCallId":"op_1","toolName":"read","input":"{ \\"path\\":\\"a\\" }"},{"type":"tool-call","toolCallId":"op_2","toolName":"read","input":{"arguments":"{\\"pa"}}]}
    {"role":"tool","content":[{"type":"tool-result","toolCallId":"op_1","toolName":"read","output":{"type":"text","value":"A"}},{"type":"tool-result","toolCallId":"op_2","toolName":"read","output":{"type":"error-text","value":"bad arguments"}}]}"
  `);
});

test("the whole conversation, for Chat Completions: only reasoning without a proof", () => {
  expect(linesOf(compatible)).toMatchInlineSnapshot(`
    "{"tools":[{"type":"function","name":"read","description":"Reads a file.","inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}]}
    {"role":"system","content":"You help."}
    {"role":"user","content":[{"type":"text","text":"Look"},{"type":"file","data":"aGk=","mediaType":"image/png"}]}
    {"role":"assistant","content":[{"type":"reasoning","text":"plain"},{"type":"text","text":"Reading.","providerOptions":{"openai":{"itemId":"msg_1"}}},{"type":"tool-call","toolCallId":"op_1","toolName":"read","input":"{ \\"path\\":\\"a\\" }"},{"type":"tool-call","toolCallId":"op_2","toolName":"read","input":{"arguments":"{\\"pa"}}]}
    {"role":"tool","content":[{"type":"tool-result","toolCallId":"op_1","toolName":"read","output":{"type":"text","value":"A"}},{"type":"tool-result","toolCallId":"op_2","toolName":"read","output":{"type":"error-text","value":"bad arguments"}}]}"
  `);
});

test("the whole conversation, for Google: only its own reasoning", () => {
  expect(linesOf(google)).toMatchInlineSnapshot(`
    "{"tools":[{"type":"function","name":"read","description":"Reads a file.","inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}]}
    {"role":"system","content":"You help."}
    {"role":"user","content":[{"type":"text","text":"Look"},{"type":"file","data":"aGk=","mediaType":"image/png"}]}
    {"role":"assistant","content":[{"type":"reasoning","text":"g","providerOptions":{"google":{"thoughtSignature":"ts"}}},{"type":"text","text":"Reading.","providerOptions":{"openai":{"itemId":"msg_1"}}},{"type":"tool-call","toolCallId":"op_1","toolName":"read","input":{"path":"a"}},{"type":"tool-call","toolCallId":"op_2","toolName":"read","input":{"arguments":"{\\"pa"}}]}
    {"role":"tool","content":[{"type":"tool-result","toolCallId":"op_1","toolName":"read","output":{"type":"text","value":"A"}},{"type":"tool-result","toolCallId":"op_2","toolName":"read","output":{"type":"error-text","value":"bad arguments"}}]}"
  `);
});

describe("every provider", () => {
  test.each(targets)("$provider gets the same request for the same call", (target) => {
    const once = JSON.stringify(translateCall(whole, target));
    expect(JSON.stringify(translateCall(structuredClone(whole), target))).toBe(once);
  });

  test.each(targets)("$provider gets no system message, tool list or message that is empty", (target) => {
    const call = modelCall({
      system: "",
      messages: [
        { role: "user", parts: [{ type: "text", text: "Hi" }] },
        {
          role: "assistant",
          parts: [{ type: "reasoning", text: "x", providerMetadata: { other: { proof: 1 } } }],
        },
        { role: "user", parts: [{ type: "text", text: "Go on" }] },
      ],
    });
    const { prompt, tools } = translateCall(call, target);
    expect(prompt).toMatchObject([
      {
        role: "user",
        content: [
          { type: "text", text: "Hi" },
          { type: "text", text: "Go on" },
        ],
      },
    ]);
    expect(tools).toBeUndefined();
  });

  test.each(targets)("$provider gets no reasoning that nothing follows", (target) => {
    const own = (text: string): PromptPart => ({
      type: "reasoning",
      text,
      ...(target.provider !== "openai-compatible" && {
        providerMetadata: {
          [target.provider]: {
            signature: "s",
            thoughtSignature: "s",
            itemId: text,
            reasoningEncryptedContent: "s",
          },
        },
      }),
    });
    const parts: PromptPart[] = [own("first"), { type: "text", text: "Said." }, own("last")];
    const { prompt } = translateCall(
      modelCall({ system: "", messages: [{ role: "assistant", parts }] }),
      target,
    );
    expect(prompt[0]?.content).toMatchObject([{ type: "reasoning", text: "first" }, { type: "text" }]);
    const alone = translateCall(
      modelCall({ system: "", messages: [{ role: "assistant", parts: [own("all")] }] }),
      target,
    );
    expect(alone.prompt).toEqual([]);
  });

  test("OpenAI gets no reasoning whose proof is in its store alone", () => {
    const item = (itemId: string, text: string, proof?: string): PromptPart => ({
      type: "reasoning",
      text,
      providerMetadata: { openai: { itemId, reasoningEncryptedContent: proof ?? null } },
    });
    const parts: PromptPart[] = [
      item("rs_1", "stored"),
      item("rs_2", "one part"),
      item("rs_2", "its last part", "enc"),
      { type: "text", text: "Said." },
    ];
    const { prompt } = translateCall(
      modelCall({ system: "", messages: [{ role: "assistant", parts }] }),
      openai,
    );
    expect(prompt[0]?.content).toMatchObject([
      { text: "one part" },
      { text: "its last part" },
      { text: "Said." },
    ]);
  });
});

describe("a longer conversation", () => {
  const turns = [1, 2, 3, 4].flatMap((turn): ModelCall["messages"] => [
    { role: "user", parts: [{ type: "text", text: `question ${turn}` }] },
    { role: "assistant", parts: [{ type: "text", text: `answer ${turn}` }] },
  ]);
  const messages: ModelCall["messages"] = [
    ...turns,
    { role: "user", parts: [{ type: "text", text: "last" }] },
  ];

  test("keeps Anthropic's cache warm where the last call left it, and marks no more than it may", () => {
    const { prompt } = translateCall(modelCall({ messages }), anthropic);
    const marked = prompt.flatMap((message, index) => (message.providerOptions === undefined ? [] : [index]));
    expect(marked).toEqual([0, 7, 9]);
    const before = translateCall(modelCall({ messages: messages.slice(0, -2) }), anthropic).prompt;
    expect(before.at(-1)).toEqual(prompt[7]);
  });
});

describe("one part", () => {
  const translated = (part: PromptPart, target: (typeof targets)[number]): unknown => {
    const { prompt } = translateCall(
      modelCall({
        system: "",
        messages: [{ role: "assistant", parts: [part, { type: "text", text: "And." }] }],
      }),
      target,
    );
    const content = prompt[0]?.content;
    return Array.isArray(content) ? content[0] : undefined;
  };

  test("a signature without metadata is enough for Anthropic", () => {
    expect(translated({ type: "reasoning", text: "r", signature: "s" }, anthropic)).toEqual({
      type: "reasoning",
      text: "r",
      providerOptions: { anthropic: { signature: "s" } },
    });
  });

  test("Gemini's proof of a call, as it comes over Chat Completions, goes back where the package looks for it", () => {
    const providerMetadata = { "openai-compatible": { thoughtSignature: "ts" } };
    const part: PromptPart = { type: "tool_call", call: "op_1", tool: "read", args: {}, providerMetadata };
    expect(translated(part, compatible)).toMatchObject({
      providerOptions: { google: { thoughtSignature: "ts" } },
    });
  });

  test.each(targets)("arguments that are no object become one, for $provider", (target) => {
    const part: PromptPart = {
      type: "tool_call",
      call: "op_1",
      tool: "read",
      args: [1, 2],
      argsText: "[1,2]",
    };
    expect(translated(part, target)).toMatchObject({ input: { arguments: [1, 2] } });
  });
});

test("OpenAI's models that do not reason are not asked for their reasoning", () => {
  const asked = (model: string): boolean =>
    JSON.stringify(translateCall(modelCall(), { provider: "openai", model })).includes("encrypted_content");
  const models = ["gpt-4o", "gpt-4.1", "gpt-5-chat-latest", "chatgpt-4o-latest", "gpt-5.1-chat-latest"];
  expect(models.map(asked)).toEqual(models.map(() => false));
  expect(["gpt-5", "gpt-5.1-codex", "o3", "o4-mini", "some-gateway-model"].every(asked)).toBe(true);
});

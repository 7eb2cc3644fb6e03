import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AnswerPart, PromptPart } from "../../src/model/agent.ts";
import type { Json } from "../../src/model/values.ts";
import { type ModelServer, type ModelTurn, startModelServer } from "../peers/model-server.ts";
import { answeredIn, callOver, modelCall, type Wire } from "./wire.ts";

// What a model said goes back to it as it came: over the real provider packages and a real server.

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer();
});
afterEach(() => server.close());

/** An answer's part as it is sent back, with an operation's id in place of the provider's. */
function sentBack(part: AnswerPart): PromptPart {
  if (part.type !== "call") return part;
  const { tool, argsText, providerMetadata } = part;
  const call = `op_${part.call}`;
  const args = JSON.parse(argsText) as Json;
  return {
    type: "tool_call",
    call,
    tool,
    args,
    argsText,
    ...(providerMetadata !== undefined && { providerMetadata }),
  };
}

async function callAgain(wire: Wire, parts: AnswerPart[]): Promise<Record<string, unknown>> {
  const calls = parts.filter((part) => part.type === "call");
  server.push({ text: "Done." });
  await callOver(wire, server.url, {
    call: modelCall({
      messages: [
        { role: "user", parts: [{ type: "text", text: "Hello" }] },
        { role: "assistant", parts: parts.map(sentBack) },
        {
          role: "tool",
          parts: calls.map(({ call, tool }) => ({
            type: "tool_result",
            call: `op_${call}`,
            tool,
            output: "ok",
            isError: false,
          })),
        },
      ],
    }),
  });
  return server.requests.at(-1)?.body ?? {};
}

const oddArgs = '{"z":1,  "a":12345678901234567890,\n"path":"ä\\u0000"}';
const wholeTurn: ModelTurn = {
  reasoning: { text: "Let me think about it.", signature: "EqQBCk+/w==" },
  text: "Héllo wörld ✓",
  calls: [
    { id: "call_a", name: "read", args: oddArgs },
    { id: "call_b", name: "glob", args: '{"pattern":"*"}' },
  ],
  usage: { input: 100, output: 20, cachedInput: 40, reasoning: 5 },
};

describe("proofs of reasoning", () => {
  const signature = `EqQBCkYI${'+/="\\\u2028é '.repeat(200)}==`;

  test("Anthropic's signature comes back byte for byte", async () => {
    server.push({ ...wholeTurn, reasoning: { text: " thought\n", signature } });
    const answer = answeredIn(await callOver("anthropic", server.url));
    expect(answer.parts[0]).toMatchObject({ type: "reasoning", signature });
    const { messages } = (await callAgain("anthropic", answer.parts)) as {
      messages: { content: unknown[] }[];
    };
    expect(messages[1]?.content[0]).toEqual({ type: "thinking", thinking: " thought\n", signature });
  });

  test("OpenAI's encrypted content comes back byte for byte, and no call depends on what it stored", async () => {
    server.push({ ...wholeTurn, reasoning: { text: "thought", signature } });
    const answer = answeredIn(await callOver("openai", server.url));
    const body = await callAgain("openai", answer.parts);
    const input = body["input"] as Record<string, unknown>[];
    expect(body).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] });
    expect(input.find((item) => item["type"] === "reasoning")).toEqual({
      type: "reasoning",
      id: "rs_0",
      encrypted_content: signature,
      summary: [{ type: "summary_text", text: "thought" }],
    });
    expect(input.some((item) => item["type"] === "item_reference")).toBe(false);
    const ids = input.flatMap((item) => (typeof item["call_id"] === "string" ? [item["call_id"]] : []));
    expect(ids).toEqual(["op_call_a", "op_call_b", "op_call_a", "op_call_b"]);
  });

  test("Google's signature comes back byte for byte", async () => {
    server.push({ ...wholeTurn, reasoning: { text: "t", signature } });
    const answer = answeredIn(await callOver("google", server.url));
    const { contents } = (await callAgain("google", answer.parts)) as { contents: { parts: unknown[] }[] };
    expect(contents[1]?.parts[0]).toEqual({ text: "t", thought: true, thoughtSignature: signature });
  });

  test("reasoning of Chat Completions comes back as it came", async () => {
    server.push({ ...wholeTurn, reasoning: { text: " thought\n" } });
    const answer = answeredIn(await callOver("openai-compatible", server.url));
    const { messages } = (await callAgain("openai-compatible", answer.parts)) as { messages: unknown[] };
    expect(messages[2]).toMatchObject({ role: "assistant", reasoning_content: " thought\n" });
  });

  test.each(["anthropic", "openai"] as const)("reasoning of %s that is all proof is kept", async (wire) => {
    server.push({ ...wholeTurn, reasoning: { text: "", signature } });
    const answer = answeredIn(await callOver(wire, server.url));
    expect(answer.parts[0]).toMatchObject({ type: "reasoning", text: "" });
    expect(JSON.stringify(await callAgain(wire, answer.parts))).toContain(JSON.stringify(signature));
  });
});

describe("arguments", () => {
  test.each(["anthropic", "openai", "openai-compatible"] as const)(
    "%s: kept exactly as streamed",
    async (wire) => {
      server.push(wholeTurn);
      const { parts } = answeredIn(await callOver(wire, server.url));
      expect(parts[2]).toMatchObject({ type: "call", argsText: oddArgs });
    },
  );

  test.each(["anthropic", "openai", "openai-compatible"] as const)(
    "%s: broken ones reach us as they are",
    async (wire) => {
      const args = '{"path": "a", ';
      server.push({ calls: [{ id: "call_a", name: "read", args }] });
      const { parts } = answeredIn(await callOver(wire, server.url));
      expect(parts).toMatchObject([{ type: "call", argsText: args }]);
    },
  );

  test.each(["openai", "openai-compatible"] as const)(
    "%s gets its own text back, big numbers included",
    async (wire) => {
      server.push(wholeTurn);
      const body = await callAgain(wire, answeredIn(await callOver(wire, server.url)).parts);
      expect(JSON.stringify(body)).toContain(JSON.stringify(oddArgs));
    },
  );

  test.each(["anthropic", "openai", "openai-compatible"] as const)(
    "%s: none is an empty object",
    async (wire) => {
      server.push({ calls: [{ id: "call_a", name: "todo", args: "" }] });
      const { parts } = answeredIn(await callOver(wire, server.url));
      expect(parts).toMatchObject([{ type: "call", argsText: "{}" }]);
    },
  );
});

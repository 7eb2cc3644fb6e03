import type {
  LanguageModelV3CallOptions,
  LanguageModelV3FilePart,
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3ReasoningPart,
  LanguageModelV3TextPart,
  LanguageModelV3ToolCallPart,
  LanguageModelV3ToolResultPart,
  SharedV3ProviderOptions,
} from "@ai-sdk/provider";
import type { ModelCall, PromptMessage, PromptPart, ToolDescription } from "../../../model/agent.ts";
import type { Json } from "../../../model/values.ts";
import { isRecord } from "../../../model/values.ts";
import type { ProviderName } from "./choice.ts";
import { parseJson } from "./json.ts";
import { compatibleName } from "./providers.ts";

/** Our model call as the provider's package wants it. Pure: the same call always becomes the same request. */

type PartOf<Type extends PromptPart["type"]> = Extract<PromptPart, { type: Type }>;

/** What a turn of a coding agent needs at most; the package lowers it for models that allow less. */
const anthropicOutputTokensMax = 32_000;

/** OpenAI's models that do not reason, and refuse a request that asks for their reasoning. */
const withoutReasoning = /^(?:gpt-3\.5|gpt-4|chatgpt-|gpt-\d+(?:\.\d+)?-chat)/;

const cacheHere: SharedV3ProviderOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };

/** Translates one call for one model. Reasoning of other providers is left out: only its maker can read it. */
export function translateCall(
  call: ModelCall,
  target: { provider: ProviderName; model: string },
): LanguageModelV3CallOptions {
  const { provider } = target;
  const messages = call.messages.flatMap((message) => translateMessage(message, provider));
  const prompt: LanguageModelV3Message[] = [];
  if (call.system !== "") prompt.push({ role: "system", content: call.system });
  for (const message of messages) {
    const before = prompt.at(-1);
    // Some providers refuse turns that do not alternate, as they do after a task that nobody answered.
    if (before?.role === "user" && message.role === "user") before.content.push(...message.content);
    else prompt.push(message);
  }
  const tools = call.tools.map((tool) => translateTool(tool, provider));
  const options: LanguageModelV3CallOptions = { prompt, ...(tools.length > 0 && { tools }) };
  switch (provider) {
    case "anthropic":
      return {
        ...options,
        prompt: markForCache(prompt),
        maxOutputTokens: anthropicOutputTokensMax,
        // Arguments come checked and whole instead of early: nothing here shows them while they grow.
        providerOptions: { anthropic: { toolStreaming: false } },
      };
    case "openai":
      return { ...options, providerOptions: { openai: openaiOptions(target.model) } };
    case "openai-compatible":
    case "google":
      return options;
  }
}

/** Nothing may depend on what OpenAI keeps: the whole conversation goes with each call, its reasoning encrypted. */
function openaiOptions(model: string): { store: false; include?: string[] } {
  return { store: false, ...(!withoutReasoning.test(model) && { include: ["reasoning.encrypted_content"] }) };
}

/**
 * Marks the system text and the ends of the last two turns: the newest prefix is written to the cache, the one
 * before it is where this call's prefix is found again.
 */
function markForCache(prompt: LanguageModelV3Message[]): LanguageModelV3Message[] {
  const ends = prompt.flatMap((message, index) => {
    const isTurnEnd = message.role === "user" || message.role === "tool";
    const next = prompt[index + 1]?.role;
    return isTurnEnd && (next === undefined || next === "assistant") ? [index] : [];
  });
  const marked = new Set(ends.slice(-2));
  return prompt.map((message, index) =>
    message.role === "system" || marked.has(index) ? { ...message, providerOptions: cacheHere } : message,
  );
}

function translateTool(tool: ToolDescription, provider: ProviderName): LanguageModelV3FunctionTool {
  return {
    type: "function",
    name: tool.name,
    description: tool.description,
    inputSchema: tool.parameters as LanguageModelV3FunctionTool["inputSchema"],
    // OpenAI takes an absent member for true, and strict schemas know no optional argument.
    ...(provider === "openai" && { strict: false }),
  };
}

function translateMessage(message: PromptMessage, provider: ProviderName): LanguageModelV3Message[] {
  switch (message.role) {
    case "user": {
      const content = message.parts.flatMap(userPart);
      return content.length > 0 ? [{ role: "user", content }] : [];
    }
    case "assistant": {
      const parts = provider === "openai" ? withProof(message.parts) : message.parts;
      const content = parts.flatMap((part) => assistantPart(part, provider));
      // Reasoning is refused where nothing follows it: it is the reasoning of something.
      const end = content.findLastIndex((part) => part.type !== "reasoning") + 1;
      return end > 0 ? [{ role: "assistant", content: content.slice(0, end) }] : [];
    }
    case "tool": {
      const content = message.parts.flatMap(resultPart);
      return content.length > 0 ? [{ role: "tool", content }] : [];
    }
  }
}

/**
 * OpenAI's reasoning comes in parts of one item, and one of them has its proof. Without a proof the item would stand in
 * a store of theirs, which nothing here depends on, and a request that names it is refused.
 */
function withProof(parts: readonly PromptPart[]): PromptPart[] {
  const proven = new Set(
    parts.flatMap((part) => (itemOf(part).proof === undefined ? [] : [itemOf(part).id])),
  );
  return parts.filter((part) => part.type !== "reasoning" || proven.has(itemOf(part).id));
}

function itemOf(part: PromptPart): { id?: unknown; proof?: string } {
  if (part.type !== "reasoning" || !isRecord(part.providerMetadata)) return {};
  const metadata = part.providerMetadata["openai"];
  if (!isRecord(metadata)) return {};
  const { itemId: id, reasoningEncryptedContent: proof } = metadata;
  return typeof proof === "string" && proof !== "" ? { id, proof } : { id };
}

function userPart(part: PromptPart): (LanguageModelV3TextPart | LanguageModelV3FilePart)[] {
  if (part.type === "text") return [{ type: "text", text: part.text }];
  if (part.type === "image") return [{ type: "file", data: part.base64, mediaType: part.mediaType }];
  return [];
}

function resultPart(part: PromptPart): LanguageModelV3ToolResultPart[] {
  if (part.type !== "tool_result") return [];
  const { call, tool, output, isError } = part;
  const type = isError ? "error-text" : "text";
  return [{ type: "tool-result", toolCallId: call, toolName: tool, output: { type, value: output } }];
}

function assistantPart(
  part: PromptPart,
  provider: ProviderName,
): (LanguageModelV3TextPart | LanguageModelV3ReasoningPart | LanguageModelV3ToolCallPart)[] {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text, ...optionsOf(part.providerMetadata) }];
    case "reasoning":
      return reasoningPart(part, provider);
    case "tool_call":
      return [
        {
          type: "tool-call",
          toolCallId: part.call,
          toolName: part.tool,
          input: inputOf(part, provider),
          ...callOptions(part.providerMetadata, provider),
        },
      ];
    case "image":
    case "tool_result":
      return [];
  }
}

function reasoningPart(part: PartOf<"reasoning">, provider: ProviderName): LanguageModelV3ReasoningPart[] {
  const reasoning = { type: "reasoning" as const, text: part.text };
  const metadata = part.providerMetadata;
  if (provider === "openai-compatible") {
    // Chat Completions has no proof of reasoning: what has one is not from there.
    return metadata === undefined && part.signature === undefined ? [reasoning] : [];
  }
  if (isRecord(metadata))
    return metadata[provider] === undefined ? [] : [{ ...reasoning, ...optionsOf(metadata) }];
  if (provider !== "anthropic" || part.signature === undefined) return [];
  return [{ ...reasoning, providerOptions: { anthropic: { signature: part.signature } } }];
}

/** Providers take arguments as an object; OpenAI's two protocols take their text, which then stays as it came. */
function inputOf(part: PartOf<"tool_call">, provider: ProviderName): Json {
  const takesText = provider === "openai" || provider === "openai-compatible";
  if (takesText && part.argsText !== undefined && isRecord(parseJson(part.argsText))) return part.argsText;
  return isRecord(part.args) ? part.args : { arguments: part.args };
}

function callOptions(
  metadata: Json | undefined,
  provider: ProviderName,
): { providerOptions?: SharedV3ProviderOptions } {
  if (provider !== "openai-compatible" || !isRecord(metadata)) return optionsOf(metadata);
  // The package gives Gemini's proof of a call under its own name and takes it back under Google's.
  const own = metadata[compatibleName];
  const proof = isRecord(own) ? own["thoughtSignature"] : undefined;
  return proof === undefined ? {} : { providerOptions: { google: { thoughtSignature: proof } } };
}

function optionsOf(metadata: Json | undefined): { providerOptions?: SharedV3ProviderOptions } {
  return isRecord(metadata) ? { providerOptions: metadata as SharedV3ProviderOptions } : {};
}

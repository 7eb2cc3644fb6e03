import type { LanguageModelV3StreamPart, LanguageModelV3Usage } from "@ai-sdk/provider";
import type { AnswerPart, ModelEvent } from "../../../model/agent.ts";
import type { Json, Usage } from "../../../model/values.ts";

/** The stream of a provider's package as our events. Pure: state in, part in, event out. */

type StreamPart = LanguageModelV3StreamPart;
type ProsePart = Extract<AnswerPart, { type: "text" | "reasoning" }>;
type Delta = Extract<ModelEvent, { type: "delta" }>;
type Answered = Extract<ModelEvent, { type: "answered" }>;

/**
 * One answer as it grows. Parts stand in the order in which the model began them; what providers want back
 * (`providerMetadata`) is kept whole, and a call's arguments exactly as they were streamed.
 */
export class Answer {
  readonly #parts: AnswerPart[] = [];
  readonly #open = new Map<string, ProsePart>();
  #responseId: string | undefined;
  #finish: Extract<StreamPart, { type: "finish" }> | undefined;
  #begun = false;

  /** True once the provider sent anything of an answer. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Takes the next part in; returns what of it is shown at once. Errors are not its business and are passed over. */
  add(part: StreamPart): Delta | undefined {
    if (part.type !== "stream-start" && part.type !== "error" && part.type !== "finish") this.#begun = true;
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        this.#start(proseOf(part.type), part.id, part.providerMetadata);
        return undefined;
      case "text-delta":
      case "reasoning-delta":
        return this.#grow(proseOf(part.type), part);
      case "text-end":
      case "reasoning-end":
        this.#keep(this.#open.get(`${proseOf(part.type)} ${part.id}`), part.providerMetadata);
        return undefined;
      case "tool-call":
        this.#call(part);
        return undefined;
      case "response-metadata":
        this.#responseId = part.id ?? this.#responseId;
        return undefined;
      case "finish":
        this.#finish = part;
        return undefined;
      case "stream-start":
      case "tool-input-start":
      case "tool-input-delta":
      case "tool-input-end":
      case "tool-approval-request":
      case "tool-result":
      case "file":
      case "source":
      case "raw":
      case "error":
        return undefined;
    }
  }

  /** The whole answer; undefined where the stream ended before the provider said that it was whole. */
  answered(): Answered | undefined {
    const finish = this.#finish;
    // Packages end every stream with a finish; one that the provider did not send has no reason of its own.
    const { unified, raw } = finish?.finishReason ?? { unified: "other", raw: undefined };
    if (finish === undefined || (raw === undefined && (unified === "other" || unified === "error")))
      return undefined;
    const usage = usageOf(finish.usage);
    return {
      type: "answered",
      parts: this.#parts.filter(hasContent),
      ...(usage !== undefined && { usage }),
      stopReason: unified,
      ...(this.#responseId !== undefined && { responseId: this.#responseId }),
    };
  }

  #start(type: ProsePart["type"], id: string, metadata: unknown): ProsePart {
    const part: ProsePart = { type, text: "" };
    this.#parts.push(part);
    this.#open.set(`${type} ${id}`, part);
    this.#keep(part, metadata);
    return part;
  }

  #grow(
    type: ProsePart["type"],
    { id, delta, providerMetadata }: { id: string; delta: string; providerMetadata?: unknown },
  ): Delta | undefined {
    const part = this.#open.get(`${type} ${id}`) ?? this.#start(type, id, undefined);
    part.text += delta;
    this.#keep(part, providerMetadata);
    return delta === "" ? undefined : { type: "delta", part: type, text: delta };
  }

  #call(part: Extract<StreamPart, { type: "tool-call" }>): void {
    // What a provider runs itself is nobody's call here; we never offer such tools.
    if (part.providerExecuted === true) return;
    const argsText = part.input.trim() === "" ? "{}" : part.input;
    const call: AnswerPart = { type: "call", call: part.toolCallId, tool: part.toolName, argsText };
    this.#keep(call, part.providerMetadata);
    this.#parts.push(call);
  }

  /** Later metadata of a part adds to earlier, member by member within each provider. */
  #keep(part: AnswerPart | undefined, metadata: unknown): void {
    const added = plainObject(metadata);
    if (part === undefined || added === undefined) return;
    const kept = plainObject(part.providerMetadata) ?? {};
    for (const [provider, value] of Object.entries(added)) {
      kept[provider] = { ...plainObject(kept[provider]), ...plainObject(value) };
    }
    part.providerMetadata = kept;
    const signature = plainObject(kept["anthropic"])?.["signature"];
    if (part.type === "reasoning" && typeof signature === "string") part.signature = signature;
  }
}

function proseOf(type: `${ProsePart["type"]}-${string}`): ProsePart["type"] {
  return type.startsWith("text") ? "text" : "reasoning";
}

/** Reasoning may be all proof and no text: hidden, encrypted, or redacted by the provider. It must go back as it came. */
function hasContent(part: AnswerPart): boolean {
  if (part.type === "call" || part.text !== "") return true;
  return part.type === "reasoning" && part.providerMetadata !== undefined;
}

/** A copy that is JSON and nothing else; packages leave members that are undefined. */
function plainObject(value: unknown): { [key: string]: Json } | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return JSON.parse(JSON.stringify(value)) as { [key: string]: Json };
}

/** Where the four protocols report what was cached, and what was spent on reasoning. */
const cachedPaths = [
  ["cache_read_input_tokens"],
  ["input_tokens_details", "cached_tokens"],
  ["prompt_tokens_details", "cached_tokens"],
  ["cachedContentTokenCount"],
];
const reasoningPaths = [
  ["output_tokens_details", "thinking_tokens"],
  ["output_tokens_details", "reasoning_tokens"],
  ["completion_tokens_details", "reasoning_tokens"],
  ["thoughtsTokenCount"],
];

/** Only what the provider reported: the packages fill what it did not with zeros. */
function usageOf(reported: LanguageModelV3Usage): Usage | undefined {
  const { inputTokens, outputTokens, raw } = reported;
  if (raw === undefined) return undefined;
  const cached = inputTokens.cacheRead;
  const reasoning = outputTokens.reasoning;
  return {
    ...(inputTokens.total !== undefined && { input: inputTokens.total }),
    ...(outputTokens.total !== undefined && { output: outputTokens.total }),
    ...(cached !== undefined && isReported(raw, cachedPaths) && { cachedInput: cached }),
    ...(reasoning !== undefined && isReported(raw, reasoningPaths) && { reasoning }),
  };
}

function isReported(raw: unknown, paths: readonly (readonly string[])[]): boolean {
  return paths.some((path) => {
    let value: unknown = raw;
    for (const key of path) value = (value as Record<string, unknown> | null | undefined)?.[key];
    return typeof value === "number";
  });
}

import type { LanguageModelV3StreamPart, LanguageModelV3Usage } from "@ai-sdk/provider";
import type { AnswerPart, ModelEvent } from "../../../model/agent.ts";
import type { Json, Usage } from "../../../model/values.ts";
import { isRecord } from "../../../model/values.ts";

/** The stream of a provider's package as our events. Pure: state in, part in, event out. */

type StreamPart = LanguageModelV3StreamPart;
type ProsePart = Extract<AnswerPart, { type: "text" | "reasoning" }>;
type ProseStreamPart = Extract<StreamPart, { type: `${"text" | "reasoning"}-${string}` }>;
type Delta = Extract<ModelEvent, { type: "delta" }>;
type Answered = Extract<ModelEvent, { type: "answered" }>;

/** Words of servers that imitate Chat Completions, for an answer that a filter stopped. */
const filterWords: ReadonlySet<string> = new Set(["sensitive", "safety", "recitation"]);

/** Stream parts that say nothing of an answer. */
const noAnswer: ReadonlySet<StreamPart["type"]> = new Set(["stream-start", "error", "finish"]);

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
    if (!noAnswer.has(part.type)) this.#begun = true;
    if (isProse(part)) return this.#prose(part);
    if (part.type === "tool-call") this.#call(part);
    else if (part.type === "response-metadata") this.#responseId = part.id ?? this.#responseId;
    else if (part.type === "finish") this.#finish = part;
    return undefined;
  }

  /** Why it stopped, in the provider's own word; undefined where it said none. */
  get stopWord(): string | undefined {
    return this.#finish?.finishReason.raw;
  }

  /** The whole answer; undefined where the stream ended before the provider said that it was whole. */
  answered(): Answered | undefined {
    const finish = this.#finish;
    if (finish === undefined) return undefined;
    const { unified, raw } = finish.finishReason;
    // Packages end every stream with a finish; where the provider sent none, it has no reason that is the provider's.
    if (raw === undefined && (unified === "other" || unified === "error")) return undefined;
    const usage = usageOf(finish.usage);
    return {
      type: "answered",
      parts: this.#parts.filter(hasContent),
      ...(usage !== undefined && { usage }),
      stopReason: filterWords.has(raw ?? "") ? "content-filter" : unified,
      ...(this.#responseId !== undefined && { responseId: this.#responseId }),
    };
  }

  #prose(part: ProseStreamPart): Delta | undefined {
    const type = part.type.startsWith("text") ? "text" : "reasoning";
    const key = `${type} ${part.id}`;
    // Ids come again once their part has ended, so a start always begins a new one.
    const open = part.type.endsWith("-start") ? undefined : this.#open.get(key);
    const prose: ProsePart = open ?? { type, text: "" };
    if (open === undefined) {
      this.#parts.push(prose);
      this.#open.set(key, prose);
    }
    this.#keep(prose, part.providerMetadata);
    if (!("delta" in part) || part.delta === "") return undefined;
    prose.text += part.delta;
    return { type: "delta", part: type, text: part.delta };
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
  #keep(part: AnswerPart, metadata: unknown): void {
    const added = plainObject(metadata);
    if (added === undefined) return;
    const kept = plainObject(part.providerMetadata) ?? {};
    for (const [provider, value] of Object.entries(added)) {
      kept[provider] = { ...plainObject(kept[provider]), ...plainObject(value) };
    }
    part.providerMetadata = kept;
    const signature = plainObject(kept["anthropic"])?.["signature"];
    if (part.type === "reasoning" && typeof signature === "string") part.signature = signature;
  }
}

function isProse(part: StreamPart): part is ProseStreamPart {
  return /^(?:text|reasoning)-(?:start|delta|end)$/.test(part.type);
}

/** Reasoning may be all proof and no text: hidden, encrypted, or redacted by the provider. It must go back as it came. */
function hasContent(part: AnswerPart): boolean {
  if (part.type === "call" || part.text !== "") return true;
  return part.type === "reasoning" && part.providerMetadata !== undefined;
}

/** A copy that is JSON and nothing else; packages leave members that are undefined. */
function plainObject(value: unknown): { [key: string]: Json } | undefined {
  if (!isRecord(value)) return undefined;
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
    ...(isCount(inputTokens.total) && { input: inputTokens.total }),
    ...(isCount(outputTokens.total) && { output: outputTokens.total }),
    ...(isCount(cached) && isReported(raw, cachedPaths) && { cachedInput: cached }),
    ...(isCount(reasoning) && isReported(raw, reasoningPaths) && { reasoning }),
  };
}

/** Some gateways say -1 where they do not know. */
function isCount(tokens: number | undefined): tokens is number {
  return tokens !== undefined && Number.isSafeInteger(tokens) && tokens >= 0;
}

function isReported(raw: unknown, paths: readonly (readonly string[])[]): boolean {
  return paths.some((path) => {
    let value: unknown = raw;
    for (const key of path) value = isRecord(value) ? value[key] : undefined;
    return typeof value === "number";
  });
}

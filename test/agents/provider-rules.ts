import { isRecord } from "../../src/model/values.ts";
import type { Wire } from "./wire.ts";

/**
 * What each provider refuses a conversation for, as far as it is known: checks of whole request bodies. Each check says
 * why the body would be refused, or nothing.
 */

type Members = { [key: string]: unknown };
type Fault = string | undefined;

/** The rules of each protocol. */
export const rulesOf: Record<Wire, (body: Members) => Fault> = {
  anthropic: anthropicFault,
  openai: responsesFault,
  "openai-compatible": chatFault,
  google: googleFault,
};

/** True of all of them: no text is blank, and no half of a character is sent. */
export function commonFault(rawBody: string): Fault {
  const pairs = rawBody.replaceAll(/\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}/g, "");
  if (/\\u[dD][89a-fA-F]/.test(pairs) || !rawBody.isWellFormed()) return "half a character";
  return undefined;
}

function list(value: unknown): Members[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function isBlank(value: unknown): boolean {
  return text(value).trim() === "";
}

/** The first fault of several looks. */
function first(...looks: (() => Fault)[]): Fault {
  for (const look of looks) {
    const fault = look();
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function firstOf<T>(values: readonly T[], look: (value: T, index: number) => Fault): Fault {
  return first(...values.map((value, index) => () => look(value, index)));
}

function repeated(names: readonly string[], what: string): Fault {
  return new Set(names).size === names.length ? undefined : `${what} comes twice: ${names.join(", ")}`;
}

const same = (some: readonly string[], others: readonly string[]) => some.join() === others.join();
const sorted = (names: readonly string[]) => names.toSorted();

// Anthropic Messages

function anthropicFault(body: Members): Fault {
  const messages = list(body["messages"]);
  const blocks = messages.map((message) => list(message["content"]));
  const uses = blocks.flat().filter((block) => block["type"] === "tool_use");
  return first(
    () => (list(body["system"]).some((block) => isBlank(block["text"])) ? "an empty system text" : undefined),
    () => (messages[0]?.["role"] === "user" ? undefined : "it does not begin with the user"),
    () =>
      firstOf(messages, ({ role }, index) =>
        role === messages[index - 1]?.["role"] ? `two messages of the ${text(role)} in a row` : undefined,
      ),
    () =>
      repeated(
        uses.map(({ id }) => text(id)),
        "a call",
      ),
    () => firstOf(blocks, (content) => (content.length === 0 ? "a message without content" : undefined)),
    () => firstOf(blocks.flat(), anthropicBlockFault),
    () =>
      firstOf(blocks, (content, index) => {
        const asked = idsOf(blocks[index - 1] ?? [], "tool_use", "id");
        const isAsked = messages[index]?.["role"] === "user" ? asked : [];
        const results = content.slice(0, isAsked.length);
        const fits = same(sorted(idsOf(results, "tool_result", "tool_use_id")), sorted(isAsked));
        if (!fits) return "calls without their results at once in the next message";
        return content.slice(isAsked.length).some((block) => block["type"] === "tool_result")
          ? "a result without its call"
          : undefined;
      }),
    () =>
      firstOf(messages, ({ role }, index) => {
        const last = blocks[index]?.at(-1);
        return role === "assistant" && text(last?.["type"]).includes("thinking")
          ? "an answer that ends with thinking"
          : undefined;
      }),
    () => {
      const last = blocks.at(-1)?.at(-1);
      const isOpen = messages.at(-1)?.["role"] === "assistant" && last?.["type"] === "text";
      if (isOpen && /\s$/.test(text(last["text"]))) return "a last answer that ends with white space";
      return idsOf(blocks.at(-1) ?? [], "tool_use", "id").length > 0
        ? "last calls without results"
        : undefined;
    },
    () => {
      const marks = JSON.stringify(body).split('"cache_control"').length - 1;
      return marks <= 4 ? undefined : `${marks} marks for the cache`;
    },
  );
}

function idsOf(blocks: readonly Members[], type: string, name: string): string[] {
  return blocks.filter((block) => block["type"] === type).map((block) => text(block[name]));
}

function anthropicBlockFault(block: Members): Fault {
  switch (block["type"]) {
    case "text":
      return isBlank(block["text"]) ? "an empty text" : undefined;
    case "thinking":
      return text(block["signature"]) === "" ? "thinking without its signature" : undefined;
    case "redacted_thinking":
      return text(block["data"]) === "" ? "hidden thinking without its data" : undefined;
    case "tool_use":
      if (!/^[\w-]+$/.test(text(block["id"]))) return `the id of a call: ${text(block["id"])}`;
      if (!/^[a-zA-Z0-9_-]{1,128}$/.test(text(block["name"])))
        return `the name of a tool: ${text(block["name"])}`;
      return isRecord(block["input"]) ? undefined : "arguments that are no object";
    case "tool_result": {
      const { content } = block;
      const texts = typeof content === "string" ? [content] : list(content).map((one) => one["text"]);
      return texts.length === 0 || texts.some(isBlank) ? "an empty result" : undefined;
    }
    case "image":
      return undefined;
    default:
      return `a block of type ${text(block["type"])}`;
  }
}

// OpenAI Responses

function responsesFault(body: Members): Fault {
  const items = list(body["input"]);
  const calls = items.filter((item) => item["type"] === "function_call");
  const ids = items.flatMap(({ id }) => (typeof id === "string" ? [id] : []));
  return first(
    () => (body["store"] === false ? undefined : "it depends on what is stored"),
    () =>
      repeated(
        calls.map((item) => text(item["call_id"])),
        "a call",
      ),
    () => repeated(ids, "an item"),
    () =>
      firstOf(items, ({ role, id }, index) => {
        const start = items.findLastIndex((one, at) => at < index && isAsked(one)) + 1;
        const isReasoned = items.slice(start, index).some((one) => one["type"] === "reasoning");
        return role === "assistant" && id !== undefined && !isReasoned
          ? "an answer that is named, without its reasoning"
          : undefined;
      }),
    () => firstOf(items, (item, index) => responsesItemFault(item, items[index + 1])),
    () =>
      firstOf(calls, (item) => {
        const id = item["call_id"];
        const from = items.indexOf(item);
        const outputs = items.flatMap((one, index) =>
          one["type"] === "function_call_output" && one["call_id"] === id ? [index] : [],
        );
        const [at = -1] = outputs;
        if (outputs.length !== 1 || at < from) return `a call with ${outputs.length} results after it`;
        return items.slice(from, at).some((one) => one["role"] === "user")
          ? "a result that comes too late"
          : undefined;
      }),
    () => {
      const known = new Set(calls.map((item) => item["call_id"]));
      const outputs = items.filter((item) => item["type"] === "function_call_output");
      return outputs.every((item) => known.has(item["call_id"])) ? undefined : "a result without its call";
    },
  );
}

/** True for what an answer answers. */
function isAsked(item: Members): boolean {
  return item["role"] === "user" || item["type"] === "function_call_output";
}

function responsesItemFault(item: Members, next: Members | undefined): Fault {
  if (item["role"] !== undefined) {
    if (typeof item["content"] === "string") return isBlank(item["content"]) ? "an empty text" : undefined;
    const content = list(item["content"]);
    if (content.length === 0) return "a message without content";
    return content.some((part) => text(part["type"]).endsWith("text") && isBlank(part["text"]))
      ? "an empty text"
      : undefined;
  }
  switch (item["type"]) {
    case "function_call":
      if (!/^.{1,64}$/.test(text(item["call_id"]))) return `the id of a call: ${text(item["call_id"])}`;
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(text(item["name"])))
        return `the name of a tool: ${text(item["name"])}`;
      return argumentsFault(item["arguments"]);
    case "function_call_output":
      return isBlank(item["output"]) ? "an empty result" : undefined;
    case "reasoning": {
      if (text(item["encrypted_content"]) === "") return "reasoning that is stored nowhere, and not sent";
      const isFollowed =
        next?.["role"] === "assistant" || /^(?:function_call|reasoning)$/.test(text(next?.["type"]));
      return isFollowed ? undefined : "reasoning without the item that follows it";
    }
    default:
      return `an item of type ${text(item["type"])}`;
  }
}

/** Servers read them, whatever was written. */
function argumentsFault(value: unknown): Fault {
  try {
    return isRecord(JSON.parse(text(value))) ? undefined : "arguments that are no object";
  } catch {
    return "arguments that are no JSON";
  }
}

// Chat Completions

function chatFault(body: Members): Fault {
  const messages = list(body["messages"]);
  const calls = messages.flatMap((message) => list(message["tool_calls"]));
  return first(
    () =>
      repeated(
        calls.map(({ id }) => text(id)),
        "a call",
      ),
    () =>
      firstOf(messages, (message, index) => {
        const before = messages[index - 1];
        const { role } = message;
        if (role === "system") return index === 0 ? undefined : "a system text in the middle";
        if (role !== "tool" && role === before?.["role"]) return `two messages of the ${text(role)} in a row`;
        return chatMessageFault(message);
      }),
    () =>
      firstOf(messages, (message, index) => {
        if (message["role"] === "tool") return undefined;
        const end = messages.findIndex((one, at) => at > index && one["role"] !== "tool");
        const results = messages.slice(index + 1, end === -1 ? undefined : end);
        const asked = list(message["tool_calls"]).map(({ id }) => text(id));
        const answered = results.map((one) => text(one["tool_call_id"]));
        return same(sorted(asked), sorted(answered))
          ? undefined
          : "calls without their results right after them";
      }),
  );
}

function chatMessageFault({ role, content, tool_calls }: Members): Fault {
  const calls = list(tool_calls);
  if (role === "assistant") {
    if (calls.length === 0 && isBlank(content)) return "an answer of nothing";
    if (typeof content === "string" && isBlank(content)) return "an empty text";
    return firstOf(calls, (call) => {
      const { name, arguments: args } = isRecord(call["function"]) ? call["function"] : {};
      if (isBlank(call["id"])) return "a call without an id";
      return /^[a-zA-Z0-9_-]{1,64}$/.test(text(name))
        ? argumentsFault(args)
        : `the name of a tool: ${text(name)}`;
    });
  }
  if (typeof content === "string") return isBlank(content) ? "an empty text" : undefined;
  const parts = list(content);
  if (parts.length === 0) return "a message without content";
  return parts.some((part) => part["type"] === "text" && isBlank(part["text"])) ? "an empty text" : undefined;
}

// Google

function googleFault(body: Members): Fault {
  const contents = list(body["contents"]);
  const partsOf = (content: Members | undefined) => list(content?.["parts"]);
  return first(
    () => (contents[0]?.["role"] === "user" ? undefined : "it does not begin with the user"),
    () =>
      firstOf(contents, (content) => (partsOf(content).length === 0 ? "a turn without parts" : undefined)),
    () => firstOf(contents.flatMap(partsOf), googlePartFault),
    () =>
      firstOf(contents, (content, index) => {
        const before = contents[index - 1];
        if (content["role"] !== before?.["role"]) return undefined;
        // Results of calls are a turn of the user's, and of their own.
        const isAfterResults = partsOf(before).every((part) => "functionResponse" in part);
        return content["role"] === "user" && isAfterResults
          ? undefined
          : `two turns of the ${text(content["role"])} in a row`;
      }),
    () =>
      firstOf(contents, (content, index) => {
        const asked = functionsOf(partsOf(content), "functionCall");
        const answered = functionsOf(partsOf(contents[index + 1]), "functionResponse");
        return same(asked, answered) ? undefined : "calls without as many results right after them";
      }),
    () =>
      functionsOf(partsOf(contents[0]), "functionResponse").length > 0
        ? "a result without its call"
        : undefined,
    () => {
      const calls = contents.flatMap((content) => functionsOf(partsOf(content), "functionCall"));
      return repeated(calls, "a call");
    },
  );
}

/** Ids and names of the calls or of their results. */
function functionsOf(parts: readonly Members[], kind: "functionCall" | "functionResponse"): string[] {
  return parts.flatMap((part) =>
    isRecord(part[kind]) ? [`${text(part[kind]["id"])} ${text(part[kind]["name"])}`] : [],
  );
}

function googlePartFault(part: Members): Fault {
  const { functionCall, functionResponse } = part;
  if (isRecord(functionCall)) {
    const name = text(functionCall["name"]);
    if (!/^[a-zA-Z_][\w.:-]{0,63}$/.test(name)) return `the name of a tool: ${name}`;
    return isRecord(functionCall["args"]) ? undefined : "arguments that are no object";
  }
  if (isRecord(functionResponse))
    return isRecord(functionResponse["response"]) ? undefined : "a result of nothing";
  if ("inlineData" in part) return undefined;
  return isBlank(part["text"]) ? "an empty part" : undefined;
}

import type { ModelEvent, ModelCall } from "../../src/model/agent.ts";
import type { ModelChoice } from "../../src/model/facts/session.ts";
import { openModel, type OpenModelOptions } from "../../src/agents/builtin/models/model.ts";
import { parseModelChoice } from "../../src/agents/builtin/models/choice.ts";

/** What tests of models need of the outside: real time, and the runtime's own HTTP. */
export const outside: OpenModelOptions["host"] = {
  fetch: globalThis.fetch,
  clock: {
    now: () => Date.now(),
    monotonicMs: () => performance.now(),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted === true) return resolve();
        const end = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", end);
          resolve();
        };
        const timer = setTimeout(end, ms);
        signal?.addEventListener("abort", end);
      }),
  },
};

/** The protocols, by a model of each provider. */
export const wires = {
  anthropic: { model: "anthropic/claude-sonnet-4-5", path: "/v1/messages", base: "" },
  openai: { model: "openai/gpt-5", path: "/v1/responses", base: "/v1" },
  "openai-compatible": { model: "openai-compatible/org/local", path: "/v1/chat/completions", base: "/v1" },
  google: {
    model: "google/gemini-2.5-pro",
    path: "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
    base: "/v1beta",
  },
} as const;
export type Wire = keyof typeof wires;

/** A key that no message may show. */
export const secretKey = "sk-test-0123456789-secret";

/** Variables that send every provider to `url`. */
export function environmentOf(url: string): Record<string, string> {
  return {
    ANTHROPIC_API_KEY: secretKey,
    OPENAI_API_KEY: secretKey,
    OPENAI_COMPATIBLE_API_KEY: secretKey,
    GEMINI_API_KEY: secretKey,
    ANTHROPIC_BASE_URL: url,
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_COMPATIBLE_BASE_URL: `${url}/v1`,
    GOOGLE_BASE_URL: `${url}/v1beta`,
  };
}

export function choiceOf(wire: Wire, url: string): ModelChoice {
  return parseModelChoice(wires[wire].model, environmentOf(url));
}

/** A call with good defaults. */
export function modelCall(members: Partial<ModelCall> = {}): ModelCall {
  return {
    system: "You help.",
    tools: [],
    messages: [{ role: "user", parts: [{ type: "text", text: "Hello" }] }],
    ...members,
  };
}

/** Makes one call over HTTP and gives all of its events. */
export async function callOver(
  wire: Wire,
  url: string,
  options: { call?: ModelCall; signal?: AbortSignal; onEvent?: (event: ModelEvent) => void } = {},
): Promise<ModelEvent[]> {
  const model = openModel({
    choice: choiceOf(wire, url),
    environment: environmentOf(url),
    host: outside,
    redact: (text) => text,
  });
  const events: ModelEvent[] = [];
  const { call = modelCall(), signal = new AbortController().signal, onEvent } = options;
  for await (const event of model.call(call, signal)) {
    events.push(event);
    onEvent?.(event);
  }
  return events;
}

/** The answer that a call came to; throws where it came to none. */
export function answeredIn(events: ModelEvent[]): Extract<ModelEvent, { type: "answered" }> {
  const last = events.at(-1);
  if (last?.type !== "answered") throw new Error(`no answer: ${JSON.stringify(last)}`);
  return last;
}

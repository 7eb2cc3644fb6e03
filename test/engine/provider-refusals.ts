import type { Wire } from "../agents/wire.ts";
import type { Fault } from "./provider-faults.ts";

/** Refusals, in the words of each provider. */

const all: readonly Wire[] = ["anthropic", "openai", "openai-compatible", "google"];
/** What the provider's own protocol makes of an error. */
export function errorBody(wire: Wire, message: string, name = "some_error"): unknown {
  if (wire === "anthropic") return { type: "error", error: { type: name, message }, request_id: "req_1" };
  if (wire === "google") return { error: { code: 0, message, status: name.toUpperCase() } };
  return { error: { message, type: name, param: null, code: name } };
}

/** A refusal in the words of each provider; undefined where it has none of that kind. */
function refuse(
  status: number,
  words: Words,
  headers: Record<string, string> = {},
): Pick<Fault, "wires" | "turn"> {
  return {
    wires: all.filter((wire) => words[wire] !== undefined),
    turn: (wire) => {
      const [message, name] = words[wire] ?? ["", ""];
      return { error: { status, headers, body: errorBody(wire, message, name) } };
    },
  };
}

type Words = Partial<Record<Wire, readonly [message: string, name: string]>>;

/** Said with too many calls in a time. */
export const rateLimits = {
  anthropic: ["This request would exceed your organization's rate limit.", "rate_limit_error"],
  openai: ["Rate limit reached for gpt-5. Please try again in 1.2s.", "rate_limit_exceeded"],
  "openai-compatible": ["Too many requests", "too_many_requests"],
  google: ["Resource has been exhausted (e.g. check quota).", "RESOURCE_EXHAUSTED"],
} as const satisfies Words;
/** Said with a conversation that fits no more. */
export const overflows = {
  anthropic: ["prompt is too long: 213462 tokens > 200000 maximum", "invalid_request_error"],
  openai: ["Your input exceeds the context window of this model.", "context_length_exceeded"],
  "openai-compatible": [
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
    "BadRequestError",
  ],
  google: [
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    "INVALID_ARGUMENT",
  ],
} as const satisfies Words;
const keys = {
  anthropic: ["invalid x-api-key", "authentication_error"],
  openai: ["Incorrect API key provided: sk-x.", "invalid_api_key"],
  "openai-compatible": ["Unauthorized", "unauthorized"],
  google: ["Request had invalid authentication credentials.", "UNAUTHENTICATED"],
} as const satisfies Words;

const inOneHour = () => new Date(Date.parse("Thu, 01 Jan 2026 01:00:00 GMT")).toUTCString();

/** All of them. */
export const refusals: Fault[] = [
  {
    name: "a limit of the rate, with seconds to wait",
    ...refuse(429, rateLimits, { "retry-after": "3" }),
    failed: { reason: "rate_limit", status: 429, retryAfterMs: 3000, retryable: true },
    outcome: "repeated",
  },
  {
    name: "a limit of the rate, with milliseconds to wait",
    ...refuse(429, rateLimits, { "retry-after-ms": "1234", "retry-after": "9" }),
    failed: { reason: "rate_limit", status: 429, retryAfterMs: 1234, retryable: true },
    outcome: "repeated",
  },
  {
    name: "a limit of the rate, until a time",
    ...refuse(429, rateLimits, {
      date: "Thu, 01 Jan 2026 00:59:30 GMT",
      "retry-after": "Thu, 01 Jan 2026 01:00:00 GMT",
    }),
    failed: { reason: "rate_limit", status: 429, retryAfterMs: 30_000, retryable: true },
    outcome: "repeated",
  },
  {
    name: "a limit of the rate that lasts longer than anybody waits",
    ...refuse(429, rateLimits, { date: "Thu, 01 Jan 2026 00:00:00 GMT", "retry-after": inOneHour() }),
    failed: { reason: "rate_limit", status: 429, retryAfterMs: 3_600_000, retryable: true },
    outcome: "suspended",
  },
  {
    name: "no money left",
    ...refuse(429, {
      openai: ["You exceeded your current quota, please check your plan.", "insufficient_quota"],
      "openai-compatible": ["You exceeded your current quota.", "insufficient_quota"],
    }),
    failed: { reason: "quota", status: 429, retryable: false },
    outcome: "suspended",
  },
  {
    name: "no money left, called a bad request",
    ...refuse(400, {
      anthropic: ["Your credit balance is too low to access the Anthropic API.", "invalid_request_error"],
    }),
    failed: { reason: "quota", status: 400, retryable: false },
    outcome: "suspended",
  },
  {
    name: "payment required",
    turn: (wire) => ({
      error: { status: 402, body: errorBody(wire, "Insufficient Balance", "billing_error") },
    }),
    failed: { reason: "quota", status: 402, retryable: false },
    outcome: "suspended",
  },
  {
    name: "an unknown key",
    ...refuse(401, keys),
    failed: { reason: "auth", status: 401, retryable: false },
    outcome: "suspended",
  },
  {
    name: "a key that is called a bad request",
    ...refuse(400, { google: ["API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT"] }),
    failed: { reason: "auth", status: 400, retryable: false },
    outcome: "suspended",
  },
  {
    name: "a forbidden model",
    turn: (wire) => ({ error: { status: 403, body: errorBody(wire, "not allowed", "permission_error") } }),
    failed: { reason: "auth", status: 403, retryable: false },
    outcome: "suspended",
  },
  {
    name: "a conversation that fits no more",
    ...refuse(400, overflows),
    failed: { reason: "context_overflow", status: 400, retryable: false },
    outcome: { ended: "context_overflow" },
  },
  {
    name: "a request that is too large",
    turn: (wire) => ({
      error: { status: 413, body: errorBody(wire, "Request too large", "request_too_large") },
    }),
    failed: { reason: "context_overflow", status: 413, retryable: false },
    outcome: { ended: "context_overflow" },
  },
  {
    name: "a filter",
    ...refuse(400, {
      anthropic: ["Output blocked by content filtering policy", "invalid_request_error"],
      openai: [
        "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
        "invalid_prompt",
      ],
      "openai-compatible": ["The response was filtered.", "content_filter"],
    }),
    failed: { reason: "content_filter", status: 400, retryable: false },
    outcome: { ended: "content_filter" },
  },
  ...[500, 502, 503, 529].map((status): Fault => ({
    name: `status ${status}`,
    turn: () => ({
      error: { status, body: status === 502 ? "<html>Bad Gateway</html>" : { error: "busy" } },
    }),
    failed: { reason: "http", status, retryable: true },
    outcome: "repeated",
  })),
  {
    name: "a redirect",
    turn: () => ({ error: { status: 307, body: "", headers: { location: "http://127.0.0.1:9/v1" } } }),
    failed: { reason: "http", status: 307, retryable: false },
    outcome: "suspended",
  },
  {
    name: "a refusal that is packed as it does not say",
    turn: () => ({ error: { status: 503, body: "no gzip", headers: { "content-encoding": "gzip" } } }),
    failed: { reason: "http", status: 503, retryable: true },
    outcome: "repeated",
  },
  {
    name: "a refusal that breaks off",
    turn: () => ({
      error: { status: 429, body: '{"error":{"mess', headers: { "retry-after": "2" } },
      afterwards: "drop",
    }),
    failed: { reason: "rate_limit", status: 429, retryAfterMs: 2000, retryable: true },
    outcome: "repeated",
  },
];

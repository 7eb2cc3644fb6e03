import type { ModelFailure } from "../../../model/agent.ts";

/** What a provider's refusal means: by its status, and where that says too little by its words. Pure. */

/** What a provider said when it refused. */
export interface Refusal {
  readonly provider: string;
  /** HTTP status, or the one that the provider's own name for the error stands for. */
  readonly status: number;
  /** What it said, for people. */
  readonly message: string;
  /** Everything it said, where codes may stand. */
  readonly body?: string;
  readonly retryAfterMs?: number | undefined;
  /** What it said of a repetition itself. */
  readonly mayRetry?: boolean | undefined;
}

const overflow = anyOf(
  "context[_ ](?:length|window|size|limit)",
  "exceed_context_size",
  "available context",
  "prompt is too long",
  "input is too long",
  "input token count",
  "maximum prompt length",
  "exceeds max length",
  "model token limit",
  "range of input length",
  "request_too_large",
  "reduce the length of the (?:messages|prompt|input)",
  "prompt token count of \\d+ exceeds",
  "inputs? tokens \\+ \\S*max_new_tokens\\S* must be",
);
const filtered = anyOf(
  "content[_ -]filter",
  "content[_ ]policy",
  "content management policy",
  "responsible_?ai",
  "safety_violation",
  "safety_check",
  "violat\\w+ (?:our )?usage (?:policy|guidelines)",
);
const unpaid = anyOf(
  "insufficient_quota",
  "insufficient (?:balance|credit)",
  "credit balance is too low",
  "billing_(?:hard|not)",
  "payment required",
  "reached your specified api usage limit",
  "extra usage is required",
);
/** Keys that a provider refuses with the status of a bad request. */
const badKey = anyOf("api[_ ]key[_ ](?:is |was )?(?:not valid|invalid)", "invalid[_ ]api[_ ]key");
/** A limit of the rate that the request alone is over, at any time. */
const neverFits = anyOf("request too large for", "tokens must be reduced in order to run");

function anyOf(...patterns: readonly string[]): RegExp {
  return new RegExp(patterns.join("|"), "i");
}

/** Providers' names for errors, and the status that each would have as an answer of its own. */
const namedErrors: readonly (readonly [RegExp, number])[] = [
  [/insufficient_quota|billing/, 402],
  [/rate_?limit|too_many_requests|resource_exhausted/, 429],
  [/authentication|unauthenticated|unauthorized|invalid_api_key/, 401],
  [/permission/, 403],
  [/not_found/, 404],
  [/overloaded|unavailable|slow_down/, 529],
  [/timeout|deadline/, 504],
  [/too_large|context_length/, 413],
  [/invalid|bad_?request|content|precondition|policy/, 400],
];

/** The status that an error's names stand for; 500 where they say nothing. */
export function statusOfNames(names: string): number {
  return namedErrors.find(([pattern]) => pattern.test(names.toLowerCase()))?.[1] ?? 500;
}

/** The failure for a refusal. */
export function refusedFailure(refusal: Refusal): ModelFailure {
  const { provider, status, message, retryAfterMs } = refusal;
  const words = `${message}\n${refusal.body ?? ""}`;
  const reason = reasonOf(status, words);
  return {
    reason,
    message: `${provider} answered HTTP ${status}${message === "" ? "" : `: ${message}`}`,
    status,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    retryable: isPassing(reason, status, words) && refusal.mayRetry !== false,
  };
}

function reasonOf(status: number, words: string): string {
  if (status === 402 || (status < 500 && unpaid.test(words))) return "quota";
  if (status < 500 && status !== 401 && status !== 429 && filtered.test(words)) return "content_filter";
  if (status === 401 || status === 403) return "auth";
  if (status === 429) return "rate_limit";
  if (status === 413 || overflow.test(words)) return "context_overflow";
  return status === 400 && badKey.test(words) ? "auth" : "http";
}

function isPassing(reason: string, status: number, words: string): boolean {
  if (reason === "rate_limit") return !neverFits.test(words);
  return reason === "http" && (status >= 500 || status === 408 || status === 409);
}

/** How long the provider asks us to wait: in milliseconds, in seconds, until a time, or in Google's details. */
export function retryAfterOf(headers: Headers, body: string, nowMs: number): number | undefined {
  const preciseMs = numberIn(headers.get("retry-after-ms"));
  if (preciseMs !== undefined) return Math.ceil(preciseMs);
  const given = headers.get("retry-after") ?? "";
  const seconds = numberIn(given);
  if (seconds !== undefined) return Math.ceil(seconds * 1000);
  const untilMs = timeIn(given);
  // Two times of one clock: the provider's. Ours may be wrong by hours.
  if (untilMs !== undefined) return Math.max(0, untilMs - (timeIn(headers.get("date") ?? "") ?? nowMs));
  const delay = numberIn(/"retryDelay"\s*:\s*"([^"]*)s"/.exec(body)?.[1]);
  return delay === undefined ? undefined : Math.ceil(delay * 1000);
}

/** Only what looks like an HTTP date is one: Date.parse finds a date in nearly anything. */
function timeIn(text: string): number | undefined {
  const ms = /^[A-Z][a-z]{2,8}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

function numberIn(text: string | null | undefined): number | undefined {
  return /^\d{1,12}(?:\.\d+)?$/.test(text ?? "") ? Number(text) : undefined;
}

/** What the provider says of a repetition; undefined where it says nothing. */
export function mayRetryOf(headers: Headers): boolean | undefined {
  const said = headers.get("x-should-retry");
  return said === null ? undefined : said !== "false";
}

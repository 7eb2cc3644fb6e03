import type { ModelFailure } from "../../../model/agent.ts";
import { isRecord, parseJson } from "./json.ts";
import type { Received } from "./single-request.ts";

/** Why a model call failed, read from what the provider and its package leave behind. Pure. */

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
}

/** All that is known of a call that failed. */
export interface FailedCall {
  readonly provider: string;
  readonly error: unknown;
  /** True where the request was handed to the network. */
  readonly sent: boolean;
  /** The head of the answer, where one came. */
  readonly received: Received | undefined;
  /** True where something of an answer was read. */
  readonly begun: boolean;
  /** Wall clock, for answers that name a time. */
  readonly nowMs: number;
}

const overflow = new RegExp(
  [
    "context[_ ](?:length|window|size|limit)",
    "exceed_context_size",
    "available context",
    "prompt is too long",
    "input is too long",
    "input token count",
    "maximum prompt length",
    "model token limit",
    "request_too_large",
    "reduce the length of the (?:messages|prompt)",
    "prompt token count of \\d+ exceeds",
  ].join("|"),
  "i",
);
const filtered =
  /content[_ -]filter|content_policy|content management policy|responsible_?ai|safety_violation/i;
const unpaid =
  /insufficient_quota|insufficient (?:balance|credit)|credit balance is too low|billing_(?:hard|not)|payment required/i;

/** Providers' names for errors, and the status that each would have as an answer of its own. */
const namedErrors: readonly (readonly [RegExp, number])[] = [
  [/insufficient_quota|billing/, 402],
  [/rate_?limit|too_many_requests|resource_exhausted/, 429],
  [/authentication|unauthenticated|unauthorized|invalid_api_key/, 401],
  [/permission/, 403],
  [/not_found/, 404],
  [/overloaded|unavailable/, 529],
  [/timeout|deadline/, 504],
  [/too_large|context_length/, 413],
  [/invalid|bad_request|content/, 400],
];

const timeoutCodes = new Set([
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);
const unreadable = /^AI_(?:JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody)Error$/;

/** The failure for a call that was told to stop. Whoever stopped it decides whether it is made again. */
export function interruptedFailure(provider: string): ModelFailure {
  return { reason: "interrupted", message: `The call to ${provider} was stopped.`, retryable: false };
}

/** The failure for a refusal: by its status, and where that says too little by its words. */
export function refusedFailure(refusal: Refusal): ModelFailure {
  const { provider, status, message, retryAfterMs } = refusal;
  const reason = reasonOf(status, `${message}\n${refusal.body ?? ""}`);
  const passing = reason === "http" && (status >= 500 || status === 408 || status === 409);
  return {
    reason,
    message: `${provider} answered HTTP ${status}${message === "" ? "" : `: ${message}`}`,
    status,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    retryable: passing || reason === "rate_limit",
  };
}

function reasonOf(status: number, words: string): string {
  if (status === 402 || (status < 500 && unpaid.test(words))) return "quota";
  if (status === 401 || status === 403) return "auth";
  if (status === 429) return "rate_limit";
  if (status === 413 || overflow.test(words)) return "context_overflow";
  if (status < 500 && filtered.test(words)) return "content_filter";
  return "http";
}

/** The failure for whatever a call threw, or streamed in place of an answer. */
export function failureOf(call: FailedCall): ModelFailure {
  const { provider, error, received } = call;
  if (!call.sent) {
    return {
      reason: "malformed",
      message: `The request to ${provider} could not be made: ${wordsOf(error)}`,
      retryable: false,
    };
  }
  if (received === undefined) return networkFailure(error, `${provider} could not be reached`);
  if (received.status < 200 || received.status > 299) return answeredFailure(call, received);
  return brokenFailure(call, received);
}

function networkFailure(error: unknown, what: string): ModelFailure {
  const reason = chainOf(error).some((link) => timeoutCodes.has(String(link["code"])))
    ? "timeout"
    : "network";
  return { reason, message: `${what}: ${wordsOf(error)}`, retryable: true };
}

/** The provider answered, but with a refusal. */
function answeredFailure(call: FailedCall, received: Received): ModelFailure {
  const body = bodyOf(call.error);
  const location = received.headers.get("location");
  const message = location === null ? (saidIn(body) ?? wordsOf(call.error)) : `it redirects to ${location}`;
  const retryAfterMs = retryAfterOf(received.headers, body, call.nowMs);
  return refusedFailure({ provider: call.provider, status: received.status, message, body, retryAfterMs });
}

/** The provider began to answer, and then it was no answer. */
function brokenFailure(call: FailedCall, received: Received): ModelFailure {
  const { provider, error } = call;
  const type = received.headers.get("content-type") ?? "nothing that it names";
  if (!call.begun && !type.includes("event-stream")) {
    const message = `${provider} answered with ${type} instead of a stream of events; is its base URL right?`;
    return { reason: "malformed", message, retryable: false };
  }
  const links = chainOf(error);
  const words = wordsOf(error);
  const isUnreadable =
    links.some((link) => unreadable.test(String(link["name"]))) || unreadable.test(nameIn(bodyOf(error)));
  if (isUnreadable && !/ended without a finish reason/.test(words)) {
    const message = `${provider} sent what is no answer of its protocol: ${words}`;
    return { reason: "malformed", message, retryable: true };
  }
  const named = namedError(error);
  if (named === undefined) return networkFailure(error, `${provider} broke off its answer`);
  const { status, message } = named;
  // There was no such HTTP status, only an event inside an answer that had begun with 200.
  const { reason, retryable } = refusedFailure({
    provider,
    status,
    message,
    body: JSON.stringify(named.event),
  });
  return { reason, message: `${provider} broke off with an error: ${message}`, retryable };
}

interface NamedError {
  readonly status: number;
  readonly message: string;
  readonly event: unknown;
}

/** An error that the provider streamed as an event. */
function namedError(error: unknown): NamedError | undefined {
  const body = bodyOf(error);
  const event = innermost(body === "" ? error : parseJson(body));
  if (event === undefined || typeof event["message"] !== "string") return undefined;
  if (event instanceof Error) return undefined;
  const code = Number(event["code"] ?? event["statusCode"]);
  const names = [event["code"], event["type"], event["status"]].filter((name) => typeof name === "string");
  const known = namedErrors.find(([pattern]) => pattern.test(names.join(" ").toLowerCase()));
  const status = code >= 400 && code <= 599 ? code : (known?.[1] ?? 500);
  return { status, message: event["message"], event };
}

type Members = Readonly<Record<string, unknown>>;

/** An object's members; errors have them too. */
function membersOf(value: unknown): Members | undefined {
  return isRecord(value) ? value : undefined;
}

/** Providers wrap an error's members in `error`, or `response.error`. */
function innermost(value: unknown): Members | undefined {
  const outer = membersOf(value);
  const inner = membersOf(outer?.["error"]) ?? membersOf(membersOf(outer?.["response"])?.["error"]);
  return inner ?? outer;
}

function bodyOf(error: unknown): string {
  const body = membersOf(error)?.["responseBody"];
  return typeof body === "string" ? body : "";
}

function nameIn(body: string): string {
  return String(membersOf(parseJson(body))?.["name"]);
}

/** What a refusal's body says to people; pages of markup say nothing. */
function saidIn(body: string): string | undefined {
  const value = parseJson(body);
  const inner = innermost(value);
  const outer = membersOf(value);
  for (const said of [inner?.["message"], outer?.["error"], outer?.["detail"]]) {
    if (typeof said === "string" && said !== "") return said;
  }
  const text = body.trim();
  return text === "" || text.startsWith("<") ? undefined : text;
}

/** An error and its causes, outermost first. */
function chainOf(error: unknown): Members[] {
  const links: Members[] = [];
  let next: unknown = error;
  for (let link = membersOf(next); link !== undefined && links.length < 8; link = membersOf(next)) {
    links.push(link);
    const several = link["errors"];
    next = Array.isArray(several) ? several[0] : link["cause"];
  }
  return links;
}

/** The words of the innermost cause that has any: it says what really happened. */
function wordsOf(error: unknown): string {
  if (typeof error === "string") return error;
  const words = chainOf(error).flatMap(({ message, code }) => {
    if (typeof message === "string" && message !== "") return [message];
    return typeof code === "string" ? [code] : [];
  });
  return words.at(-1) ?? "no reason was given";
}

/** How long the provider asks us to wait: in milliseconds, in seconds, until a time, or in Google's details. */
function retryAfterOf(headers: Headers, body: string, nowMs: number): number | undefined {
  const preciseMs = numberIn(headers.get("retry-after-ms"));
  if (preciseMs !== undefined) return Math.ceil(preciseMs);
  const given = headers.get("retry-after") ?? "";
  const seconds = numberIn(given);
  if (seconds !== undefined) return Math.ceil(seconds * 1000);
  // Only what looks like an HTTP date is one: Date.parse finds a date in nearly anything.
  const untilMs = /^[A-Z][a-z]{2,8}, /.test(given) ? Date.parse(given) : Number.NaN;
  if (!Number.isNaN(untilMs)) return Math.max(0, untilMs - nowMs);
  const delay = numberIn(/"retryDelay"\s*:\s*"([^"]*)s"/.exec(body)?.[1]);
  return delay === undefined ? undefined : Math.ceil(delay * 1000);
}

function numberIn(text: string | null | undefined): number | undefined {
  return /^\d{1,12}(?:\.\d+)?$/.test(text ?? "") ? Number(text) : undefined;
}

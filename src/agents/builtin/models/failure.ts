import type { ModelFailure } from "../../../model/agent.ts";
import { parseJson } from "./json.ts";
import { mayRetryOf, refusedFailure, retryAfterOf, statusOfNames } from "./refusal.ts";
import { isEventStream, type Received } from "./single-request.ts";
import { bodyOf, chainOf, innermost, type Members, membersOf, saidIn, wordsOf } from "./thrown.ts";

/** Why a model call failed, read from what the provider and its package leave behind. Pure. */

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
  /** What did not happen in time, as what the provider did. */
  readonly overdue: string | undefined;
  /** Wall clock, for answers that name a time. */
  readonly nowMs: number;
}

const timeoutCodes = new Set([
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);
const unreadable = /^AI_(?:JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody)Error$/;
/** The HTTP client could not unpack what came. */
const unpackable = /^Z_(?:DATA|STREAM|NEED_DICT)/;

/** The failure for a call that was told to stop. Whoever stopped it decides whether it is made again. */
export function interruptedFailure(provider: string): ModelFailure {
  return { reason: "interrupted", message: `The call to ${provider} was stopped.`, retryable: false };
}

/** The failure for an answer that came whole and is none; `fault` says what the provider did. */
export function emptyFailure(provider: string, fault: string): ModelFailure {
  return { reason: "malformed", message: `${provider} ${fault}`, retryable: true, began: true };
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
  // What a refusal lacks in the end, it has not said in time: its status is known all the same.
  if (received !== undefined && isRefusal(received)) return answeredFailure(call, received);
  if (call.overdue !== undefined) {
    return { reason: "timeout", message: `${provider} ${call.overdue}`, retryable: true };
  }
  if (received === undefined) return networkFailure(error, `${provider} could not be reached`);
  return brokenFailure(call, received);
}

function isRefusal({ status }: Received): boolean {
  return status < 200 || status > 299;
}

function networkFailure(error: unknown, what: string): ModelFailure {
  const reason = chainOf(error).some((link) => timeoutCodes.has(String(link["code"])))
    ? "timeout"
    : "network";
  return { reason, message: `${what}: ${wordsOf(error)}`, retryable: true };
}

/** The provider answered, but with a refusal. */
function answeredFailure({ provider, nowMs }: FailedCall, received: Received): ModelFailure {
  const { status, headers, text: body } = received;
  const location = headers.get("location");
  return refusedFailure({
    provider,
    status,
    message: location === null ? (saidIn(body) ?? "") : `it redirects to ${location}`,
    body,
    retryAfterMs: retryAfterOf(headers, body, nowMs),
    mayRetry: mayRetryOf(headers),
  });
}

/** The provider began to answer, and then it was no answer. */
function brokenFailure(call: FailedCall, received: Received): ModelFailure {
  const { provider, error } = call;
  const garbled = garbledBy(error, received);
  if (garbled !== undefined) {
    return { reason: "malformed", message: `${provider} sent ${garbled}`, retryable: true };
  }
  const named = namedError(error) ?? namedError(parseJson(received.text));
  if (named !== undefined) return namedFailure(provider, named);
  if (!call.begun && !isEventStream(received.headers)) {
    const type = received.headers.get("content-type") ?? "nothing that it names";
    const message = `${provider} answered with ${type} instead of a stream of events; is its base URL right?`;
    return { reason: "malformed", message, retryable: false };
  }
  const words = wordsOf(error);
  if (isUnreadable(error) && !/ended without a finish reason/.test(words)) {
    const message = `${provider} sent what is no answer of its protocol: ${words}`;
    return { reason: "malformed", message, retryable: true };
  }
  return networkFailure(error, `${provider} broke off its answer`);
}

function garbledBy(error: unknown, received: Received): string | undefined {
  if (received.garbled !== undefined) return received.garbled;
  const isPacked = chainOf(error).some((link) => unpackable.test(String(link["code"])));
  return isPacked ? "what cannot be unpacked" : undefined;
}

function isUnreadable(error: unknown): boolean {
  const inBody = membersOf(parseJson(bodyOf(error)))?.["name"];
  return [...chainOf(error).map((link) => link["name"]), inBody].some((name) =>
    unreadable.test(String(name)),
  );
}

/** There was no such HTTP status, only an event inside an answer that had begun with 200. */
function namedFailure(provider: string, { status, message, event }: NamedError): ModelFailure {
  const body = JSON.stringify(event);
  const { reason, retryable } = refusedFailure({ provider, status, message, body });
  return { reason, message: `${provider} broke off with an error: ${message}`, retryable };
}

interface NamedError {
  readonly status: number;
  readonly message: string;
  readonly event: unknown;
}

/** An error that the provider streamed as an event, or sent in place of a stream. */
function namedError(error: unknown): NamedError | undefined {
  const event = eventIn(error);
  if (event === undefined || typeof event["message"] !== "string") return undefined;
  const code = Number(event["code"] ?? event["statusCode"]);
  const names = [event["code"], event["type"], event["status"]].filter((name) => typeof name === "string");
  const status = code >= 400 && code <= 599 ? code : statusOfNames(names.join(" "));
  return { status, message: event["message"], event };
}

/** The provider's own event in what the package made of it: its text, a value that it did not know, or itself. */
function eventIn(error: unknown): Members | undefined {
  const body = bodyOf(error);
  const given = membersOf(body === "" ? error : parseJson(body));
  // A package's own error, as itself or as text: what it could not take is in it.
  const isOwn = given instanceof Error || unreadable.test(String(given?.["name"]));
  return innermost(isOwn ? given?.["value"] : given);
}

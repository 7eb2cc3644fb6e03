import { describe, expect, test } from "vitest";
import { failureOf } from "../../src/agents/builtin/models/failure.ts";
import { refusedFailure } from "../../src/agents/builtin/models/refusal.ts";
import type { ModelFailure } from "../../src/model/agent.ts";

const nowMs = Date.parse("2026-01-01T00:00:00Z");
const noAnswer = {
  provider: "p",
  sent: true,
  received: undefined,
  begun: false,
  overdue: undefined,
  nowMs,
};

function refused(status: number, body: unknown, headers: Record<string, string> = {}): ModelFailure {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const received = { status, headers: new Headers(headers), text };
  return failureOf({ ...noAnswer, error: new Error("refused"), received });
}

function said(status: number, message: string): string {
  return refused(status, { error: { message } }).reason;
}

describe("a refusal", () => {
  test.each([
    [401, "auth", false],
    [402, "quota", false],
    [403, "auth", false],
    [404, "http", false],
    [400, "http", false],
    [422, "http", false],
    [408, "http", true],
    [409, "http", true],
    [413, "context_overflow", false],
    [429, "rate_limit", true],
    [500, "http", true],
    [502, "http", true],
    [503, "http", true],
    [504, "http", true],
    [529, "http", true],
  ])("with status %i is %s", (status, reason, retryable) => {
    expect(refused(status, "no")).toMatchObject({ reason, retryable, status });
  });

  test.each([
    "prompt is too long: 213462 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    "the request exceeds the available context size. try increasing the context size",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "Please reduce the length of the messages or completion.",
    "Your request exceeded model token limit: 262144",
    "Input is too long for requested model.",
    "Prompt exceeds max length",
    "Range of input length should be [1, 30720]",
  ])("is known to be an overflow: %s", (message) => {
    expect(said(400, message)).toBe("context_overflow");
  });

  test("is an overflow by its code alone", () => {
    expect(refused(400, { error: { message: "no", code: "context_length_exceeded" } }).reason).toBe(
      "context_overflow",
    );
    expect(refused(400, { error: { message: "no", type: "exceed_context_size_error" } }).reason).toBe(
      "context_overflow",
    );
  });

  test.each([
    [400, "Your credit balance is too low to access the Anthropic API."],
    [429, "You exceeded your current quota (insufficient_quota)."],
    [402, "Insufficient Balance"],
    [400, "You have reached your specified API usage limits. You will regain access on 2026-02-01."],
    [429, "Extra usage is required for long context requests."],
  ])("is a matter of money, which no waiting mends: %i %s", (status, message) => {
    expect(refused(status, { error: { message } })).toMatchObject({ reason: "quota", retryable: false });
  });

  test.each([
    [400, "Output blocked by content filtering policy"],
    [400, "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."],
    [400, "Invalid prompt: your prompt was flagged as potentially violating our usage policy."],
    [403, "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO"],
  ])("is a filter's: %i %s", (status, message) => {
    expect(said(status, message)).toBe("content_filter");
  });

  test.each(["API key not valid. Please pass a valid API key.", "Incorrect request: invalid_api_key"])(
    "is about the key, though it calls itself a bad request: %s",
    (message) => {
      expect(refused(400, { error: { message } })).toMatchObject({ reason: "auth", retryable: false });
    },
  );

  test("for a request that is over the limit of the rate by itself is not worth a repetition", () => {
    const message = "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 68000.";
    expect(refused(429, { error: { message } })).toMatchObject({ reason: "rate_limit", retryable: false });
  });

  test("may say itself that a repetition is in vain", () => {
    expect(refused(503, "no", { "x-should-retry": "false" }).retryable).toBe(false);
    expect(refused(503, "no", { "x-should-retry": "true" }).retryable).toBe(true);
    expect(refused(400, "no", { "x-should-retry": "true" }).retryable).toBe(false);
  });

  test.each([
    [{ error: { message: "nested" } }, "nested"],
    [{ error: "plain" }, "plain"],
    [{ detail: "fastapi" }, "fastapi"],
    [{ message: "top" }, "top"],
    ["just words", "just words"],
    [[{ error: { message: "google's list" } }], '[{"error":{"message":"google\'s list"}}]'],
  ])("says what its body %j says", (body, words) => {
    expect(refused(400, body).message).toBe(`p answered HTTP 400: ${words}`);
  });

  test.each(["<html>a page</html>", ""])("says its status, where %j is no words", (body) => {
    expect(refused(400, body).message).toBe("p answered HTTP 400");
  });
});

describe("how long to wait", () => {
  test.each([
    [{ "retry-after-ms": "1500", "retry-after": "9" }, 1500],
    [{ "retry-after": "0.25" }, 250],
    [{ "retry-after": "7" }, 7000],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:10 GMT" }, 10_000],
    [{ "retry-after": "Wed, 31 Dec 2025 23:00:00 GMT" }, 0],
    [{ "retry-after": "Thu, 01 Jan 2026 07:00:10 GMT", date: "Thu, 01 Jan 2026 07:00:00 GMT" }, 10_000],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "" }, undefined],
    [{ "retry-after": "-1" }, undefined],
    [{}, undefined],
  ])("of %j is %s", (headers, expected) => {
    expect(refused(429, "slow down", headers as Record<string, string>).retryAfterMs).toBe(expected);
  });

  test("stands in the details of Google's refusals", () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" }];
    expect(refused(429, { error: { message: "no", details } }).retryAfterMs).toBe(34_500);
  });
});

describe("a call without an answer", () => {
  const broken = (error: unknown, members: Partial<Parameters<typeof failureOf>[0]> = {}): ModelFailure =>
    failureOf({ ...noAnswer, error, ...members });

  test("says what happened at the bottom of the causes", () => {
    const refusedAt = Object.assign(new Error(""), { code: "ECONNREFUSED" });
    const error = new TypeError("fetch failed", { cause: new AggregateError([refusedAt]) });
    expect(broken(error)).toEqual({
      reason: "network",
      message: "p could not be reached: ECONNREFUSED",
      retryable: true,
    });
  });

  test("that took too long is a timeout", () => {
    const cause = Object.assign(new Error("Headers Timeout Error"), { code: "UND_ERR_HEADERS_TIMEOUT" });
    expect(broken(new TypeError("fetch failed", { cause }))).toMatchObject({
      reason: "timeout",
      retryable: true,
    });
  });

  test("that could not even be sent is not tried again", () => {
    expect(broken(new Error("file part media type x"), { sent: false })).toMatchObject({
      reason: "malformed",
      retryable: false,
    });
  });

  test.each([undefined, null, "words", 7, {}, { cause: null }, []])(
    "is described whatever was thrown: %j",
    (error) => {
      expect(broken(error).message).toMatch(/^p could not be reached: ./);
    },
  );

  test("ends, where an error is its own cause", () => {
    const error = new Error("loop");
    error.cause = error;
    expect(broken(error).message).toBe("p could not be reached: loop");
  });
});

test("a refusal from a cassette is judged as one from a provider", () => {
  expect(
    refusedFailure({ provider: "cassette", status: 429, message: "slow down", retryAfterMs: 50 }),
  ).toEqual({
    reason: "rate_limit",
    message: "cassette answered HTTP 429: slow down",
    status: 429,
    retryAfterMs: 50,
    retryable: true,
  });
});

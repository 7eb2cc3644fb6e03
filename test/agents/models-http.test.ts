import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ModelEvent, ModelFailure } from "../../src/model/agent.ts";
import { type ModelServer, type ModelTurn, startModelServer } from "../peers/model-server.ts";
import { answeredIn, callOver, modelCall, secretKey, type Wire, wires } from "./wire.ts";

// The real provider packages against a real server on the loopback.

const allWires = Object.keys(wires) as Wire[];

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer();
});
afterEach(() => server.close());

function failureIn(events: ModelEvent[]): ModelFailure {
  const last = events.at(-1);
  if (last?.type !== "failed") throw new Error(`no failure: ${JSON.stringify(last)}`);
  return last.failure;
}

function deltasIn(events: ModelEvent[], part: "text" | "reasoning"): string {
  return events
    .flatMap((event) => (event.type === "delta" && event.part === part ? [event.text] : []))
    .join("");
}

const oddArgs = '{"z":1,  "a":12345678901234567890,\n"path":"ä\\u0000"}';
const wholeTurn: ModelTurn = {
  reasoning: { text: "Let me think about it.", signature: "EqQBCk+/w==" },
  text: "Héllo wörld ✓",
  calls: [
    { id: "call_a", name: "read", args: oddArgs },
    { id: "call_b", name: "glob", args: '{"pattern":"*"}' },
  ],
  usage: { input: 100, output: 20, cachedInput: 40, reasoning: 5 },
};

const afterTools = modelCall({
  messages: [
    { role: "user", parts: [{ type: "text", text: "Look" }] },
    { role: "assistant", parts: [{ type: "tool_call", call: "call_a", tool: "read", args: {} }] },
    {
      role: "tool",
      parts: [{ type: "tool_result", call: "call_a", tool: "read", output: "a", isError: false }],
    },
  ],
});

describe.each(allWires)("over the wire of %s", (wire) => {
  test("an answer arrives whole: reasoning, text, two calls, usage, and its deltas before it", async () => {
    server.push(wholeTurn);
    const events = await callOver(wire, server.url);
    const answer = answeredIn(events);
    const shape = answer.parts.map((part) =>
      part.type === "call" ? [part.call, part.tool] : [part.type, part.text],
    );
    expect(shape).toEqual([
      ["reasoning", "Let me think about it."],
      ["text", "Héllo wörld ✓"],
      ["call_a", "read"],
      ["call_b", "glob"],
    ]);
    expect(answer.usage).toEqual({ input: 100, output: 20, cachedInput: 40, reasoning: 5 });
    expect(answer.stopReason).toBe("tool-calls");
    expect(deltasIn(events, "reasoning")).toBe("Let me think about it.");
    expect(deltasIn(events, "text")).toBe("Héllo wörld ✓");
    expect(events.filter((event) => event.type !== "delta")).toHaveLength(1);
    expect(server.requests.map((request) => request.path)).toEqual([wires[wire].path]);
  });

  test("an answer of nothing to a question is a failure, and after results of tools the end", async () => {
    const nothing: ModelTurn = { usage: { input: 3, output: 0 } };
    server.push(nothing, nothing);
    const events = await callOver(wire, server.url);
    expect(events).toHaveLength(1);
    expect(failureIn(events)).toMatchObject({ reason: "malformed", retryable: true, began: true });
    expect(answeredIn(await callOver(wire, server.url, { call: afterTools }))).toMatchObject({
      parts: [],
      stopReason: "stop",
      usage: { input: 3, output: 0 },
    });
  });

  test("a call of a tool that breaks off began, though nothing of it was shown", async () => {
    const isWhole = wire === "google";
    server.push({ calls: wholeTurn.calls ?? [], cut: isWhole ? 1 : 4 });
    const events = await callOver(wire, server.url);
    expect(events).toHaveLength(1);
    expect(failureIn(events)).toMatchObject({ reason: "network", began: true });
  });

  test("usage that the provider did not break down is not made up", async () => {
    server.push({ text: "Hi.", usage: { input: 3, output: 2 } });
    expect(answeredIn(await callOver(wire, server.url)).usage).toEqual({ input: 3, output: 2 });
  });

  test("an answer that hit the limit says so", async () => {
    const limit = { anthropic: "max_tokens", openai: "max_output_tokens", google: "MAX_TOKENS" };
    server.push({ text: "And so", stop: wire === "openai-compatible" ? "length" : limit[wire] });
    expect(answeredIn(await callOver(wire, server.url)).stopReason).toBe("length");
  });

  test.each([500, 503, 529])(
    "status %i is worth a retry, and nobody retried it in secret",
    async (status) => {
      server.push({ error: { status } }, { text: "not asked for" });
      const events = await callOver(wire, server.url);
      expect(events).toHaveLength(1);
      expect(failureIn(events)).toMatchObject({ reason: "http", status, retryable: true });
      expect(server.requests).toHaveLength(1);
    },
  );

  test("a rate limit says how long to wait, after one request", async () => {
    server.push({ error: { status: 429, headers: { "retry-after": "2" } } }, { text: "not asked for" });
    const failure = failureIn(await callOver(wire, server.url));
    expect(failure).toMatchObject({ reason: "rate_limit", status: 429, retryAfterMs: 2000, retryable: true });
    expect(server.requests).toHaveLength(1);
  });

  test("a connection that breaks in the answer is a failure of the network, whatever had come", async () => {
    server.push({ text: "A long answer that breaks.", calls: wholeTurn.calls ?? [], cut: 4 });
    const events = await callOver(wire, server.url);
    expect(failureIn(events)).toMatchObject({ reason: "network", retryable: true });
    expect(server.requests).toHaveLength(1);
  });

  test("an answer that ends in good order but too early is not taken for whole", async () => {
    server.push({ text: "A long answer that ends.", cut: 3, afterwards: "end" });
    const events = await callOver(wire, server.url);
    expect(deltasIn(events, "text")).not.toBe("");
    expect(failureIn(events)).toMatchObject({ reason: "network", retryable: true });
  });

  test("an event that is no JSON fails the answer as malformed", async () => {
    server.push({ text: "Some text before it.", insert: { at: 3, data: '{"type": broken' } });
    expect(failureIn(await callOver(wire, server.url))).toMatchObject({
      reason: "malformed",
      retryable: true,
    });
  });

  test("a first event that is no JSON fails the answer as malformed", async () => {
    server.push({ text: "Never read.", insert: { at: 0, data: "{broken" } });
    const failure = failureIn(await callOver(wire, server.url));
    expect(failure.reason).toBe("malformed");
    expect(failure.status).toBeUndefined();
  });

  test("an abort in the middle of an answer ends it at once and closes the connection", async () => {
    server.push({ text: "word ".repeat(400), eventDelayMs: 5 });
    const abort = new AbortController();
    const events = await callOver(wire, server.url, {
      signal: abort.signal,
      onEvent: (event) => event.type === "delta" && abort.abort(),
    });
    expect(failureIn(events)).toMatchObject({ reason: "interrupted", retryable: false });
    expect(events.length).toBeLessThan(10);
    await expect.poll(() => server.requests[0]?.cutByClient).toBe(true);
  });

  test("an abort before the provider answered ends the call", async () => {
    server.push({ text: "Too late.", delayMs: 60_000 });
    const abort = new AbortController();
    const events = callOver(wire, server.url, { signal: abort.signal });
    await expect.poll(() => server.requests).toHaveLength(1);
    abort.abort();
    expect(failureIn(await events).reason).toBe("interrupted");
  });

  test("a call that was aborted before it began sends nothing", async () => {
    const events = await callOver(wire, server.url, { signal: AbortSignal.abort() });
    expect(failureIn(events).reason).toBe("interrupted");
    expect(server.requests).toEqual([]);
  });

  test("a provider that cannot be reached is a failure of the network", async () => {
    await server.close();
    expect(failureIn(await callOver(wire, server.url))).toMatchObject({
      reason: "network",
      message: expect.stringMatching(/could not be reached: connect ECONNREFUSED/),
      retryable: true,
    });
  });

  test("no message shows the key, even where the provider repeats it", async () => {
    const message = `Incorrect API key provided: ${secretKey}. ${"x".repeat(4000)}`;
    server.push({
      error: { status: 401, body: { type: "error", error: { type: "authentication", message } } },
    });
    const failure = failureIn(await callOver(wire, server.url));
    expect(failure).toMatchObject({ reason: "auth", status: 401, retryable: false });
    expect(failure.message).toContain("Incorrect API key provided: [redacted]");
    expect(failure.message.length).toBeLessThan(2000);
  });

  test("a redirect is a failure: the key goes nowhere but where it was sent", async () => {
    const elsewhere = await startModelServer([{ text: "stolen" }]);
    const location = `${elsewhere.url}${wires[wire].path}`;
    server.push({ error: { status: 307, headers: { location } } });
    const failure = failureIn(await callOver(wire, server.url));
    expect(failure).toMatchObject({ reason: "http", status: 307, retryable: false });
    expect(elsewhere.requests).toEqual([]);
    await elsewhere.close();
  });

  test("a page in place of an answer names the base URL as the likely fault", async () => {
    const headers = { "content-type": "text/html" };
    server.push({ error: { status: 200, body: "<html>Welcome</html>", headers } });
    expect(failureIn(await callOver(wire, server.url))).toMatchObject({
      reason: "malformed",
      message: expect.stringContaining("text/html instead of a stream of events; is its base URL right?"),
      retryable: false,
    });
  });
});

describe("errors inside a stream", () => {
  const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  const failedResponse = (code: string, message: string): string =>
    JSON.stringify({
      type: "response.failed",
      sequence_number: 1,
      response: { error: { code, message }, incomplete_details: null },
    });
  const rows: [string, Wire, { at: number; data: string }, Partial<ModelFailure>][] = [
    [
      "at its start",
      "anthropic",
      { at: 0, data: JSON.stringify(overloaded) },
      { reason: "http", retryable: true },
    ],
    [
      "after text",
      "anthropic",
      { at: 3, data: JSON.stringify(overloaded) },
      { reason: "http", retryable: true },
    ],
    [
      "that is a quota",
      "openai",
      { at: 1, data: failedResponse("insufficient_quota", "You exceeded your current quota.") },
      { reason: "quota", retryable: false },
    ],
    [
      "that is a rate limit",
      "openai",
      { at: 4, data: failedResponse("rate_limit_exceeded", "Slow down.") },
      { reason: "rate_limit", retryable: true },
    ],
    [
      "that is an overflow",
      "openai",
      { at: 1, data: failedResponse("context_length_exceeded", "Your input exceeds the context window.") },
      { reason: "context_overflow", retryable: false },
    ],
    [
      "of a gateway",
      "openai-compatible",
      { at: 2, data: JSON.stringify({ error: { message: "upstream is gone", code: 502 } }) },
      { reason: "http", retryable: true },
    ],
    [
      "of Google",
      "google",
      { at: 1, data: JSON.stringify({ error: { code: 503, message: "overloaded", status: "UNAVAILABLE" } }) },
      { reason: "http", retryable: true },
    ],
  ];

  test.each(rows)("one %s of %s is judged by its name", async (_name, wire, insert, expected) => {
    server.push({ text: "Some text of an answer.", insert });
    const failure = failureIn(await callOver(wire, server.url));
    expect(failure).toMatchObject(expected);
    expect(failure.message).toContain("broke off with an error: ");
    expect(failure.status).toBeUndefined();
    expect(server.requests).toHaveLength(1);
  });
});

describe("one call is one request", () => {
  test("an answer that Google would go on with in a second request ends where the first one did", async () => {
    const first = { candidates: [{ finishReason: "CONTINUATION", continuationToken: "more", index: 0 }] };
    server.push({
      text: "The first half",
      insert: { at: 2, data: JSON.stringify(first) },
      cut: 3,
      afterwards: "end",
    });
    server.push({ text: "the second half" });
    expect(answeredIn(await callOver("google", server.url))).toMatchObject({
      parts: [{ type: "text", text: "The first half" }],
      stopReason: "length",
    });
    expect(server.requests).toHaveLength(1);
  });

  test("a reader that stops early closes the connection", async () => {
    server.push({ text: "word ".repeat(400), eventDelayMs: 5 });
    const stop = new Error("enough");
    const reading = callOver("anthropic", server.url, {
      onEvent: () => {
        throw stop;
      },
    });
    await expect(reading).rejects.toBe(stop);
    await expect.poll(() => server.requests[0]?.cutByClient).toBe(true);
  });
});

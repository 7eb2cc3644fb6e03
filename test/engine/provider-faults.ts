import type { ModelFailed } from "../../src/model/facts.ts";
import type { Wire } from "../agents/wire.ts";
import type { ModelTurn } from "../peers/model-server.ts";
import { errorBody, overflows, rateLimits, refusals } from "./provider-refusals.ts";
import type { Expiry } from "./provider-scene.ts";

/** Every way a provider can fail, as data: what the server does, and what the log must say of it. */

/** One fault. */
export interface Fault {
  name: string;
  /** Absent: all of them. */
  wires?: readonly Wire[];
  turn(wire: Wire): ModelTurn;
  /** The limit that runs out. */
  expire?: Expiry;
  /** What `model.failed` says. */
  failed: Partial<ModelFailed>;
  /** The run goes on with another call, waits for a resume, or ends for this reason. */
  outcome: "repeated" | "suspended" | { ended: string };
}

const text = "This is a long answer, and it has an end.";
const call = { id: "call_1", name: "write", args: '{"path":"a.txt","content":"a long text, and longer"}' };

/** Errors that an answer of status 200 streams, in the shapes of each protocol. */
function streamed(wire: Wire, [message, name]: readonly [message: string, name: string]): string {
  if (wire !== "openai") return JSON.stringify(errorBody(wire, message, name));
  const response = { error: { code: name, message }, incomplete_details: null };
  return JSON.stringify({ type: "response.failed", sequence_number: 1, response });
}

const overloads: Record<Wire, string> = {
  anthropic: streamed("anthropic", ["Overloaded", "overloaded_error"]),
  openai: streamed("openai", ["Our servers are overloaded.", "server_is_overloaded"]),
  "openai-compatible": JSON.stringify({ error: { message: "upstream is gone", code: 502 } }),
  google: JSON.stringify({ error: { code: 503, message: "overloaded", status: "UNAVAILABLE" } }),
};

const inStream: Fault[] = [
  ...[0, 3].map((at): Fault => ({
    name: at === 0 ? "an overload in place of the first event" : "an overload in the middle of the answer",
    turn: (wire) => ({ text, insert: { at, data: overloads[wire] } }),
    failed: { reason: "http", retryable: true },
    outcome: "repeated",
  })),
  {
    name: "a limit of the rate, inside the stream",
    wires: ["anthropic", "openai"],
    turn: (wire) => ({
      text,
      insert: { at: 2, data: streamed(wire, rateLimits[wire === "openai" ? wire : "anthropic"]) },
    }),
    failed: { reason: "rate_limit", retryable: true },
    outcome: "repeated",
  },
  {
    name: "a conversation that fits no more, inside the stream",
    wires: ["openai", "openai-compatible"],
    turn: (wire) => ({
      text,
      insert: { at: 1, data: streamed(wire, overflows[wire === "openai" ? wire : "openai-compatible"]) },
    }),
    failed: { reason: "context_overflow", retryable: false },
    outcome: { ended: "context_overflow" },
  },
  {
    name: "an error with status 200 in place of a stream",
    turn: () => ({ error: { status: 200, body: { error: { message: "slow down", code: 429 } } } }),
    failed: { reason: "rate_limit", retryable: true },
    outcome: "repeated",
  },
];

const connections: Fault[] = [
  {
    name: "a connection that ends before the head of the answer",
    turn: () => ({ noHead: true }),
    failed: { reason: "network", retryable: true, began: false },
    outcome: "repeated",
  },
  {
    name: "a connection that ends before the first token",
    turn: () => ({ cut: 0 }),
    failed: { reason: "network", retryable: true, began: false },
    outcome: "repeated",
  },
  {
    name: "a connection that ends in the middle of the text",
    turn: () => ({ text, cut: 4 }),
    failed: { reason: "network", retryable: true, began: true },
    outcome: "repeated",
  },
  {
    name: "a connection that ends in the middle of the arguments of a call",
    turn: (wire) => ({ calls: [call], ...(wire === "google" ? { cut: 0, cutBytes: 90 } : { cut: 5 }) }),
    failed: { reason: "network", retryable: true },
    outcome: "repeated",
  },
  {
    name: "a connection that ends in the middle of a character",
    turn: () => ({
      events: [JSON.stringify({ type: "ping", choices: [], text: "ä" })],
      cut: 0,
      cutBytes: Buffer.byteLength('data: {"type":"ping","choices":[],"text":"') + 1,
    }),
    failed: { reason: "network", retryable: true },
    outcome: "repeated",
  },
  {
    name: "an answer that ends in good order before it is whole",
    turn: () => ({ text, cut: 4, afterwards: "end" }),
    failed: { reason: "network", retryable: true, began: true },
    outcome: "repeated",
  },
  {
    name: "a stream without any event",
    turn: () => ({ cut: 0, afterwards: "end" }),
    failed: { reason: "network", retryable: true, began: false },
    outcome: "repeated",
  },
];

const timeouts: Fault[] = [
  {
    name: "no head of an answer in time",
    turn: () => ({ noHead: true, afterwards: "hang" }),
    expire: { limit: "headMs", when: (scene) => scene.asked().length === 1 },
    failed: { reason: "timeout", retryable: true, began: false },
    outcome: "repeated",
  },
  {
    name: "no first token in time",
    turn: () => ({ cut: 0, afterwards: "hang" }),
    expire: { limit: "silenceMs" },
    failed: { reason: "timeout", retryable: true, began: false },
    outcome: "repeated",
  },
  {
    name: "no first token in time, though there are signs of life",
    turn: () => ({ cut: 0, afterwards: "ping" }),
    expire: { limit: "progressMs", when: (scene) => scene.begun.has("silenceMs") },
    failed: { reason: "timeout", retryable: true, began: false },
    outcome: "repeated",
  },
  {
    name: "silence in the middle of the text",
    turn: () => ({ text, cut: 4, afterwards: "hang" }),
    expire: { limit: "silenceMs", when: (scene) => scene.live.length > 0 },
    failed: { reason: "timeout", retryable: true, began: true },
    outcome: "repeated",
  },
  {
    name: "nothing but signs of life in the middle of the text",
    turn: () => ({ text, cut: 4, afterwards: "ping" }),
    expire: { limit: "progressMs", when: (scene) => scene.live.length > 0 },
    failed: { reason: "timeout", retryable: true, began: true },
    outcome: "repeated",
  },
  {
    name: "silence in the middle of the arguments of a call",
    turn: (wire) => ({
      calls: [call],
      ...(wire === "google" ? { cut: 0, cutBytes: 90 } : { cut: 5 }),
      afterwards: "hang",
    }),
    expire: { limit: "silenceMs" },
    failed: { reason: "timeout", retryable: true },
    outcome: "repeated",
  },
  {
    name: "a refusal that does not come to its end",
    turn: () => ({
      error: { status: 429, body: '{"error":{"mess', headers: { "retry-after": "7" } },
      afterwards: "hang",
    }),
    expire: { limit: "refusalMs" },
    failed: { reason: "rate_limit", status: 429, retryAfterMs: 7000, retryable: true },
    outcome: "repeated",
  },
];

const wrongTypes: Record<Wire, string> = {
  anthropic: '{"type":"content_block_delta","index":"zero","delta":7}',
  openai: '{"type":"response.output_text.delta","item_id":5,"delta":{}}',
  "openai-compatible": '{"choices":"none"}',
  google: '{"candidates":{"not":"a list"}}',
};

const malformed: Fault[] = [
  ...[0, 3].map((at): Fault => ({
    name: at === 0 ? "a first event that is no JSON" : "an event that is no JSON",
    turn: () => ({ text, insert: { at, data: '{"type": broken' } }),
    failed: { reason: "malformed", retryable: true },
    outcome: "repeated",
  })),
  ...[0, 3].map((at): Fault => ({
    name: at === 0 ? "a first event of the wrong types" : "an event of the wrong types",
    turn: (wire) => ({ text, insert: { at, data: wrongTypes[wire] } }),
    failed: { reason: "malformed", retryable: true },
    outcome: "repeated",
  })),
  {
    name: "bytes that are no UTF-8",
    turn: () => ({ text, insert: { at: 2, data: new Uint8Array([0x22, 0xff, 0xfe, 0x22]) } }),
    failed: { reason: "malformed", retryable: true },
    outcome: "repeated",
  },
  {
    name: "what is not packed as it says",
    turn: () => ({
      error: {
        status: 200,
        body: "data: {}\n\n",
        headers: { "content-type": "text/event-stream", "content-encoding": "gzip" },
      },
    }),
    failed: { reason: "malformed", retryable: true },
    outcome: "repeated",
  },
  {
    name: "a page in place of an answer",
    turn: () => ({
      error: { status: 200, body: "<html>Welcome</html>", headers: { "content-type": "text/html" } },
    }),
    failed: { reason: "malformed", retryable: false },
    outcome: "suspended",
  },
  {
    name: "an answer that is no stream",
    turn: () => ({ error: { status: 200, body: { id: "x", content: [], choices: [], output: [] } } }),
    failed: { reason: "malformed", retryable: false },
    outcome: "suspended",
  },
  {
    name: "an answer of nothing at all",
    turn: () => ({ error: { status: 200, body: "" } }),
    failed: { reason: "malformed", retryable: false },
    outcome: "suspended",
  },
];

const nothingSaid: Fault[] = [
  {
    name: "an answer that says nothing",
    turn: () => ({ usage: { input: 3, output: 0 } }),
    failed: { reason: "malformed", retryable: true },
    outcome: "repeated",
  },
  {
    name: "an answer of white space",
    turn: () => ({ text: " \n ", usage: { input: 3, output: 1 } }),
    failed: { reason: "malformed", retryable: true },
    outcome: "repeated",
  },
  {
    name: "an answer that is all reasoning",
    turn: () => ({ reasoning: { text: "I think.", signature: "sig" } }),
    failed: { reason: "malformed", retryable: true },
    outcome: "repeated",
  },
  {
    name: "a provider that gives up",
    wires: ["openai-compatible", "google"],
    turn: (wire) => ({ text: "Half", stop: wire === "google" ? "MALFORMED_FUNCTION_CALL" : "error" }),
    failed: { reason: "malformed", retryable: true },
    outcome: "repeated",
  },
];

/** All of them. */
export const faults: readonly Fault[] = [
  ...refusals,
  ...inStream,
  ...connections,
  ...timeouts,
  ...malformed,
  ...nothingSaid,
];

import type { ProviderName } from "./choice.ts";
import { isRecord } from "../../../model/values.ts";
import { parseJson } from "./json.ts";

/** What stands between the network and a provider's package: it sees whole events, and decides which of them pass. */

/** Told of what comes. */
export interface GateWatcher {
  /** This came, in order. */
  arrived(text: string): void;
  /** What came is no stream of text, so nothing after it can be trusted; in words for people. */
  garbled(why: string): void;
}

/** Events that Anthropic's package knows; it fails at others, and the protocol says that there may be others. */
const anthropicEvents = new Set([
  "message_start",
  "message_delta",
  "message_stop",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "ping",
  "error",
]);

/** An event of a stream is larger than this only where it is no stream of events. */
const eventLengthMax = 64 * 1024 * 1024;

const endOfEvent = /\r\n(?:\r\n|\n|\r)|\n(?:\r\n|\n|\r)|\r(?!\n)(?:\r\n|\n|\r)/g;

/** Passes a stream of events on, but for those of a kind that its package would fail at. Errors at what is no UTF-8. */
export function gateEvents(
  provider: ProviderName,
  watcher: GateWatcher,
): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const encoder = new TextEncoder();
  let rest = "";
  return new TransformStream({
    transform(bytes, controller) {
      let text: string;
      try {
        text = decoder.decode(bytes, { stream: true });
      } catch (error) {
        watcher.garbled("bytes that are no UTF-8");
        controller.error(error);
        return;
      }
      watcher.arrived(text);
      const events = cut(rest + text, rest.length);
      rest = events.pop() ?? "";
      for (const event of events)
        if (isForPackage(event, provider)) controller.enqueue(encoder.encode(event));
      if (rest.length <= eventLengthMax) return;
      watcher.garbled("an event without an end");
      controller.error(new RangeError(`an event is longer than ${eventLengthMax} characters`));
    },
    flush(controller) {
      // An event without its end is none, and half a character at the end of all is nothing either.
      if (rest !== "") controller.enqueue(encoder.encode(rest));
    },
  });
}

/** Whole events with their ends, and what is left. The first `seen` characters are known to hold no end. */
function cut(text: string, seen: number): string[] {
  const pieces: string[] = [];
  let from = 0;
  endOfEvent.lastIndex = Math.max(0, seen - 3);
  while (endOfEvent.test(text)) {
    pieces.push(text.slice(from, endOfEvent.lastIndex));
    from = endOfEvent.lastIndex;
  }
  return [...pieces, text.slice(from)];
}

/** Unknown kinds are passed over; what looks like an error is not, for it says why no answer comes. */
function isForPackage(event: string, provider: ProviderName): boolean {
  if (provider !== "anthropic" && provider !== "openai-compatible") return true;
  const value = parseJson(dataOf(event));
  if (!isRecord(value)) return true;
  if (provider === "anthropic")
    return typeof value["type"] !== "string" || anthropicEvents.has(value["type"]);
  return "choices" in value || ["error", "message", "detail"].some((name) => name in value);
}

function dataOf(event: string): string {
  return event
    .split(/\r\n|\n|\r/)
    .flatMap((line) => (line.startsWith("data:") ? [line.slice(5)] : []))
    .join("\n");
}

import type { ModelCall, ModelEvent } from "../../../model/agent.ts";

/** When an answer that came whole is none. Pure. */

/** Words by which a provider says that it gave up; packages take them for an ordinary end. */
const brokenWords: ReadonlySet<string> = new Set([
  "abort",
  "error",
  "insufficient_system_resource",
  "network_error",
  "MALFORMED_FUNCTION_CALL",
  "MALFORMED_RESPONSE",
  "UNEXPECTED_TOOL_CALL",
]);

/**
 * Why this is no answer, as what the provider did; undefined where it is one. Who was asked something and says nothing
 * has failed. After the results of tools a model may have nothing to add, and then an empty answer is its end.
 */
export function faultOfAnswer(whole: {
  readonly answered: Extract<ModelEvent, { type: "answered" }>;
  readonly stopWord: string | undefined;
  readonly call: ModelCall;
}): string | undefined {
  const { answered, stopWord = "", call } = whole;
  const { stopReason, parts } = answered;
  if (stopReason === "error" || brokenWords.has(stopWord)) {
    return `gave up its answer${stopWord === "" ? "" : `: ${stopWord}`}`;
  }
  // A limit or a filter says by itself why nothing came.
  if (stopReason === "length" || stopReason === "content-filter") return undefined;
  if (parts.some((part) => part.type === "call" || (part.type === "text" && part.text.trim() !== ""))) {
    return undefined;
  }
  const isAfterTools = call.messages.at(-1)?.role === "tool";
  return stopReason === "stop" && isAfterTools ? undefined : "gave an answer that says nothing";
}

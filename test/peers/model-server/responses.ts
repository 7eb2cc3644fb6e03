import { type ModelTurn, pieces, typed, type WireEvent } from "./script.ts";

/** A turn as OpenAI's Responses API streams it. */
export function responsesEvents(turn: ModelTurn): WireEvent[] {
  const items: WireEvent[][] = [];
  const { reasoning, text, calls = [] } = turn;
  if (reasoning !== undefined) items.push(reasoningItem(reasoning, items.length));
  if (text !== undefined) items.push(messageItem(text, items.length));
  for (const call of calls) items.push(callItem(call, items.length));
  const response = { id: "resp_wire", created_at: 1_764_511_111, model: "m" };
  const { stop } = turn;
  return [
    typed({ type: "response.created", response }),
    ...items.flat(),
    typed({
      type: stop === undefined ? "response.completed" : "response.incomplete",
      response: {
        ...response,
        incomplete_details: stop === undefined ? null : { reason: stop },
        ...usageOf(turn),
      },
    }),
  ];
}

function usageOf({ usage }: ModelTurn): Record<string, unknown> {
  if (usage === undefined) return {};
  const { input, output, cachedInput, reasoning } = usage;
  return {
    usage: {
      input_tokens: input,
      ...(cachedInput !== undefined && { input_tokens_details: { cached_tokens: cachedInput } }),
      output_tokens: output,
      ...(reasoning !== undefined && { output_tokens_details: { reasoning_tokens: reasoning } }),
    },
  };
}

function reasoningItem(
  { text, signature }: { text: string; signature?: string },
  index: number,
): WireEvent[] {
  const item = { type: "reasoning", id: `rs_${index}`, summary: [] };
  const place = { item_id: item.id, output_index: index, summary_index: 0 };
  return [
    typed({ type: "response.output_item.added", output_index: index, item }),
    typed({ type: "response.reasoning_summary_part.added", ...place }),
    ...pieces(text).map((delta) => typed({ type: "response.reasoning_summary_text.delta", ...place, delta })),
    typed({ type: "response.reasoning_summary_part.done", ...place }),
    typed({
      type: "response.output_item.done",
      output_index: index,
      item: {
        ...item,
        ...(signature !== undefined && { encrypted_content: signature }),
        summary: [{ type: "summary_text", text }],
      },
    }),
  ];
}

function messageItem(text: string, index: number): WireEvent[] {
  const item = { type: "message", id: `msg_${index}`, role: "assistant", status: "in_progress", content: [] };
  const place = { item_id: item.id, output_index: index, content_index: 0 };
  return [
    typed({ type: "response.output_item.added", output_index: index, item }),
    ...pieces(text).map((delta) => typed({ type: "response.output_text.delta", ...place, delta })),
    typed({ type: "response.output_item.done", output_index: index, item: { ...item, status: "completed" } }),
  ];
}

function callItem(call: { id: string; name: string; args: string }, index: number): WireEvent[] {
  const { id, name, args } = call;
  const item = { type: "function_call", id: `fc_${index}`, call_id: id, name, arguments: "" };
  const place = { item_id: item.id, output_index: index };
  return [
    typed({ type: "response.output_item.added", output_index: index, item }),
    ...pieces(args).map((delta) =>
      typed({ type: "response.function_call_arguments.delta", ...place, delta }),
    ),
    typed({ type: "response.function_call_arguments.done", ...place, arguments: args }),
    typed({
      type: "response.output_item.done",
      output_index: index,
      item: { ...item, arguments: args, status: "completed" },
    }),
  ];
}

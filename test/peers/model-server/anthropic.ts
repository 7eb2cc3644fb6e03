import { type ModelTurn, pieces, typed, type WireEvent } from "./script.ts";

interface Block {
  start: Record<string, unknown>;
  deltas: Record<string, unknown>[];
}

function blocksOf({ reasoning, text, calls = [] }: ModelTurn): Block[] {
  const blocks: Block[] = [];
  if (reasoning !== undefined) {
    const deltas: Block["deltas"] = pieces(reasoning.text).map((thinking) => ({
      type: "thinking_delta",
      thinking,
    }));
    const { signature } = reasoning;
    if (signature !== undefined) deltas.push({ type: "signature_delta", signature });
    blocks.push({ start: { type: "thinking", thinking: "", signature: "" }, deltas });
  }
  if (text !== undefined) {
    const deltas = pieces(text).map((piece) => ({ type: "text_delta", text: piece }));
    blocks.push({ start: { type: "text", text: "" }, deltas });
  }
  for (const { id, name, args } of calls) {
    const deltas = pieces(args).map((json) => ({ type: "input_json_delta", partial_json: json }));
    blocks.push({ start: { type: "tool_use", id, name, input: {} }, deltas });
  }
  return blocks;
}

/** A turn as Anthropic Messages streams it. */
export function anthropicEvents(turn: ModelTurn): WireEvent[] {
  const { calls = [], usage } = turn;
  const cached = usage?.cachedInput;
  const counted = {
    input_tokens: (usage?.input ?? 0) - (cached ?? 0),
    output_tokens: 1,
    ...(cached !== undefined && { cache_read_input_tokens: cached, cache_creation_input_tokens: 0 }),
  };
  const message = { id: "msg_wire", type: "message", role: "assistant", model: "m", content: [] };
  const spent = usage?.reasoning;
  return [
    typed({ type: "message_start", message: { ...message, stop_reason: null, usage: counted } }),
    ...blocksOf(turn).flatMap(({ start, deltas }, index) => [
      typed({ type: "content_block_start", index, content_block: start }),
      ...deltas.map((delta) => typed({ type: "content_block_delta", index, delta })),
      typed({ type: "content_block_stop", index }),
    ]),
    typed({
      type: "message_delta",
      delta: { stop_reason: turn.stop ?? (calls.length > 0 ? "tool_use" : "end_turn"), stop_sequence: null },
      usage: {
        output_tokens: usage?.output ?? 0,
        ...(spent !== undefined && { output_tokens_details: { thinking_tokens: spent } }),
      },
    }),
    typed({ type: "message_stop" }),
  ];
}

import { type ModelTurn, pieces, type WireEvent } from "./script.ts";

/** A turn as OpenAI's Chat Completions, and all that imitate it, stream it. */
export function chatEvents(turn: ModelTurn): WireEvent[] {
  const { reasoning, text, calls = [], usage } = turn;
  const deltas: Record<string, unknown>[] = [{ role: "assistant", content: "" }];
  for (const piece of pieces(reasoning?.text ?? "")) deltas.push({ reasoning_content: piece });
  for (const piece of pieces(text ?? "")) deltas.push({ content: piece });
  calls.forEach(({ id, name, args }, index) => {
    deltas.push({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
    for (const piece of pieces(args))
      deltas.push({ tool_calls: [{ index, function: { arguments: piece } }] });
  });
  const stop = turn.stop ?? (calls.length > 0 ? "tool_calls" : "stop");
  return [
    ...deltas.map((delta) => chunk({ choices: [{ index: 0, delta, finish_reason: null }] })),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: stop }] }),
    ...(usage === undefined ? [] : [chunk({ choices: [], usage: usageOf(usage) })]),
    { data: "[DONE]" },
  ];
}

function chunk(members: Record<string, unknown>): WireEvent {
  const head = { id: "chatcmpl_wire", object: "chat.completion.chunk", created: 1_764_511_111, model: "m" };
  return { data: JSON.stringify({ ...head, ...members }) };
}

function usageOf({
  input,
  output,
  cachedInput,
  reasoning,
}: NonNullable<ModelTurn["usage"]>): Record<string, unknown> {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    ...(cachedInput !== undefined && { prompt_tokens_details: { cached_tokens: cachedInput } }),
    ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}

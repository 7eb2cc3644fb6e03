import { type ModelTurn, pieces, type WireEvent } from "./script.ts";

/** A turn as Google's generative language API streams it. Arguments are JSON there, not text. */
export function googleEvents(turn: ModelTurn): WireEvent[] {
  const { reasoning, text, calls = [], usage } = turn;
  const parts: Record<string, unknown>[] = [];
  if (reasoning !== undefined) {
    const { signature: thoughtSignature } = reasoning;
    for (const piece of pieces(reasoning.text)) parts.push({ text: piece, thought: true, thoughtSignature });
  }
  for (const piece of pieces(text ?? "")) parts.push({ text: piece });
  for (const { id, name, args } of calls) parts.push({ functionCall: { id, name, args: JSON.parse(args) } });
  const last = {
    candidates: [{ content: { role: "model", parts: [] }, finishReason: turn.stop ?? "STOP", index: 0 }],
    ...(usage !== undefined && {
      usageMetadata: {
        promptTokenCount: usage.input,
        // What the model says and what it thinks are counted apart there.
        candidatesTokenCount: usage.output - (usage.reasoning ?? 0),
        totalTokenCount: usage.input + usage.output,
        ...(usage.cachedInput !== undefined && { cachedContentTokenCount: usage.cachedInput }),
        ...(usage.reasoning !== undefined && { thoughtsTokenCount: usage.reasoning }),
      },
    }),
  };
  const events = parts.map((part) => ({
    candidates: [{ content: { role: "model", parts: [part] }, index: 0 }],
    responseId: "google_wire",
  }));
  return [...events, last].map((event) => ({ data: JSON.stringify(event) }));
}

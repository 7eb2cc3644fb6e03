import type { Clock } from "../../../host/index.ts";
import type { AnswerPart, Model, ModelEvent, ModelFailure } from "../../../model/agent.ts";
import type { AnswerTurn, Cassette, CassetteTurn } from "../../../model/cassette.ts";
import { argsTextOf, partsOfTurn, stopReasonOf, wordsOf } from "../../../model/cassette-turn.ts";
import type { Json } from "../../../model/values.ts";
import { interruptedFailure } from "./failure.ts";
import { refusedFailure } from "./refusal.ts";

/** A model that answers from a cassette. It keeps no place of its own: each call says which turn answers it. */

type Fails = Extract<CassetteTurn, { error: unknown }>;

const provider = "cassette";

/** Makes the model; `name` is the cassette's file name. Pauses go through the clock and end with an abort. */
export function makeCassetteModel(cassette: Cassette, name: string, clock: Clock): Model {
  return {
    provider,
    name,
    takesIndex: true,
    async *call({ cassetteIndex: index }, signal) {
      const turn = index === undefined ? undefined : cassette.turns[index];
      if (signal.aborted) yield failed(interruptedFailure(provider));
      else if (index === undefined || turn === undefined) yield failed(exhausted(name, index, cassette));
      else if (isFailing(turn)) yield* fail(turn);
      else yield* play(turn, index, { clock, signal });
    },
  };
}

function failed(failure: ModelFailure): ModelEvent {
  return { type: "failed", failure };
}

function isFailing(turn: CassetteTurn): turn is Fails {
  return "error" in turn;
}

function exhausted(name: string, index: number | undefined, { turns }: Cassette): ModelFailure {
  const wanted = index === undefined ? "the call names none" : `the call takes turns[${index}]`;
  const message = `The cassette ${name} has no turn left: it holds ${turns.length}, ${wanted}.`;
  return { reason: "cassette_exhausted", message, retryable: false };
}

/** What had come of the answer before it failed, then how it did. */
function* fail(turn: Fails): Generator<ModelEvent> {
  const { error } = turn;
  if ("reason" in error) {
    const { parts = [] } = error;
    let before: "text" | "reasoning" | undefined;
    for (const { text, reasoning } of parts) {
      const part = reasoning === undefined ? "text" : "reasoning";
      // Only white space came between them, of which nothing is kept.
      if (part === before) yield { type: "delta", part: part === "text" ? "reasoning" : "text", text: " " };
      for (const word of wordsOf(text ?? reasoning ?? "")) yield { type: "delta", part, text: word };
      before = part;
    }
  }
  yield failed(failureOfTurn(turn));
}

function failureOfTurn({ error }: Fails): ModelFailure {
  const { status, message, retryAfterMs } = error;
  const waits = retryAfterMs !== undefined && { retryAfterMs };
  if ("reason" in error) {
    const { reason, retryable, began, usage } = error;
    return {
      reason,
      message,
      ...(status !== undefined && { status }),
      ...waits,
      retryable,
      ...(began !== undefined && { began }),
      ...(usage !== undefined && { usage }),
    };
  }
  if (status !== undefined) return refusedFailure({ provider, status, message, retryAfterMs });
  return {
    reason: "network",
    message: `${provider} could not be reached: ${message}`,
    ...waits,
    retryable: true,
  };
}

/** Streams one answer word by word. */
async function* play(
  turn: AnswerTurn,
  index: number,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): AsyncGenerator<ModelEvent> {
  const pause = async (ms = 0): Promise<void> => {
    if (ms > 0) await clock.sleep(ms, signal);
  };
  await pause(turn.firstTokenMs);
  const parts = partsOf(turn, index);
  for (const part of parts) {
    if (part.type === "call") continue;
    for (const text of wordsOf(part.text)) {
      if (signal.aborted) break;
      yield { type: "delta", part: part.type, text };
      await pause(turn.perTokenMs);
    }
  }
  if (signal.aborted) {
    yield failed(interruptedFailure(provider));
    return;
  }
  const { usage } = turn;
  yield { type: "answered", parts, ...(usage !== undefined && { usage }), stopReason: stopReasonOf(turn) };
}

function partsOf(turn: AnswerTurn, index: number): AnswerPart[] {
  let calls = 0;
  return partsOfTurn(turn).map((part): AnswerPart => {
    const { providerMetadataText: metadata } = part;
    const added = metadata !== undefined && { providerMetadata: JSON.parse(metadata) as Json };
    if (part.tool !== undefined) {
      const call = `call_${index}_${calls++}`;
      return { type: "call", call, tool: part.tool, argsText: argsTextOf(part), ...added };
    }
    if (part.reasoning === undefined) return { type: "text", text: part.text ?? "", ...added };
    const { reasoning: text, signature } = part;
    return { type: "reasoning", text, ...(signature !== undefined && { signature }), ...added };
  });
}

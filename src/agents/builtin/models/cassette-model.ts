import type { Clock } from "../../../host/index.ts";
import type { AnswerPart, Model, ModelEvent, ModelFailure } from "../../../model/agent.ts";
import type { Cassette, CassetteTurn } from "./cassette.ts";
import { interruptedFailure } from "./failure.ts";
import { refusedFailure } from "./refusal.ts";

/** A model that answers from a cassette. It keeps no place of its own: each call says which turn answers it. */

type Answers = Exclude<CassetteTurn, { error: unknown }>;
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
      else if (isFailing(turn)) yield failed(failureOfTurn(turn));
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

function failureOfTurn({ error }: Fails): ModelFailure {
  const { status, message, retryAfterMs } = error;
  if (status !== undefined) return refusedFailure({ provider, status, message, retryAfterMs });
  const waits = retryAfterMs !== undefined && { retryAfterMs };
  return {
    reason: "network",
    message: `${provider} could not be reached: ${message}`,
    ...waits,
    retryable: true,
  };
}

/** Streams one answer word by word. */
async function* play(
  turn: Answers,
  index: number,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): AsyncGenerator<ModelEvent> {
  const pause = async (ms = 0): Promise<void> => {
    if (ms > 0) await clock.sleep(ms, signal);
  };
  await pause(turn.firstTokenMs);
  for (const part of ["reasoning", "text"] as const) {
    for (const text of wordsOf(turn[part] ?? "")) {
      if (signal.aborted) break;
      yield { type: "delta", part, text };
      await pause(turn.perTokenMs);
    }
  }
  if (signal.aborted) {
    yield failed(interruptedFailure(provider));
    return;
  }
  const parts = partsOf(turn, index);
  const stopReason = parts.some((part) => part.type === "call") ? "tool-calls" : "stop";
  yield { type: "answered", parts, ...(turn.usage !== undefined && { usage: turn.usage }), stopReason };
}

/** Each word with the space after it, so that together they are the text. */
function wordsOf(text: string): string[] {
  return text.match(/\s*\S+\s*|\s+/g) ?? [];
}

function partsOf(turn: Answers, index: number): AnswerPart[] {
  const parts: AnswerPart[] = [];
  if (turn.reasoning) parts.push({ type: "reasoning", text: turn.reasoning });
  if (turn.text) parts.push({ type: "text", text: turn.text });
  turn.calls?.forEach(({ tool, args, argsText }, position) => {
    const call = `call_${index}_${position}`;
    parts.push({ type: "call", call, tool, argsText: argsText ?? JSON.stringify(args ?? {}) });
  });
  return parts;
}

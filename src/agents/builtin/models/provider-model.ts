import type { LanguageModelV3StreamPart } from "@ai-sdk/provider";
import type { Clock } from "../../../host/index.ts";
import type { Model, ModelCall, ModelEvent } from "../../../model/agent.ts";
import { Answer } from "./answer.ts";
import { failureOf, interruptedFailure } from "./failure.ts";
import { translateCall } from "./prompt.ts";
import { type Access, loadLanguageModel } from "./providers.ts";
import { makeSingleRequest } from "./single-request.ts";

/** A model behind a provider's API: one call is one HTTP request, and every end of it is an event. */

interface ProviderModelOptions {
  readonly access: Access;
  readonly clock: Clock;
  /** Masks secrets in what is said about failures. */
  readonly redact: (text: string) => string;
}

const messageLengthMax = 2_000;

/** Makes the model. Nothing is loaded or sent before its first call. */
export function makeProviderModel(options: ProviderModelOptions): Model {
  return {
    provider: options.access.provider,
    name: options.access.model,
    call: (call, signal) => streamCall(options, call, signal),
  };
}

async function* streamCall(
  options: ProviderModelOptions,
  call: ModelCall,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const { access, clock } = options;
  const request = makeSingleRequest(access.fetch);
  const answer = new Answer();
  const failed = (error: unknown): ModelEvent => {
    const { sent, received } = request;
    // Asked first: an abort comes back as any error that the packages wrap it in.
    const failure = signal.aborted
      ? interruptedFailure(access.provider)
      : failureOf({
          provider: access.provider,
          error,
          sent,
          received,
          begun: answer.begun,
          nowMs: clock.now(),
        });
    return { type: "failed", failure: { ...failure, message: clipped(options.redact(failure.message)) } };
  };
  try {
    signal.throwIfAborted();
    const model = await loadLanguageModel({ ...access, fetch: request.fetch });
    const { stream } = await model.doStream({ ...translateCall(call, access), abortSignal: signal });
    for await (const part of readParts(stream, signal)) {
      // A refused second request leaves the answer where the first one ended, which its finish says.
      if (part.type === "error" && !request.refused) {
        yield failed(part.error);
        return;
      }
      const delta = answer.add(part);
      if (delta !== undefined) yield delta;
    }
    yield answer.answered() ?? failed(new Error("it ended before it was complete"));
  } catch (error) {
    yield failed(error);
  }
}

/** The stream's parts. An abort ends it at once, an early end of the reader closes the connection. */
async function* readParts(
  stream: ReadableStream<LanguageModelV3StreamPart>,
  signal: AbortSignal,
): AsyncGenerator<LanguageModelV3StreamPart> {
  const reader = stream.getReader();
  const stop = (): void => {
    // Where the stream has failed already there is nothing left to end, and reading tells of it.
    reader.cancel().then(undefined, () => undefined);
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

function clipped(text: string): string {
  return text.length < messageLengthMax ? text : `${text.slice(0, messageLengthMax - 2)}…`;
}

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
    // An abort reaches the stream through the request's signal; leaving the loop early closes the connection.
    for await (const part of stream) {
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

function clipped(text: string): string {
  return text.length < messageLengthMax ? text : `${text.slice(0, messageLengthMax - 2)}…`;
}

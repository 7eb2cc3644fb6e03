import type { Clock } from "../../../host/index.ts";
import type { Model, ModelCall, ModelEvent, ModelFailure } from "../../../model/agent.ts";
import { Answer } from "./answer.ts";
import { faultOfAnswer } from "./answer-fault.ts";
import type { CallLimits } from "./call-limits.ts";
import { emptyFailure, failureOf, interruptedFailure } from "./failure.ts";
import { translateCall } from "./prompt.ts";
import { type Access, loadLanguageModel } from "./providers.ts";
import { makeSingleRequest } from "./single-request.ts";
import { CallWatch } from "./call-watch.ts";

/** A model behind a provider's API: one call is one HTTP request, and every end of it is an event. */

interface ProviderModelOptions {
  readonly access: Access;
  readonly clock: Clock;
  readonly limits: CallLimits;
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
  const { access, clock, limits } = options;
  const { provider } = access;
  const watch = new CallWatch(clock);
  const request = makeSingleRequest({ provider, fetch: access.fetch, limits, clock, watch });
  const answer = new Answer();
  const failed = (failure: ModelFailure): ModelEvent => ({
    type: "failed",
    failure: { began: answer.begun, ...failure, message: clipped(options.redact(failure.message)) },
  });
  const broken = (error: unknown): ModelEvent => {
    // Asked first: an abort comes back as any error that the packages wrap it in.
    if (signal.aborted) return failed(interruptedFailure(provider));
    const { sent, received } = request;
    const { begun } = answer;
    const { overdue } = watch;
    return failed(failureOf({ provider, error, sent, received, begun, overdue, nowMs: clock.now() }));
  };
  try {
    signal.throwIfAborted();
    const model = await loadLanguageModel({ ...access, fetch: request.fetch });
    watch.expect(standstill, limits.progressMs);
    const { stream } = await model.doStream({ ...translateCall(call, access), abortSignal: signal });
    // An abort reaches the stream through the request's signal; leaving the loop early closes the connection.
    for await (const part of stream) {
      watch.expect(standstill, limits.progressMs);
      // A refused second request leaves the answer where the first one ended, which its finish says.
      if (part.type === "error" && !request.refused) {
        yield broken(part.error);
        return;
      }
      const delta = answer.add(part);
      if (delta !== undefined) yield delta;
    }
    const answered = answer.answered();
    const fault = answered && faultOfAnswer({ answered, stopWord: answer.stopWord, call });
    if (answered === undefined) yield broken(new Error("it ended before it was complete"));
    else if (fault === undefined) yield answered;
    else yield failed({ ...emptyFailure(provider, fault), ...usageIn(answered) });
  } catch (error) {
    yield broken(error);
  } finally {
    watch.end();
  }
}

/** It cost what it cost, though it said nothing. */
function usageIn({ usage }: Extract<ModelEvent, { type: "answered" }>): Pick<ModelFailure, "usage"> {
  return usage === undefined ? {} : { usage };
}

const standstill = "kept the connection open and said nothing of its answer";

function clipped(text: string): string {
  return text.length < messageLengthMax ? text : `${text.slice(0, messageLengthMax - 2)}…`;
}

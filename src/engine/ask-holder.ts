import type { RequestAnswer } from "../model/delivery.ts";
import type { ErrorCode } from "../model/errors.ts";
import { errorTable, HoldfastError, isHoldfastError } from "../model/errors.ts";
import type { SessionState } from "../model/fold.ts";
import { makeId } from "../model/ids.ts";
import type { Request } from "../model/request.ts";
import type { Json } from "../model/values.ts";
import type { EngineContext, Observer } from "./context.ts";
import { readQueue } from "./read-queue.ts";
import { stayIn } from "./stay.ts";
import type { Worker } from "./worker.ts";

/**
 * How a command gets something done in a session that another process may hold:
 *
 *     nobody holds it   take the lease, do it, let go
 *     somebody does     R request.made → the holder does it → R request.answered
 *
 * Whoever waits for an answer and sees the holder go takes the lease and answers all that was asked, his own included: a
 * request is never left asleep. Looked for only after the request is durable and the append lock is free.
 */

/** What is wanted. */
export interface Asked {
  /** Who wants it, as it may be recorded. */
  readonly by: string;
  /** The request, made where there is a holder. */
  request(): Promise<Request>;
  /** Asked with the history before anything is written, where nobody holds it; rejects to leave every byte as it is. */
  accept(state: SessionState): Promise<void>;
  /** Does it where nobody else holds the session. */
  alone(worker: Worker): Promise<void>;
}

const silent: Observer = { commit: () => undefined, live: () => undefined };

const pollMs = 50;
/** A holder answers when a tool has ended that was told to; one that is stopped never does. */
const answerWithinMs = 60_000;

/** Has it done. Rejects with what the holder answers, and `busy` where he does not; the request is then still there. */
export async function askHolder(context: EngineContext, session: string, asked: Asked): Promise<void> {
  const { store, host } = context;
  const stay = { only: "requests", acceptRollback: false, observer: silent } as const;
  if (!(await store.isHeld(session))) {
    const verb = {
      accept: (state: SessionState) => asked.accept(state),
      begin: (worker: Worker) => asked.alone(worker),
    };
    const isDone = await unlessBusy(() => stayIn(context, session, { ...stay, ...verb }));
    if (isDone) return;
  }
  const request = await makeRequest(context, session, asked);
  const untilMs = host.clock.monotonicMs() + answerWithinMs;
  for (;;) {
    const isHeld = await store.isHeld(session);
    const { answer } = (await readQueue(store, session)).requests.get(request) ?? {};
    if (answer?.ok === true) return;
    if (answer !== undefined) throw errorOf(answer);
    const isDone = !isHeld && (await unlessBusy(() => stayIn(context, session, stay)));
    if (isDone) continue;
    if (host.clock.monotonicMs() > untilMs) throw unanswered(session);
    await host.clock.sleep(pollMs);
  }
}

/** False where somebody else has the session meanwhile. */
async function unlessBusy(stay: () => Promise<unknown>): Promise<boolean> {
  try {
    await stay();
    return true;
  } catch (error) {
    if (isHoldfastError(error, "busy")) return false;
    throw error;
  }
}

/** Appends the request; resolves to its id when it is durable. */
async function makeRequest(context: EngineContext, session: string, asked: Asked): Promise<string> {
  const { clock, ids } = context.host;
  const { by } = asked;
  const request = makeId("req", clock.now(), ids.random(10));
  const { verb, ...args } = await asked.request();
  const made = { kind: "request.made", request, verb, args: args as { [name: string]: Json }, by } as const;
  const unfolded = () => undefined;
  await context.store.appendToQueue(session, unfolded, (queue) => queue.append([made]));
  return request;
}

function errorOf({ code = "internal", message = "it was not done" }: RequestAnswer): HoldfastError {
  const known = Object.hasOwn(errorTable, code) ? (code as ErrorCode) : "internal";
  return new HoldfastError(known, message);
}

function unanswered(session: string): HoldfastError {
  return new HoldfastError("busy", `the process that holds session ${session} does not answer`, {
    hint: "It may be stopped or suspended. What was asked is kept, and done by whoever goes on with the session.",
  });
}

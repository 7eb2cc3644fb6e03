import { isDiskError } from "../host/index.ts";
import type { RequestState } from "../model/delivery.ts";
import { openRequests } from "../model/delivery.ts";
import type { ErrorCode } from "../model/errors.ts";
import { isHoldfastError } from "../model/errors.ts";
import type { RequestAnswered } from "../model/facts.ts";
import type { RequestOf } from "../model/request.ts";
import { readRequest } from "../model/request.ts";
import type { GivenDecision } from "./approvals.ts";
import { recordDecision } from "./approvals.ts";
import { recordResolution } from "./record-resolution.ts";
import { forgetStopped, isStopped, wantStop } from "./wanted-stop.ts";
import type { Worker } from "./worker.ts";

/**
 * Where a holder takes the requests of others and answers each, while it drives a run and before it lets go. A person's
 * word is recorded at once; who wants a run to stop is answered when it has.
 *
 * Q1 A request is answered after what it asked for is durable. A death in between has the next holder find that out.
 * Q2 Whoever has let go of the session answers nothing: requests are taken, and the session is let go of, in turn.
 */

/** How long a desk waits that could not look, the first time and at most. */
const lookPauseMs = 500;
const lookPauseMsMax = 30_000;

/** The desk of one stay. */
export class RequestDesk {
  readonly #worker: Worker;
  #turn: Promise<void> = Promise.resolve();
  /** Those who are answered when their run has stopped. */
  readonly #later = new Set<string>();
  #isLooking = false;
  #looksAgain = false;
  #isClosed = false;
  readonly #closing = new AbortController();
  #unwatch: () => void = () => undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
  }

  /** Takes requests as they come, from now on. */
  open(): void {
    this.#unwatch = this.#worker.held.queue.watch(() => void this.#look());
  }

  /** Takes no more; resolves when what it was doing is done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#closing.abort();
    this.#unwatch();
    await this.#turn;
  }

  /**
   * Lets go of the session where that may be, as {@link HeldSession.release} does, and takes no more then. In turn with
   * the requests: one that comes in the same moment is its maker's own, who finds nobody.
   */
  async release(mayLetGo: () => boolean): Promise<boolean> {
    return await this.#inTurn(async () => {
      const isReleased = await this.#worker.held.release(mayLetGo);
      if (isReleased) this.#isClosed = true;
      return isReleased;
    });
  }

  /** Takes all that stand in the queue. */
  async serve(): Promise<void> {
    await this.#inTurn(() => this.#serveNow());
  }

  /** Answers those who wanted a run to stop, as far as it did, or never will. */
  async answerStops(): Promise<void> {
    await this.#inTurn(() => this.#answerStopsNow());
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    // Whoever waits for it sees its failure.
    this.#turn = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  /** Takes what has come; where that fails, again after a pause: nobody says a second time that there is something. */
  async #look(): Promise<void> {
    this.#looksAgain = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      for (let pauseMs = lookPauseMs; this.#looksAgain && !this.#isClosed; pauseMs *= 2) {
        this.#looksAgain = !(await this.#lookOnce());
        if (this.#looksAgain) await this.#pause(Math.min(pauseMs, lookPauseMsMax));
      }
    } finally {
      this.#isLooking = false;
    }
  }

  /** False where that fails and may not the next time. */
  async #lookOnce(): Promise<boolean> {
    const { held, commits } = this.#worker;
    try {
      while (this.#looksAgain) {
        this.#looksAgain = false;
        // Whoever appends to the queue for other reasons may have folded a request, too.
        if ((await held.queue.hasGrown()) || this.#waiting().length > 0) await this.serve();
      }
      return true;
    } catch (error) {
      if (!isHoldfastError(error) && !isDiskError(error)) throw error;
      // Work that waits for a person finds out by nothing else that no word can be recorded any more.
      if (held.ended !== undefined) commits.beat();
      return held.ended !== undefined;
    }
  }

  async #pause(ms: number): Promise<void> {
    await this.#worker.context.host.clock.sleep(ms, this.#closing.signal);
  }

  /** The requests that nobody has taken yet, oldest first. */
  #waiting(): RequestState[] {
    return openRequests(this.#worker.queue).filter(({ request }) => !this.#later.has(request));
  }

  async #serveNow(): Promise<void> {
    if (this.#isClosed) return;
    const worker = this.#worker;
    // Taking the append lock folds what others appended; so does each answer.
    await worker.held.queue.transact(async () => undefined);
    for (let [made] = this.#waiting(); made !== undefined; [made] = this.#waiting()) {
      const answer = await this.#take(made);
      if (answer === undefined) this.#later.add(made.request);
      else await worker.appendToQueue([answer]);
    }
  }

  /** Does what is asked; resolves to the answer, or to undefined where that comes when the run has stopped. */
  async #take(made: RequestState): Promise<RequestAnswered | undefined> {
    const { request: id, by } = made;
    const request = readRequest(made);
    if (typeof request === "string") return refusal(id, { code: "usage", message: request });
    try {
      switch (request.verb) {
        case "resolve":
          await recordResolution(this.#worker, { ...request, by });
          return done(id);
        case "approve":
          await recordDecision(this.#worker, decisionOf(request, by));
          return done(id);
        default:
          return wantStop(this.#worker, request, by) ? undefined : done(id);
      }
    } catch (error) {
      if (!isHoldfastError(error) || endsWork.has(error.code)) throw error;
      return refusal(id, error);
    }
  }

  async #answerStopsNow(): Promise<void> {
    const worker = this.#worker;
    const answers = openRequests(worker.queue).flatMap((made): RequestAnswered[] => {
      const request = readRequest(made);
      if (typeof request === "string" || (request.verb !== "cancel" && request.verb !== "abandon")) return [];
      // One that was not heard of before is taken when the queue is looked at next.
      if (!this.#later.has(made.request)) return [];
      try {
        return isStopped(worker.state, request) ? [done(made.request)] : [];
      } catch (error) {
        if (!isHoldfastError(error)) throw error;
        return [refusal(made.request, error)];
      }
    });
    if (answers.length > 0) await worker.appendToQueue(answers);
    forgetStopped(worker);
    // Whoever has no answer yet is taken again.
    this.#later.clear();
  }
}

/** What these say of a request they say of the whole session: whoever goes on answers it. */
const endsWork: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "interrupted",
  "fenced",
  "busy",
  "disk_full",
  "io_error",
  "durability_unknown",
  "queue_damaged",
  "deleted",
]);

function decisionOf(request: RequestOf<"approve">, by: string): GivenDecision {
  const { operation, decision, remember = false, reason } = request;
  return { operation, decision, remember, by, ...(reason !== undefined && { reason }) };
}

function done(request: string): RequestAnswered {
  return { kind: "request.answered", request, ok: true };
}

function refusal(request: string, { code, message }: { code: string; message: string }): RequestAnswered {
  return { kind: "request.answered", request, ok: false, code, message };
}

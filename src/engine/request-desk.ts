import { isDiskError } from "../host/index.ts";
import type { RequestState } from "../model/delivery.ts";
import { openRequests } from "../model/delivery.ts";
import type { ErrorCode } from "../model/errors.ts";
import { HoldfastError, isHoldfastError } from "../model/errors.ts";
import type { RequestAnswered } from "../model/facts.ts";
import type { RequestOf } from "../model/request.ts";
import { readRequest } from "../model/request.ts";
import type { RunState } from "../model/run.ts";
import { isOver } from "../model/run.ts";
import type { GivenDecision } from "./approvals.ts";
import { recordDecision } from "./approvals.ts";
import { recordResolution } from "./record-resolution.ts";
import type { Worker } from "./worker.ts";

/**
 * Where a holder takes the requests of others and answers each, while it drives a run and before it lets go. A person's
 * word is recorded at once; who wants a run to stop is answered when it has.
 *
 * Q1 A request is answered after what it asked for is durable. A death in between has the next holder find that out.
 */

type StopRequest = RequestOf<"cancel" | "abandon">;

/** The desk of one stay. */
export class RequestDesk {
  readonly #worker: Worker;
  #turn: Promise<void> = Promise.resolve();
  #isLooking = false;
  #unwatch: () => void = () => undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
  }

  /** Takes requests as they come, from now on. */
  open(): void {
    this.#unwatch = this.#worker.held.queue.watch(() => void this.#look());
  }

  /** Takes no more by itself; resolves when what it was doing is done. */
  async close(): Promise<void> {
    this.#unwatch();
    await this.#turn;
  }

  /** Takes all that stand in the queue. */
  async serve(): Promise<void> {
    await this.#inTurn(() => this.#serveNow());
  }

  /** Answers those who wanted a run to stop, as far as it did, or never will. */
  async answerStops(): Promise<void> {
    await this.#inTurn(() => this.#answerStopsNow());
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const result = this.#turn.then(work);
    // Whoever waits for it sees its failure.
    this.#turn = result.catch(() => undefined);
    await result;
  }

  /** What goes wrong here goes wrong again where the work goes on, and is told there. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      if (await this.#worker.held.queue.hasGrown()) await this.serve();
    } catch (error) {
      if (!isHoldfastError(error) && !isDiskError(error)) throw error;
    } finally {
      this.#isLooking = false;
    }
  }

  async #serveNow(): Promise<void> {
    const worker = this.#worker;
    // Taking the append lock folds what others appended.
    await worker.held.queue.transact(async () => undefined);
    for (const request of openRequests(worker.queue)) {
      const answer = await this.#take(request);
      if (answer !== undefined) await worker.appendToQueue([answer]);
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
      const run = worker.state.runs.get(request.run);
      // A stop that was not heard of before is taken when the queue is looked at next.
      if (run === undefined || !worker.wanted.has(request.run)) return [];
      if (!isOver(run) && run.at !== "input_required") return [];
      const fault = isOver(run) ? faultOfStop(run, request) : unknownLeft(run);
      return [fault === undefined ? done(made.request) : refusal(made.request, fault)];
    });
    if (answers.length > 0) await worker.appendToQueue(answers);
    worker.wanted.clear();
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

/**
 * Has a run stop because somebody wants it; false where it has stopped so already. Rejects `not_found`, `usage` where the
 * run ended otherwise, and `input_required` where a person must first say what happened.
 */
export function wantStop(worker: Worker, { verb, run: id }: StopRequest, by: string): boolean {
  const run = worker.state.runs.get(id);
  if (run === undefined) throw new HoldfastError("not_found", `session ${worker.state.id} has no run ${id}`);
  if (isOver(run)) {
    const fault = faultOfStop(run, { verb });
    if (fault !== undefined) throw fault;
    return false;
  }
  if (verb === "cancel" && run.at === "input_required" && hasUnknown(worker, id)) throw unknownLeft(run);
  const stop = { kind: verb, by } as const;
  worker.wanted.set(id, stop);
  if (worker.driven?.run === id) worker.driven.brakes.request(stop);
  return true;
}

function hasUnknown({ state }: Worker, run: string): boolean {
  return [...state.operations.values()].some((one) => one.run === run && one.at === "unknown");
}

/** Why a run that is over did not end as somebody wants; undefined where it did. */
function faultOfStop(run: Extract<RunState, { endedAt: number }>, { verb }: Pick<StopRequest, "verb">) {
  if (verb === "cancel" ? run.at === "canceled" : run.reason === "abandoned") return undefined;
  const wanted = verb === "cancel" ? "canceled" : "abandoned";
  return new HoldfastError("usage", `run ${run.run} cannot be ${wanted}: it is ${run.at}`);
}

function unknownLeft({ run }: RunState): HoldfastError {
  const message = `run ${run} is not canceled: it is not known whether some operations happened, and a person must say`;
  return new HoldfastError("input_required", message);
}

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

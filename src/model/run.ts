import { corruption } from "./corruption.ts";
import type { Fact } from "./facts.ts";
import type { Usage } from "./values.ts";
import { addUsage } from "./values.ts";

/**
 * The machine of one run: what may follow what. What must happen next stands in `next-step.ts`.
 *
 *     queued → running → completed | failed | canceled
 *               ↑  ↓
 *     input_required | suspended                    interrupted is never stored: running without a live lease
 *
 * R1 Recovery is this same machine started on a folded log: an attempt that died is one that has no end on record.
 *
 *     X R message, run.created                               R = durable, E = effect, X = may die here
 *     X R run.started
 *     X R model.requested
 *     X E the model answers                                  (a death here: the call is made again)
 *     X R message, model.answered, op.asked …
 *     X R op.started → E → R op.known                        (each operation)
 *     X R message with the results, op.settled …             → model.requested …
 *     X R message, model.answered, run.ended
 */

interface RunBase {
  readonly run: string;
  /** The user message that is the task. */
  readonly message: string;
  readonly createdAt: number;
  /** Processes that picked it up. */
  readonly attempts: number;
  /** Model answers so far. */
  readonly turns: number;
  /** Over all attempts; a lower bound where a call's usage is unknown. */
  readonly usage: Usage;
  /** Wall clock over all ended attempts. */
  readonly elapsedMs: number;
  /** Failures of the model since its last answer, in this attempt. */
  readonly failures: readonly ModelFailure[];
  /** True while a model call is on record without an answer or failure. */
  readonly calling: boolean;
}

type ModelFailure = Extract<Fact, { kind: "model.failed" }>;

/** One run, as far as the log tells. */
export type RunState =
  | ({ readonly at: "queued" } & RunBase)
  /** `epoch`: of the attempt's first line; a lower one than the holder's means that the attempt died. */
  | ({ readonly at: "running"; readonly epoch: number; readonly startedAt: number } & RunBase)
  | ({ readonly at: "suspended"; readonly reason: string; readonly error: string | undefined } & RunBase)
  | ({ readonly at: "input_required" } & RunBase)
  | ({
      readonly at: "completed" | "failed" | "canceled";
      readonly reason: string | undefined;
      /** Why, in words, where the text is the answer. */
      readonly error: string | undefined;
      /** Who canceled or abandoned it. */
      readonly by: string | undefined;
      readonly text: string | undefined;
      readonly endedAt: number;
    } & RunBase);

/** The facts that move a run. */
export type RunFact = Extract<
  Fact,
  { kind: `run.${string}` | "model.requested" | "model.answered" | "model.failed" }
>;

/** Where the line of a fact stands. */
export interface FactPlace {
  readonly at: number;
  readonly epoch: number;
  /** `at` of the last attempt's last line, for the length of one that died: what came long after is none of it. */
  readonly lastAt: number;
}

/** The state after a fact. Throws on an impossible pair. */
export function evolveRun(state: RunState | undefined, fact: RunFact, place: FactPlace): RunState {
  if (fact.kind === "run.created") {
    if (state !== undefined) throw corruption(`run ${fact.run} is created twice`);
    return created(fact, place);
  }
  if (state === undefined) throw corruption(`${fact.kind} of run ${fact.run}, which nobody created`);
  if (isOver(state)) throw corruption(`${fact.kind} of run ${fact.run}, which is ${state.at}`);
  if (!isPossible(state, fact))
    throw corruption(`${fact.kind} ${numberOf(fact)}of run ${fact.run}, which is ${wordsOf(state)}`);
  switch (fact.kind) {
    case "run.started":
      return started(state, place);
    case "run.suspended": {
      const { reason, message: error } = fact;
      return { ...base(state), at: "suspended", reason, error, elapsedMs: state.elapsedMs + fact.elapsedMs };
    }
    case "run.input_required": {
      const left = attemptLeft(state, place);
      return { ...base(state), ...left, at: "input_required", elapsedMs: left.elapsedMs + fact.elapsedMs };
    }
    case "run.ended": {
      const { status, reason, message: error, by, text } = fact;
      const left = attemptLeft(state, place);
      const elapsedMs = left.elapsedMs + fact.elapsedMs;
      return { ...base(state), ...left, at: status, reason, error, by, text, endedAt: place.at, elapsedMs };
    }
    case "model.requested":
      return { ...state, calling: true };
    case "model.answered": {
      const usage = addUsage(state.usage, fact.usage);
      return { ...state, calling: false, failures: [], turns: state.turns + 1, usage };
    }
    case "model.failed": {
      const usage = wasFree(fact) ? state.usage : addUsage(state.usage, fact.usage);
      return { ...state, calling: false, failures: [...state.failures, fact], usage };
    }
  }
}

/** A refusal costs nothing; what an answer cost that broke off, or never came, is unknown. */
function wasFree(failure: ModelFailure): boolean {
  return !failure.began && (failure.status !== undefined || failure.reason === "cassette_exhausted");
}

/** What an open run can meet: only a running one works, it asks one question at a time, and nothing is left out. */
function isPossible(state: RunState, fact: RunFact): boolean {
  switch (fact.kind) {
    case "run.started":
      return fact.attempt === state.attempts + 1;
    case "model.requested":
      return state.at === "running" && !state.calling && fact.turn === state.turns + 1;
    case "model.answered":
    case "model.failed":
      return state.at === "running" && state.calling && fact.turn === state.turns + 1;
    case "run.suspended":
      return state.at === "running";
    case "run.input_required":
      // Again, where it was resumed without an answer.
      return state.at === "running" || state.at === "input_required";
    default:
      return true;
  }
}

function numberOf(fact: RunFact): string {
  if (fact.kind === "run.started") return `${fact.attempt} `;
  return "turn" in fact ? `${fact.turn} ` : "";
}

function wordsOf({ at, calling, attempts, turns }: RunState): string {
  const counts = `after attempt ${attempts} and turn ${turns}`;
  return calling ? `${at} ${counts} and awaits an answer` : `${at} ${counts}`;
}

/** True where nothing can happen to the run any more. */
export function isOver(
  state: RunState,
): state is Extract<RunState, { at: "completed" | "failed" | "canceled" }> {
  return state.at === "completed" || state.at === "failed" || state.at === "canceled";
}

function created(fact: Extract<RunFact, { kind: "run.created" }>, place: FactPlace): RunState {
  return {
    at: "queued",
    run: fact.run,
    message: fact.message,
    createdAt: place.at,
    attempts: 0,
    turns: 0,
    usage: {},
    elapsedMs: 0,
    failures: [],
    calling: false,
  };
}

function started(
  state: Exclude<RunState, { at: "completed" | "failed" | "canceled" }>,
  place: FactPlace,
): RunState {
  return {
    ...base(state),
    ...attemptLeft(state, place),
    at: "running",
    epoch: place.epoch,
    startedAt: place.at,
    attempts: state.attempts + 1,
    failures: [],
  };
}

/**
 * What an attempt counts for that another process goes on from, or ends: it took from its start to its last line; and a
 * call that is open has an unknown usage.
 */
function attemptLeft(state: RunState, place: FactPlace): Pick<RunBase, "calling" | "usage" | "elapsedMs"> {
  const died = state.at === "running" && state.epoch !== place.epoch;
  return {
    calling: false,
    usage: state.calling ? addUsage(state.usage, undefined) : state.usage,
    elapsedMs: state.elapsedMs + (died ? Math.max(0, place.lastAt - state.startedAt) : 0),
  };
}

function base(state: RunState): RunBase {
  const { run, message, createdAt, attempts, turns, usage, elapsedMs, failures, calling } = state;
  return { run, message, createdAt, attempts, turns, usage, elapsedMs, failures, calling };
}

import type { OperationState } from "./operation.ts";
import type { RunState } from "./run.ts";
import { isOver } from "./run.ts";
import type { Stop } from "./stop.ts";

/**
 * What must happen now to a run. Pure: the engine's loop asks, makes it happen, records it, and asks again.
 *
 * N1 It never asks for an effect whose outcome is known.
 * N2 An operation whose outcome is unknown outranks every other ending but that of a run which a person gives up.
 * N3 Once somebody wants the run to stop nothing new is begun: what runs is ended, what never started is canceled, what
 *    is known is kept.
 */

/** What bounds a run; absent members do not. */
export interface RunLimits {
  readonly maxTurns?: number | undefined;
  /** Input and output, as far as they are known. */
  readonly maxTokens?: number | undefined;
  readonly maxWallClockMs?: number | undefined;
}

/** Who holds the run. */
export interface Holder {
  readonly epoch: number;
  readonly limits: RunLimits;
  /** Monotonic length of this attempt so far. */
  readonly elapsedMs: number;
  /** Why the work shall end, where it shall. */
  readonly stop?: Stop | undefined;
  /** True where a person must say whether the operation may start. */
  needsApproval(operation: OperationState): boolean;
}

/** How often a call that failed and may be repeated is made in a row. */
export const modelAttemptsMax = 5;
/** A provider that asks for a longer pause ends the attempt: nobody would know why nothing happens. */
export const retryAfterMsMax = 5 * 60_000;
/** Reads that run at the same time. */
export const parallelMax = 16;

/** What must happen now. */
export type Step =
  /** Record that this process picks the run up. */
  | { readonly do: "start"; readonly attempt: number }
  /** Ask the model. `failed` counts the failures before it in this attempt, with what the last one asked us to wait. */
  | {
      readonly do: "call";
      readonly turn: number;
      readonly failed: number;
      readonly retryAfterMs: number | undefined;
    }
  /** Ask a person whether these may start. */
  | { readonly do: "ask"; readonly operations: readonly OperationState[] }
  /** Wait for the person's word about these. */
  | { readonly do: "await"; readonly operations: readonly OperationState[] }
  /** Start these: several only where they are pure. */
  | { readonly do: "begin"; readonly operations: readonly OperationState[] }
  /** Find out what happened to one that started and has no outcome. */
  | { readonly do: "prove"; readonly operation: OperationState }
  /** These never started and never will. */
  | { readonly do: "cancel"; readonly operations: readonly OperationState[] }
  /** Put the results of the turn into the conversation. */
  | { readonly do: "settle"; readonly operations: readonly OperationState[] }
  /** A person must say what happened. */
  | { readonly do: "require_input"; readonly operations: readonly string[] }
  /** The attempt ends, the run does not. */
  | {
      readonly do: "suspend";
      readonly reason: "provider" | "signal" | "stop";
      readonly message?: string;
    }
  /** The run ends without an answer to its task. */
  | {
      readonly do: "end";
      readonly status: "failed" | "canceled";
      readonly reason?: string;
      readonly message?: string;
      readonly by?: string;
    }
  /** Nothing is to be done, or may be. */
  | { readonly do: "stop" };

/** What must happen now to a run. `open`: its operations that are not settled, in order. */
export function next(run: RunState, open: readonly OperationState[], holder: Holder): Step {
  if (isOver(run)) return { do: "stop" };
  const { stop } = holder;
  const unknown = open.filter((operation) => operation.at === "unknown");
  if (run.at !== "running" || run.epoch !== holder.epoch) {
    const first = firstStep(run, unknown, stop);
    if (first !== undefined) return first;
  }
  const started = open.find((operation) => operation.at === "started");
  if (started !== undefined) return { do: "prove", operation: started };
  if (unknown.length > 0 && stop?.kind !== "abandon") {
    return { do: "require_input", operations: unknown.map((one) => one.operation) };
  }
  const asked = open.filter((operation) => operation.at === "asked");
  if (stop !== undefined) return nextOfStop(stop, open, asked);
  if (asked.length > 0) return nextOfAsked(asked, holder);
  if (open.length > 0) return { do: "settle", operations: open };
  return nextCall(run, holder);
}

/** What comes before all else where another process had the run: picking it up, unless it is only to be ended. */
function firstStep(
  run: RunState,
  unknown: readonly OperationState[],
  stop: Stop | undefined,
): Step | undefined {
  if (stop !== undefined) return stop.kind === "suspend" ? { do: "stop" } : undefined;
  const waitsForPerson = run.at === "input_required" && unknown.length > 0;
  return waitsForPerson ? undefined : { do: "start", attempt: run.attempts + 1 };
}

/** The way to the end of a run that shall stop. */
function nextOfStop(stop: Stop, open: readonly OperationState[], asked: readonly OperationState[]): Step {
  if (stop.kind === "suspend") return { do: "suspend", reason: stop.reason };
  if (asked.length > 0) return { do: "cancel", operations: asked };
  const known = open.filter((operation) => operation.at === "known");
  if (known.length > 0) return { do: "settle", operations: known };
  switch (stop.kind) {
    case "cancel":
      return { do: "end", status: "canceled", by: stop.by };
    case "abandon":
      return { do: "end", status: "failed", reason: "abandoned", by: stop.by };
    case "budget":
      return { do: "end", status: "failed", reason: "budget_wall_clock", message: "its time was used up" };
  }
}

/** The operations that are next in order: those that may start do, for the others somebody is asked, once. */
function nextOfAsked(asked: readonly OperationState[], holder: Holder): Step {
  const first = startable(asked);
  const free = first.filter((one) =>
    one.approval === undefined ? !holder.needsApproval(one) : one.approval.decided !== undefined,
  );
  if (free.length > 0) return { do: "begin", operations: free };
  const unasked = first.filter((one) => one.approval === undefined);
  return unasked.length > 0 ? { do: "ask", operations: unasked } : { do: "await", operations: first };
}

/** Reads of a turn run in parallel, so many at a time; others in order. */
function startable(asked: readonly OperationState[]): readonly OperationState[] {
  const firstEffect = asked.findIndex((operation) => operation.effect !== "pure");
  const reads = firstEffect === -1 ? asked.length : firstEffect;
  return asked.slice(0, Math.max(1, Math.min(reads, parallelMax)));
}

/** Reasons that end the run, since repeating the call cannot help. */
const terminalReasons: Record<string, string> = {
  context_overflow: "context_overflow",
  cassette_exhausted: "cassette_exhausted",
  content_filter: "content_filter",
};

function nextCall(run: RunState, holder: Holder): Step {
  const last = run.failures.at(-1);
  if (last !== undefined) {
    const terminal = terminalReasons[last.reason];
    if (terminal !== undefined) return endFailed(terminal, last.message);
    const { maxWallClockMs = Infinity } = holder.limits;
    const leftMs = maxWallClockMs - run.elapsedMs - holder.elapsedMs;
    const { retryAfterMs: pauseMs = 0 } = last;
    // A pause that the run's time does not cover either: whoever resumes then still has that time, where any is left.
    const isTooLong = pauseMs > retryAfterMsMax || (leftMs > 0 && pauseMs > leftMs);
    if (!last.retryable || isTooLong || run.failures.length >= modelAttemptsMax) {
      return { do: "suspend", reason: "provider", message: last.message };
    }
  }
  const spent = spentBudget(run, holder);
  if (spent !== undefined) return endFailed(spent.reason, spent.message);
  return { do: "call", turn: run.turns + 1, failed: run.failures.length, retryAfterMs: last?.retryAfterMs };
}

function endFailed(reason: string, message: string): Step {
  return { do: "end", status: "failed", reason, message };
}

/** A budget counts over all attempts. */
function spentBudget(
  run: RunState,
  { limits, elapsedMs }: Holder,
): { reason: string; message: string } | undefined {
  const { maxTurns = Infinity, maxTokens = Infinity, maxWallClockMs = Infinity } = limits;
  if (run.turns >= maxTurns) {
    return { reason: "budget_turns", message: `the run used its ${maxTurns} turns` };
  }
  if ((run.usage.input ?? 0) + (run.usage.output ?? 0) >= maxTokens) {
    return { reason: "budget_tokens", message: `the run used its ${maxTokens} tokens` };
  }
  if (run.elapsedMs + elapsedMs >= maxWallClockMs) {
    return { reason: "budget_wall_clock", message: `the run used its ${maxWallClockMs} ms` };
  }
  return undefined;
}

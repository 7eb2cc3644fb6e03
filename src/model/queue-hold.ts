import type { DeliveryState, QueueState } from "./delivery.ts";
import { waitsToBeSaid } from "./delivery.ts";
import type { ResumeVerdict } from "./eligibility.ts";
import type { SessionState } from "./fold.ts";
import { newestRun, openOperations, unknownOperations } from "./fold.ts";
import { awaitsDecision } from "./operation.ts";
import type { RunState } from "./run.ts";
import { isOver } from "./run.ts";

/**
 * What becomes of the messages that wait in a session's queue, and why nothing, where nothing does. The one decision,
 * for whoever sends one, lists them or shows the session.
 *
 * Only a completed run lets its worker take the next message by itself. After any other ending, and while a run waits or
 * nobody runs it, the queue is held until somebody resumes the session.
 */

/** Why nothing is taken from a queue. */
export type HoldReason =
  /** How the newest run ended. */
  | "failed"
  | "canceled"
  /** How the open run stands: nobody runs it, or it waits for a person. */
  | "suspended"
  | "interrupted"
  | "input_required"
  /** All that is left is blocked. */
  | "blocked"
  /** Nobody would get to them: the session itself cannot go on. */
  | "not_resumable";

/** A queue from which nothing is taken. */
export interface QueueHold {
  reason: HoldReason;
  /** The run that holds it; absent where it is no run that does. */
  run?: string;
  /** Why, as a clause for people. */
  why: string;
  /** The command that leads on. */
  next: string;
}

/** A delivery that cannot go out as it is. */
export interface BlockedDelivery {
  delivery: string;
  /** Why, for people. */
  why: string;
}

/** The messages that are still to be said. */
export interface QueueOutlook {
  /** How many wait for their turn. */
  waiting: number;
  /** Those that are not delivered as they are. */
  blocked: BlockedDelivery[];
  /** True where a process holds the session. */
  live: boolean;
  /** True where that one works on a run: it takes what waits when the run completes. */
  underWay: boolean;
  /** Set where the queue cannot be read: why. Then nothing is counted. */
  damaged?: string;
  /** Absent where nothing waits, where a process may be at it, and where a resume takes them without further ado. */
  held?: QueueHold;
}

/** What the decision goes by. */
export interface QueueFacts {
  readonly state: SessionState;
  readonly queue: QueueState;
  /** True while a process holds the session. */
  readonly live: boolean;
  /** Whether the session may be resumed. */
  readonly resume: ResumeVerdict;
}

/** Decides from facts alone. */
export function judgeQueue(facts: QueueFacts): QueueOutlook {
  const { state, queue, live } = facts;
  const deliveries = queue.order.flatMap((id) => queue.deliveries.get(id) ?? []);
  const waiting = deliveries.filter((delivery) => waitsToBeSaid(delivery, state.deliveries)).length;
  const blocked = deliveries
    .filter(({ at }) => at === "blocked")
    .map((delivery) => ({ delivery: delivery.delivery, why: blockedWords(delivery) }));
  const held = waiting > 0 ? holdOfWaiting(facts) : holdOfBlocked(state.id, blocked);
  return { waiting, blocked, live, underWay: isUnderWay(state, live), ...(held !== undefined && { held }) };
}

/** The command that has what waits taken, where nobody is known to take it; undefined where there is nothing to do. */
export function nextCommandOf(session: string, outlook: QueueOutlook): string | undefined {
  const { held, waiting, underWay } = outlook;
  return held?.next ?? (waiting > 0 && !underWay ? `holdfast resume ${session}` : undefined);
}

/** Who holds a session only to answer what was asked of him starts no run in his epoch. */
function isUnderWay(state: SessionState, live: boolean): boolean {
  const run = newestRun(state);
  return live && run?.at === "running" && run.epoch === state.epoch;
}

function holdOfWaiting({ state, live, resume }: QueueFacts): QueueHold | undefined {
  const run = newestRun(state);
  const hold = run === undefined ? undefined : holdOfRun(state, run, live);
  const stuck = resume.blockers.find((blocker) => blocker !== "active");
  if (live || stuck === undefined) return hold;
  const next = `holdfast resume ${state.id} --explain`;
  if (hold !== undefined) return { ...hold, next };
  return { reason: "not_resumable", why: `the session cannot be resumed (${stuck})`, next };
}

function holdOfRun(state: SessionState, run: RunState, live: boolean): QueueHold | undefined {
  const next = `holdfast resume ${state.id}`;
  const about = (reason: HoldReason, why: string): QueueHold => ({ reason, run: run.run, why, next });
  const mayTake = live && !isLeaving(state, run);
  if (isOver(run)) {
    if (run.at === "completed" || mayTake) return undefined;
    return about(run.at, `the run ${run.at === "failed" ? "failed" : "was canceled"}${because(run.reason)}`);
  }
  const asked = questionOf(state, live);
  if (asked !== undefined) {
    return { ...about("input_required", asked), next: `holdfast run show ${state.id} ${run.run}` };
  }
  if (mayTake) return undefined;
  if (run.at === "input_required") return about(run.at, "the run waits to go on, now that all is answered");
  if (run.at === "suspended") return about(run.at, `the run is suspended${because(run.reason)}`);
  return about("interrupted", "the run was interrupted");
}

/** Whose own attempt came to anything but a completed run takes no more: he is about to let go. */
function isLeaving({ attempt, epoch }: SessionState, { at }: RunState): boolean {
  return attempt?.epoch === epoch && at !== "queued" && at !== "running" && at !== "completed";
}

/** What a person must do before the run goes on. Whoever resumes asks anew for what nobody has allowed or denied yet. */
function questionOf(state: SessionState, live: boolean): string | undefined {
  const what = (operations: readonly unknown[]) =>
    operations.length === 1 ? "an operation" : `${operations.length} operations`;
  const unknown = unknownOperations(state);
  if (unknown.length > 0) return `a person must say what happened to ${what(unknown)}`;
  const waits = live ? openOperations(state).filter((one) => one.at === "asked" && awaitsDecision(one)) : [];
  return waits.length === 0 ? undefined : `a person must allow or deny ${what(waits)}`;
}

function because(reason: string | undefined): string {
  return reason === undefined ? "" : ` (${reason})`;
}

function holdOfBlocked(session: string, blocked: readonly BlockedDelivery[]): QueueHold | undefined {
  const [first] = blocked;
  if (first === undefined) return undefined;
  return { reason: "blocked", why: first.why, next: `holdfast queue list ${session}` };
}

/** Reasons that are codes, as sentences are told them. */
const blockedCodes: Readonly<Record<string, string>> = {
  imported: "it came with an imported session and nobody has let it go on yet",
  rolled_back: "its message was lost when an older state of the log was accepted",
};

/** Why a delivery is blocked, for people. */
export function blockedWords({ reason = "nobody said why" }: Pick<DeliveryState, "reason">): string {
  return blockedCodes[reason] ?? reason;
}

import { corruption } from "./corruption.ts";
import type {
  ApprovalAsked,
  ApprovalDecided,
  Evidence,
  Fact,
  OperationKnown,
  OperationResolved,
} from "./facts.ts";
import type { BlobRef, EffectClass, Json, Outcome } from "./values.ts";

/**
 * The machine of one operation. The engine owns the effects, this file owns what may follow what.
 *
 *     asked ──→ (approval) ──→ started ──→ known ──→ settled
 *       │                         └──→ unknown ──↗ (resolved)
 *       └──→ known (denied, canceled, never started)
 *
 * O1 A known outcome stays: nothing leads out of `known` but `settled`.
 * O2 A start is recorded once: an operation is never started again; a new one that names it is, where it provably did
 *    not happen.
 * O3 Where a person is asked, that is once, and the answer comes before the start. What was allowed is allowed also to
 *    the operation that stands for one which provably did not happen.
 *
 *     X R op.asked     in one line with the assistant's message        R = durable, E = effect, X = may die here
 *     X R op.started
 *     X E the tool runs
 *     X R op.known     or, after a death, what can be proven; else op.unknown → op.resolved
 *     X R op.settled   in one line with the tool message
 */

interface Asked {
  readonly operation: string;
  readonly run: string;
  readonly turn: number;
  readonly tool: string;
  readonly effect: EffectClass;
  /** The call in the assistant's message that this one answers: itself, or what it replaces, back to the first. */
  readonly origin: string;
  /** How many operations were made before it for the same call. */
  readonly retry: number;
  /** True where the recorded arguments lack a secret, so that they cannot be used again. */
  readonly redacted: boolean;
  readonly askedAt: number;
  /** Where a person must allow it, or did. */
  readonly approval: Approval | undefined;
}

/** A person's word about an operation, asked for and perhaps given. */
export interface Approval {
  readonly capability: string;
  readonly askedAt: number;
  readonly decided: Decision | undefined;
}

/** What was decided, by whom and when. */
export interface Decision {
  readonly decision: "allow" | "deny";
  readonly by: string;
  readonly at: number;
  readonly reason: string | undefined;
}

interface Started extends Asked {
  readonly args: Json | undefined;
  readonly argsBlob: BlobRef | undefined;
  readonly evidence: Evidence;
  readonly startedAt: number;
}

/** What an operation ended with. */
export interface Result {
  readonly outcome: Outcome;
  readonly output: string | undefined;
  readonly outputBlob: BlobRef | undefined;
  readonly fullBlob: BlobRef | undefined;
  readonly details: Json | undefined;
  readonly endedAt: number;
  readonly durationMs: number | undefined;
  /** Where a person said it. */
  readonly resolution:
    | { readonly by: string; readonly at: number; readonly evidence: string | undefined }
    | undefined;
}

/** What cannot be known, and all that was found. */
export interface Doubt {
  readonly reason: string;
  readonly evidence: Json;
  readonly at: number;
}

/** One operation, as far as the log tells. */
export type OperationState =
  | ({ readonly at: "asked" } & Asked)
  | ({ readonly at: "started" } & Started)
  | ({ readonly at: "unknown"; readonly doubt: Doubt } & Started)
  | ({
      readonly at: "known" | "settled";
      readonly result: Result;
      readonly doubt: Doubt | undefined;
    } & Asked &
      Partial<Omit<Started, keyof Asked>>);

/** The facts that move an operation. */
export type OperationFact = Extract<Fact, { kind: `op.${string}` | "approval.asked" | "approval.decided" }>;

/** The state after a fact. `replaced` is the operation that an `op.asked` names. Throws on an impossible pair. */
export function evolveOperation(
  state: OperationState | undefined,
  fact: OperationFact,
  at: number,
  replaced?: OperationState,
): OperationState {
  if (fact.kind === "op.asked") {
    if (state !== undefined) throw corruption(`operation ${fact.operation} is asked twice`);
    return asked(fact, at, replaced);
  }
  if (state === undefined)
    throw corruption(`${fact.kind} of operation ${fact.operation}, which nobody asked for`);
  switch (fact.kind) {
    case "approval.asked":
    case "approval.decided": {
      const approval = evolveApproval(state, fact, at);
      if (approval === undefined) break;
      return { ...state, approval };
    }
    case "op.started":
      if (state.at !== "asked" || !mayStart(state)) break;
      return {
        ...state,
        at: "started",
        args: fact.args,
        argsBlob: fact.argsBlob,
        redacted: fact.redacted ?? false,
        evidence: fact.evidence,
        startedAt: at,
      };
    case "op.known":
      if (state.at !== "asked" && state.at !== "started") break;
      return { ...state, at: "known", result: resultOf(fact, at), doubt: undefined };
    case "op.unknown":
      if (state.at !== "started") break;
      return { ...state, at: "unknown", doubt: { reason: fact.reason, evidence: fact.evidence, at } };
    case "op.resolved":
      if (state.at !== "unknown") break;
      return { ...state, at: "known", result: resolutionOf(fact, at) };
    case "op.settled":
      if (state.at !== "known") break;
      return { ...state, at: "settled" };
  }
  throw corruption(`${fact.kind} of operation ${fact.operation}, which is ${state.at}`);
}

/** True where a person was asked and has not answered. */
export function awaitsDecision<State extends Pick<OperationState, "approval">>(
  state: State,
): state is State & { approval: Approval } {
  return state.approval !== undefined && state.approval.decided === undefined;
}

/** The approval after a fact; undefined where the two cannot be. */
function evolveApproval(
  { at: stage, approval }: OperationState,
  fact: ApprovalAsked | ApprovalDecided,
  at: number,
): Approval | undefined {
  if (stage !== "asked") return undefined;
  if (fact.kind === "approval.asked") {
    return approval === undefined
      ? { capability: fact.capability, askedAt: at, decided: undefined }
      : undefined;
  }
  if (approval === undefined || approval.decided !== undefined) return undefined;
  const { decision, by, reason } = fact;
  return { ...approval, decided: { decision, by, at, reason } };
}

/** Nobody needs to be asked, or who was asked allowed it. */
function mayStart({ approval }: OperationState): boolean {
  return approval === undefined || approval.decided?.decision === "allow";
}

function asked(
  fact: Extract<OperationFact, { kind: "op.asked" }>,
  at: number,
  replaced: OperationState | undefined,
): OperationState {
  const { operation, run, turn, tool, effect } = fact;
  if (fact.replaces !== undefined && !isReplaceable(replaced)) {
    throw corruption(
      `operation ${operation} replaces ${fact.replaces}, which is ${replaced?.at ?? "not there"}`,
    );
  }
  return {
    at: "asked",
    operation,
    run,
    turn,
    tool,
    effect,
    origin: replaced?.origin ?? operation,
    retry: replaced === undefined ? 0 : replaced.retry + 1,
    redacted: fact.redacted ?? false,
    askedAt: at,
    approval: replaced?.approval,
  };
}

/** Only what provably did not happen may be done by another. */
function isReplaceable(replaced: OperationState | undefined): boolean {
  return replaced?.at === "known" && replaced.result.outcome === "not_executed";
}

function resultOf(fact: OperationKnown, at: number): Result {
  return {
    outcome: fact.outcome,
    output: fact.output,
    outputBlob: fact.outputBlob,
    fullBlob: fact.fullBlob,
    details: fact.details,
    endedAt: fact.endedAt ?? at,
    durationMs: fact.durationMs,
    resolution: undefined,
  };
}

function resolutionOf(fact: OperationResolved, at: number): Result {
  return {
    outcome: fact.outcome,
    output: fact.output,
    outputBlob: fact.outputBlob,
    fullBlob: undefined,
    details: undefined,
    endedAt: at,
    durationMs: undefined,
    resolution: { by: fact.by, at, evidence: fact.evidence },
  };
}

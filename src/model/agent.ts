import type { Evidence } from "./facts.ts";
import type { Json, Outcome, EffectClass, Usage } from "./values.ts";

/**
 * A7 The contract between the engine and an agent. The engine knows this page and no agent; an agent knows this page
 * and no store. The engine makes everything durable: an agent decides nothing about durability and writes no facts.
 */

/** A part of what a model is sent. Plain JSON. */
export type PromptPart =
  | { type: "text"; text: string; providerMetadata?: Json }
  | { type: "reasoning"; text: string; signature?: string; providerMetadata?: Json }
  | { type: "image"; base64: string; mediaType: string }
  | {
      type: "tool_call";
      call: string;
      tool: string;
      args: Json;
      /** The provider's text of the arguments, where parsing and writing it again changes it. */
      argsText?: string;
      providerMetadata?: Json;
    }
  | { type: "tool_result"; call: string; tool: string; output: string; isError: boolean };

/**
 * What a model is sent: every tool call is followed by its result, call ids are unique, no text is empty. Reasoning
 * alone may be without text where it carries a signature or metadata: it is then all proof, and must be sent back.
 */
export interface PromptMessage {
  /** Who speaks; `tool` messages hold the results of calls. */
  role: "user" | "assistant" | "tool";
  /** What is said, in order; never empty. */
  parts: PromptPart[];
}

/** A tool as the model sees it. */
export interface ToolDescription {
  /** What the model calls it by. */
  name: string;
  /** What it does, in words for the model. */
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Json;
}

/** One model call: exactly one request to the provider, never a hidden second one. */
export interface ModelCall {
  /** The system text. */
  system: string;
  /** What the model may call. */
  tools: ToolDescription[];
  /** The conversation so far, oldest first. */
  messages: PromptMessage[];
  /** The turn that answers; only for a model that takes an index. */
  cassetteIndex?: number;
}

/** A call that the model asked for. */
export interface AskedCall {
  /** The provider's id of the call. */
  call: string;
  /** The tool's name as the model wrote it; there may be no such tool. */
  tool: string;
  /** Arguments as the provider wrote them: JSON text, possibly malformed. */
  argsText: string;
  /** What the provider added and wants back unchanged. */
  providerMetadata?: Json;
}

/** A part of an answer, in the model's order. */
export type AnswerPart =
  | { type: "text"; text: string; providerMetadata?: Json }
  | { type: "reasoning"; text: string; signature?: string; providerMetadata?: Json }
  | ({ type: "call" } & AskedCall);

/** Why a call failed; the reasons of `model.failed`. */
export interface ModelFailure {
  /** One of the reasons of `model.failed`. */
  reason: string;
  /** What happened, for people; holds no secret. */
  message: string;
  /** HTTP status, where there was one. */
  status?: number;
  /** Milliseconds that the provider asked us to wait. */
  retryAfterMs?: number;
  /** True where the same call may succeed later. */
  retryable: boolean;
  /** True where something of an answer had come; absent where the model cannot tell. */
  began?: boolean;
  /** Tokens of the call, where the provider told them all the same. */
  usage?: Usage;
}

/** Events of one call. The stream ends with exactly one `answered` or `failed`, and never throws. */
export type ModelEvent =
  /** A piece of the answer as it arrives; transient, shown but not stored. */
  | { type: "delta"; part: "text" | "reasoning"; text: string }
  | { type: "answered"; parts: AnswerPart[]; usage?: Usage; stopReason: string; responseId?: string }
  /** Also after an abort, with reason `interrupted`. */
  | { type: "failed"; failure: ModelFailure };

/** A model that answers calls. */
export interface Model {
  /** Who is asked, as the facts name it. */
  readonly provider: string;
  /** The provider's name of the model. */
  readonly name: string;
  /** True for a recording: each call says by its index which turn of it answers. */
  readonly takesIndex?: boolean;
  /** Streams one answer. Must end soon after `signal` is aborted. */
  call(call: ModelCall, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

/**
 * Where an operation takes place. The paths are given; an agent derives none of the session's own. Inside `spool` and
 * `trash` it may make and remove what it likes, those two directories themselves and their parent included, and beside
 * them names that begin with the operation's id: nobody else uses these, and they go with the session.
 */
export interface OperationPlace {
  /** Id of the session. */
  readonly session: string;
  /** Id of the run. */
  readonly run: string;
  /** Id of the operation. */
  readonly operation: string;
  /** Canonical root of the workspace; nothing outside may be touched. */
  readonly workspace: string;
  /** Canonical path of the state directory: no tool may touch it, also where it lies inside the workspace. */
  readonly closed?: string;
  /** A directory for this operation's spool, inside the session; may not exist yet. */
  readonly spool: string;
  /** The session's trash; may not exist yet. */
  readonly trash: string;
  /** Identifies the session's supervisor: session and state directory. */
  readonly supervisor: string;
}

/** How an effect ended. */
export interface EffectResult {
  /** How it ended; `denied` is never a tool's to say. */
  outcome: Outcome;
  /** What the model reads. */
  output: string;
  /** The whole output where `output` is only head and tail of it. */
  full?: Uint8Array;
  /** Wall clock of the effect's own start, where it was observed. */
  startedAt?: number;
  /** Wall clock of the effect's own end, where it was observed. */
  endedAt?: number;
  /** Milliseconds that the effect took, measured monotonic. */
  durationMs?: number;
  /** Details for people and machines: exit code, signal, survivors, how it was proven. */
  details?: Json;
}

/** What must be known before an effect starts; or the result of one that must not start. */
export type Prepared = { ready: true; evidence: Evidence } | { ready: false; result: EffectResult };

/** What can be proven of an effect whose start is on record and whose end is not. */
export type Proof =
  /** It happened, or ended; this is its result. */
  | { proven: "known"; result: EffectResult }
  /** It provably did not happen, and now never will: a new operation may be made of it. */
  | { proven: "not_executed"; details?: Json }
  /** Nothing proves either. `evidence` is all that was found. */
  | { proven: "unknown"; reason: string; evidence: Json };

/** What a tool may use while it runs. */
export interface ToolRun {
  /** Where it takes place. */
  readonly place: OperationPlace;
  /** The exact arguments, parsed; not yet checked. */
  readonly args: Json;
  /**
   * Evidence of the operation that this one stands for, which provably did not happen: what was found then. Whoever
   * finds something else now must not do it, since nobody who asked for it has seen that. Only in `prepare`.
   */
  readonly replaced?: Evidence;
  /** Aborted when the effect shall stop; the tool then ends it and tells its real end. */
  readonly signal: AbortSignal;
  /** Milliseconds from then until it is made to end, where it does not by itself. */
  readonly graceMs: number;
  /**
   * Wall clock at which the run's time is used up; absent where it has no such budget. An effect that outlives the
   * worker ends by then without being told.
   */
  readonly deadlineAt?: number;
  /** Live output; transient, already redacted. */
  live(text: string): void;
}

/** Something a model may ask for. */
export interface Tool extends ToolDescription {
  /** What it may do to the world, which decides what recovery does. */
  readonly effect: EffectClass;
  /** The capability that policy must permit. */
  readonly capability: string;
  /**
   * Checks arguments and takes evidence, stages what is staged, and makes that durable. Must not change anything that
   * the workspace's user would see but the staged file. Resolves; bad arguments are a `ready: false` result.
   */
  prepare(run: ToolRun): Promise<Prepared>;
  /**
   * The effect. Called at most once for an operation, after its start is durable. Durable itself when it resolves. May
   * reject where it cannot tell how the effect ended, or whether it began: a rejection says nothing about either, and
   * the engine then asks `prove`, as after a death.
   */
  perform(run: ToolRun, evidence: Evidence): Promise<EffectResult>;
  /**
   * After a death: what happened? Never executes the effect; may go on waiting for one that still runs, and must make
   * `not_executed` final (nothing that is still under way may execute it later). May reject where the system lacks
   * something that may be there later (`isExhausted`): it is asked again then; any other rejection proves nothing.
   */
  prove(run: ToolRun, evidence: Evidence): Promise<Proof>;
  /**
   * Removes what was staged for an operation that never started, or is needed no more once its outcome is durable.
   * Without evidence (it died while it prepared) `args` say where to look; they are given wherever they are known.
   */
  cleanUp(place: OperationPlace, evidence: Evidence | undefined, args: Json | undefined): Promise<void>;
}

/** A built-in agent, ready to work: one model and its tools. */
export interface Agent {
  /** Its name, as `builtin`. */
  readonly name: string;
  /** What answers. */
  readonly model: Model;
  /** What it may do, as far as policy permits. */
  readonly tools: readonly Tool[];
  /**
   * What it might do once and may no more: never offered and never begun, but asked what became of an operation that
   * was started while it was permitted.
   */
  readonly pastTools?: readonly Tool[];
  /** Replaces known secrets in text that is about to be stored or shown. */
  redact(text: string): string;
  /** Does the same with text that comes in pieces: holds back what may be the start of a secret. */
  maskStream(): { push(piece: string): string; end(): string };
  /** Lets go of everything that it holds. Resolves; nothing is called on it afterwards. */
  close(): Promise<void>;
}

import type { Host } from "../host/index.ts";
import type { Agent } from "../model/agent.ts";
import type { Commit } from "../model/commit.ts";
import type { ModelChoice } from "../model/facts.ts";
import type { Redactor } from "../model/redact.ts";
import type { Store } from "../store/index.ts";

/** What every verb works with. Built once, in the hall. */
export interface EngineContext {
  readonly host: Host;
  readonly store: Store;
  /** Version of the program. */
  readonly version: string;
  /** The environment; a short program that the engine itself runs (git) gets what it needs of it, and no key. */
  readonly environment: Readonly<Record<string, string>>;
  /** Reads what a caller named as a model; resolves to the choice and to blobs that a session must carry. */
  chooseModel(agent: string, model: string | undefined): Promise<ChosenModel>;
  /** Masks every secret that this process knows; asked by whoever stores what a person or a model wrote. */
  openRedactor(): Promise<Redactor>;
  /** Makes an agent ready for a session. Rejects `provider_failed` or `agent_missing` where it cannot work. */
  openAgent(request: AgentRequest): Promise<Agent>;
}

/** A model that can be used. */
export interface ChosenModel {
  readonly choice: ModelChoice;
  readonly blobs: readonly Uint8Array[];
}

/** What an agent needs to know of the session that it works in. */
export interface AgentRequest {
  readonly agent: string;
  readonly model: ModelChoice;
  /** False where a run is only ended: then the model is asked nothing, and may lack its key or cassette. */
  readonly asks: boolean;
  /** The cassette's bytes, where the model is one. */
  readonly cassette?: Uint8Array;
  /** Capabilities that it may offer to the model. */
  readonly capabilities: readonly string[];
  /** Capabilities that it may have had before: their tools are never offered, and prove what was started with them. */
  readonly pastCapabilities: readonly string[];
  /** Names of secret-looking variables that children get all the same. */
  readonly passEnv: readonly string[];
}

/** Something that happens now and is not stored. */
export type LiveEvent =
  | { readonly type: "live.text" | "live.reasoning"; readonly run: string; readonly text: string }
  | { readonly type: "live.output"; readonly run: string; readonly operation: string; readonly text: string }
  /** A model call that failed is made again after a pause; it is the `attempt`-th in a row of at most `attemptsMax`. */
  | {
      readonly type: "live.retry";
      readonly run: string;
      readonly inMs: number;
      readonly attempt: number;
      readonly attemptsMax: number;
    };

/** Who watches a session being worked on. Commits come after they are durable, in order. */
export interface Observer {
  /**
   * The work goes on when it returns or resolves, so that it may wait for a slow reader; once it shall stop it is not
   * waited for any more. Must never reject.
   */
  commit(commit: Commit): void | Promise<void>;
  live(event: LiveEvent): void;
}

import type { Json } from "../model/values.ts";

/** Who says whether what a policy leaves to a person may start. */

/** An operation that waits for a person's word. */
export interface ApprovalQuestion {
  readonly session: string;
  readonly run: string;
  readonly operation: string;
  readonly tool: string;
  readonly capability: string;
  /** The arguments as they are shown: secrets masked. */
  readonly args: Json;
}

/** Characters of a reason that are recorded. */
export const reasonLengthMax = 4096;

/** A person's word. */
export interface ApprovalAnswer {
  readonly decision: "allow" | "deny";
  /** True where it holds for later operations of that capability, too. */
  readonly remember: boolean;
  /** Why, where something was said. */
  readonly reason?: string;
}

/** How a person is asked. In every mode another process may answer instead. */
export type ApprovalMode =
  /** Nobody can be asked: it is denied. */
  | { readonly kind: "deny" }
  /** Another process will answer. A wait that runs out is a denial; without `forMs` it never does. */
  | { readonly kind: "wait"; readonly forMs?: number }
  /** Somebody is here. `ask` resolves to undefined once `signal` is aborted, or where the work shall stop instead. */
  | {
      readonly kind: "prompt";
      ask(question: ApprovalQuestion, signal: AbortSignal): Promise<ApprovalAnswer | undefined>;
    };

/** Keeps for how long each operation has waited, since waits are taken up again whenever something else happens. */
export class Approver {
  readonly mode: ApprovalMode;
  readonly #sinceMs = new Map<string, number>();

  constructor(mode: ApprovalMode) {
    this.mode = mode;
  }

  /** Milliseconds that may still be waited for an answer about the operation; Infinity without a limit. */
  leftMs(operation: string, nowMs: number): number {
    const sinceMs = this.#sinceMs.get(operation) ?? nowMs;
    this.#sinceMs.set(operation, sinceMs);
    if (this.mode.kind === "deny") return 0;
    const { forMs = Infinity } = this.mode.kind === "wait" ? this.mode : {};
    return Math.max(0, sinceMs + forMs - nowMs);
  }
}

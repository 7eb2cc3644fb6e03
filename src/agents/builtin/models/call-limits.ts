/** How long one call may be silent. */

/** The limits of one model call. Where one of the first three runs out, it fails with reason `timeout`. */
export interface CallLimits {
  /** From the request to the head of the answer: finding the name, connecting and waiting together. */
  readonly headMs: number;
  /** Between two pieces of the answer's body, whatever they hold. */
  readonly silenceMs: number;
  /** Without anything of the answer, though the connection is kept alive. */
  readonly progressMs: number;
  /** For what a refusal says; what has come by then must do, and its status is known anyway. */
  readonly refusalMs: number;
}

/**
 * What holds where nobody says otherwise. Head and silence, kept an eighth too long, stay below the five minutes after
 * which the HTTP client gives up by itself. A provider may hold back a whole call of a tool, or think for long, while it
 * only keeps the connection alive: that has longer.
 */
export const callLimits: CallLimits = {
  headMs: 240_000,
  silenceMs: 240_000,
  progressMs: 15 * 60_000,
  refusalMs: 10_000,
};

/** What a broken promise is called in the report. */
export type BrokenPromise =
  /** Something that was acknowledged, or known, is not there any more, or stands elsewhere. */
  | "lost"
  /** An effect happened, or a message was delivered, more often than once. */
  | "repeated"
  /** Something is told as done that was not, or as acknowledged that never was durable. */
  | "false success"
  /** Something is called unknown that can be proven, or the other way round. */
  | "wrong doubt"
  /** It does not go on by itself although no synced byte changed; or it never ends. */
  | "stuck"
  /** A failure without a code of the table, or with one that does not fit. */
  | "untyped"
  /** Something was written by a reader, or into what belongs to somebody else. */
  | "foreign write"
  /** Anything else that a scenario says must be so and is not. */
  | "other";

/** A promise that did not hold. */
export class Finding extends Error {
  override readonly name = "Finding";
  readonly promise: BrokenPromise;
  constructor(promise: BrokenPromise, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.promise = promise;
  }
}

/** Throws a finding unless it holds. */
export function promised(holds: boolean, promise: BrokenPromise, message: () => string): void {
  if (!holds) throw new Finding(promise, message());
}

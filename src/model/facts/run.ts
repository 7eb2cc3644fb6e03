import * as z from "zod/mini";
import { Count, Duration, Usage } from "../values.ts";

/** Facts about a run: one task, until it is completed, failed or canceled. */

/** A task became a run; in one line with its user message. */
export const RunCreated = z.object({
  kind: z.literal("run.created"),
  /** Id of the run. */
  run: z.string(),
  /** Id of the user message that is the task. */
  message: z.string(),
});
export type RunCreated = z.infer<typeof RunCreated>;

/** A process picked the run up. */
export const RunStarted = z.object({
  kind: z.literal("run.started"),
  /** Id of the run. */
  run: z.string(),
  /** Which process it is, counted from 1. */
  attempt: Count,
});
export type RunStarted = z.infer<typeof RunStarted>;

/** The attempt ended, the run did not. */
export const RunSuspended = z.object({
  kind: z.literal("run.suspended"),
  /** Id of the run. */
  run: z.string(),
  /** Why: the process was told to stop, or the provider or the agent failed. */
  reason: z.enum(["signal", "stop", "provider", "agent"]),
  /** What failed, for `provider` and `agent`. */
  message: z.optional(z.string()),
  /** Milliseconds that the attempt took. */
  elapsedMs: Duration,
});
export type RunSuspended = z.infer<typeof RunSuspended>;

/** The run waits for a person. */
export const RunInputRequired = z.object({
  kind: z.literal("run.input_required"),
  /** Id of the run. */
  run: z.string(),
  /** Ids of the operations whose outcome is unknown. */
  operations: z.array(z.string()),
  /** Milliseconds that the attempt took. */
  elapsedMs: Duration,
});
export type RunInputRequired = z.infer<typeof RunInputRequired>;

/** The run is over; in one line with its final message, where there is one. */
export const RunEnded = z.object({
  kind: z.literal("run.ended"),
  /** Id of the run. */
  run: z.string(),
  /** How it ended. */
  status: z.enum(["completed", "failed", "canceled"]),
  /**
   * Why, where it did not complete: an error code, `budget_turns`, `budget_tokens`, `budget_wall_clock`, `abandoned`; or
   * `content_filter`, `answer_cut`, `answer_broken` where the last answer is not whole; or `output_invalid` where it is
   * not what the definition's output demands.
   */
  reason: z.optional(z.string()),
  /** The same for people, where `text` is the answer and does not say it. */
  message: z.optional(z.string()),
  /** Who canceled or abandoned it: a person's name. */
  by: z.optional(z.string()),
  /** The final answer, at most 32 KiB of it; whole in the final message. */
  text: z.optional(z.string()),
  /** Tokens of all its model calls, over all attempts. */
  usage: Usage,
  /** Model answers, over all attempts. */
  turns: Count,
  /** Milliseconds that the last attempt took. */
  elapsedMs: Duration,
});
export type RunEnded = z.infer<typeof RunEnded>;

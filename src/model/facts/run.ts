import * as z from "zod/mini";
import { Usage } from "../values.ts";

/** Facts about a run: one task, until it is completed, failed or canceled. */

/** A task became a run; in one line with its user message. */
export const RunCreated = z.object({
  kind: z.literal("run.created"),
  run: z.string(),
  /** The user message that is the task. */
  message: z.string(),
});
export type RunCreated = z.infer<typeof RunCreated>;

/** A process picked the run up. */
export const RunStarted = z.object({
  kind: z.literal("run.started"),
  run: z.string(),
  /** From 1. */
  attempt: z.number(),
});
export type RunStarted = z.infer<typeof RunStarted>;

/** The attempt ended, the run did not. */
export const RunSuspended = z.object({
  kind: z.literal("run.suspended"),
  run: z.string(),
  reason: z.enum(["signal", "stop", "provider", "agent"]),
  /** What failed, for `provider` and `agent`. */
  message: z.optional(z.string()),
  /** Monotonic length of the attempt. */
  elapsedMs: z.number(),
});
export type RunSuspended = z.infer<typeof RunSuspended>;

/** The run waits for a person. */
export const RunInputRequired = z.object({
  kind: z.literal("run.input_required"),
  run: z.string(),
  /** Operations whose outcome is unknown. */
  operations: z.array(z.string()),
  elapsedMs: z.number(),
});
export type RunInputRequired = z.infer<typeof RunInputRequired>;

/** The run is over; in one line with its final message, where there is one. */
export const RunEnded = z.object({
  kind: z.literal("run.ended"),
  run: z.string(),
  status: z.enum(["completed", "failed", "canceled"]),
  /**
   * Why, where it did not complete: an error code, `budget_turns`, `budget_tokens`, `budget_wall_clock`, `abandoned`; or
   * `content_filter`, `answer_cut`, `answer_broken` where the last answer is not whole.
   */
  reason: z.optional(z.string()),
  /** The final answer, at most 32 KiB of it; whole in the final message. */
  text: z.optional(z.string()),
  usage: Usage,
  turns: z.number(),
  elapsedMs: z.number(),
});
export type RunEnded = z.infer<typeof RunEnded>;

import * as z from "zod/mini";
import { BlobRef, Json } from "../values.ts";

/** Facts of the queue: messages that wait, and requests to whoever holds the session. */

/** One user message is durable and waits. */
export const DeliveryAdmitted = z.object({
  kind: z.literal("delivery.admitted"),
  delivery: z.string(),
  /** Same key, same delivery: a retry admits nothing new. */
  idempotencyKey: z.string(),
  /** The log's seq when it was admitted, -1 before line 0. */
  logSeq: z.number(),
  source: z.enum(["user", "schedule", "teammate", "task"]),
  text: z.optional(z.string()),
  blob: z.optional(BlobRef),
  /** The text as it came, where it was no well-formed text. */
  original: z.optional(BlobRef),
  attachments: z.optional(z.array(Json)),
  mode: z.enum(["queue", "interrupt"]),
});
export type DeliveryAdmitted = z.infer<typeof DeliveryAdmitted>;

/** Its text was replaced before it was claimed. */
export const DeliveryEdited = z.object({
  kind: z.literal("delivery.edited"),
  delivery: z.string(),
  text: z.optional(z.string()),
  blob: z.optional(BlobRef),
});
export type DeliveryEdited = z.infer<typeof DeliveryEdited>;

/** It stands before another one now, or last. */
export const DeliveryMoved = z.object({
  kind: z.literal("delivery.moved"),
  delivery: z.string(),
  before: z.optional(z.string()),
});
export type DeliveryMoved = z.infer<typeof DeliveryMoved>;

/** It may wake the session, as authorised. */
export const DeliveryArmed = z.object({
  kind: z.literal("delivery.armed"),
  delivery: z.string(),
  authorisation: Json,
});
export type DeliveryArmed = z.infer<typeof DeliveryArmed>;

/** It was tried to wake the session for it. */
export const DeliveryAttempted = z.object({
  kind: z.literal("delivery.attempted"),
  delivery: z.string(),
  result: z.string(),
  reason: z.optional(z.string()),
});
export type DeliveryAttempted = z.infer<typeof DeliveryAttempted>;

/** It may wake the session no more. */
export const DeliveryDisarmed = z.object({
  kind: z.literal("delivery.disarmed"),
  delivery: z.string(),
  reason: z.string(),
});
export type DeliveryDisarmed = z.infer<typeof DeliveryDisarmed>;

/** An attachment's snapshot; from now on only it is used. */
export const DeliveryResolved = z.object({
  kind: z.literal("delivery.resolved"),
  delivery: z.string(),
  attachment: z.number(),
  snapshot: BlobRef,
});
export type DeliveryResolved = z.infer<typeof DeliveryResolved>;

/** The holder is about to append its message to the log. */
export const DeliveryClaimed = z.object({
  kind: z.literal("delivery.claimed"),
  delivery: z.string(),
  /** The log's seq when it was claimed: the message is later than that. */
  logSeq: z.number(),
});
export type DeliveryClaimed = z.infer<typeof DeliveryClaimed>;

/** A stale claim was undone: the log lacks the message. */
export const DeliveryReleased = z.object({ kind: z.literal("delivery.released"), delivery: z.string() });
export type DeliveryReleased = z.infer<typeof DeliveryReleased>;

/** The message is in the log, in the line (`seq`, `sum`). */
export const DeliveryAcknowledged = z.object({
  kind: z.literal("delivery.acknowledged"),
  delivery: z.string(),
  seq: z.number(),
  sum: z.string(),
});
export type DeliveryAcknowledged = z.infer<typeof DeliveryAcknowledged>;

/** It cannot be delivered as it is, for this reason. */
export const DeliveryBlocked = z.object({
  kind: z.literal("delivery.blocked"),
  delivery: z.string(),
  reason: z.string(),
});
export type DeliveryBlocked = z.infer<typeof DeliveryBlocked>;

/** A person let it go on. */
export const DeliveryUnblocked = z.object({
  kind: z.literal("delivery.unblocked"),
  delivery: z.string(),
  by: z.string(),
});
export type DeliveryUnblocked = z.infer<typeof DeliveryUnblocked>;

/** It will not be delivered. */
export const DeliveryRemoved = z.object({
  kind: z.literal("delivery.removed"),
  delivery: z.string(),
  by: z.optional(z.string()),
});
export type DeliveryRemoved = z.infer<typeof DeliveryRemoved>;

/** Somebody wants something of a live session. */
export const RequestMade = z.object({
  kind: z.literal("request.made"),
  request: z.string(),
  verb: z.string(),
  args: Json,
  by: z.string(),
});
export type RequestMade = z.infer<typeof RequestMade>;

/** The holder did what was asked, or says why not. */
export const RequestAnswered = z.object({
  kind: z.literal("request.answered"),
  request: z.string(),
  ok: z.boolean(),
  code: z.optional(z.string()),
  message: z.optional(z.string()),
});
export type RequestAnswered = z.infer<typeof RequestAnswered>;

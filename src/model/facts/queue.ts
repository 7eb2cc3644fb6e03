import * as z from "zod/mini";
import { BlobRef, Count, Json, Sum } from "../values.ts";

/** Facts of the queue: messages that wait, and requests to whoever holds the session. */

const LogSeq = z.custom<number>((value) => Number.isSafeInteger(value) && (value as number) >= -1);

/** One user message is durable and waits. */
export const DeliveryAdmitted = z.object({
  kind: z.literal("delivery.admitted"),
  /** Id of the delivery. */
  delivery: z.string(),
  /** Same key, same delivery: a retry admits nothing new. */
  idempotencyKey: z.string(),
  /** Position of the log's last line when it was admitted; -1 before line 0. */
  logSeq: LogSeq,
  /** What it came from. */
  source: z.enum(["user", "schedule", "teammate", "task"]),
  /** The text, where it stands in the line. */
  text: z.optional(z.string()),
  /** The text as UTF-8, where it is too long for the line. */
  blob: z.optional(BlobRef),
  /** The text as it came, as UTF-16LE code units, where it was not well-formed and so was mended for the line. */
  original: z.optional(BlobRef),
  /** What goes with it: files, directories, URLs, images, notes. */
  attachments: z.optional(z.array(Json)),
  /** Whether it waits for the active run to end, or has it canceled and goes first. */
  mode: z.enum(["queue", "interrupt"]),
});
export type DeliveryAdmitted = z.infer<typeof DeliveryAdmitted>;

/** Its text was replaced before it was claimed. */
export const DeliveryEdited = z.object({
  kind: z.literal("delivery.edited"),
  /** Id of the delivery. */
  delivery: z.string(),
  /** The new text, where it stands in the line. */
  text: z.optional(z.string()),
  /** The new text as UTF-8, where it is too long for the line. */
  blob: z.optional(BlobRef),
});
export type DeliveryEdited = z.infer<typeof DeliveryEdited>;

/** It stands before another one now, or last. */
export const DeliveryMoved = z.object({
  kind: z.literal("delivery.moved"),
  /** Id of the delivery. */
  delivery: z.string(),
  /** Id of the delivery that it stands before; absent where it stands last. */
  before: z.optional(z.string()),
});
export type DeliveryMoved = z.infer<typeof DeliveryMoved>;

/** It may wake the session, as authorised. */
export const DeliveryArmed = z.object({
  kind: z.literal("delivery.armed"),
  /** Id of the delivery. */
  delivery: z.string(),
  /** Who allowed what, and until when. */
  authorisation: Json,
});
export type DeliveryArmed = z.infer<typeof DeliveryArmed>;

/** It was tried to wake the session for it. */
export const DeliveryAttempted = z.object({
  kind: z.literal("delivery.attempted"),
  /** Id of the delivery. */
  delivery: z.string(),
  /** What came of it. */
  result: z.string(),
  /** Why, where it did not wake. */
  reason: z.optional(z.string()),
});
export type DeliveryAttempted = z.infer<typeof DeliveryAttempted>;

/** It may wake the session no more. */
export const DeliveryDisarmed = z.object({
  kind: z.literal("delivery.disarmed"),
  /** Id of the delivery. */
  delivery: z.string(),
  /** Why not. */
  reason: z.string(),
});
export type DeliveryDisarmed = z.infer<typeof DeliveryDisarmed>;

/** One of its attachments became a snapshot; from now on only that is used. */
export const DeliveryResolved = z.object({
  kind: z.literal("delivery.resolved"),
  /** Id of the delivery. */
  delivery: z.string(),
  /** The attachment's place in the delivery's list, from 0. */
  attachment: Count,
  /** What it is, for good. */
  snapshot: BlobRef,
});
export type DeliveryResolved = z.infer<typeof DeliveryResolved>;

/** The holder is about to append its message to the log. */
export const DeliveryClaimed = z.object({
  kind: z.literal("delivery.claimed"),
  /** Id of the delivery. */
  delivery: z.string(),
  /** Position of the log's last line when it was claimed; its message is later than that. */
  logSeq: LogSeq,
});
export type DeliveryClaimed = z.infer<typeof DeliveryClaimed>;

/** A stale claim was undone: the log lacks the message. */
export const DeliveryReleased = z.object({
  kind: z.literal("delivery.released"),
  /** Id of the delivery. */
  delivery: z.string(),
});
export type DeliveryReleased = z.infer<typeof DeliveryReleased>;

/** The message is in the log. */
export const DeliveryAcknowledged = z.object({
  kind: z.literal("delivery.acknowledged"),
  /** Id of the delivery. */
  delivery: z.string(),
  /** Position of the log's line that holds the message. */
  logSeq: Count,
  /** The sum of that line. */
  sum: Sum,
});
export type DeliveryAcknowledged = z.infer<typeof DeliveryAcknowledged>;

/** It cannot be delivered as it is. */
export const DeliveryBlocked = z.object({
  kind: z.literal("delivery.blocked"),
  /** Id of the delivery. */
  delivery: z.string(),
  /** Why not: a code, as `imported` or `rolled_back`, or a sentence. */
  reason: z.string(),
});
export type DeliveryBlocked = z.infer<typeof DeliveryBlocked>;

/** A person let it go on. */
export const DeliveryUnblocked = z.object({
  kind: z.literal("delivery.unblocked"),
  /** Id of the delivery. */
  delivery: z.string(),
  /** Who let it. */
  by: z.string(),
});
export type DeliveryUnblocked = z.infer<typeof DeliveryUnblocked>;

/** It will not be delivered. */
export const DeliveryRemoved = z.object({
  kind: z.literal("delivery.removed"),
  /** Id of the delivery. */
  delivery: z.string(),
  /** Who removed it. */
  by: z.optional(z.string()),
});
export type DeliveryRemoved = z.infer<typeof DeliveryRemoved>;

/** Somebody wants something of a live session. */
export const RequestMade = z.object({
  kind: z.literal("request.made"),
  /** Id of the request. */
  request: z.string(),
  /** What is wanted: the name of one verb of the engine. */
  verb: z.string(),
  /** The verb's arguments. */
  args: Json,
  /** Who wants it. */
  by: z.string(),
});
export type RequestMade = z.infer<typeof RequestMade>;

/** The holder did what was asked, or says why not. */
export const RequestAnswered = z.object({
  kind: z.literal("request.answered"),
  /** Id of the request. */
  request: z.string(),
  /** True where it was done. */
  ok: z.boolean(),
  /** The error's code, where it was not. */
  code: z.optional(z.string()),
  /** The error's message, where it was not. */
  message: z.optional(z.string()),
});
export type RequestAnswered = z.infer<typeof RequestAnswered>;

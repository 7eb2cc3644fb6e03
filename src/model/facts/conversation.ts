import * as z from "zod/mini";
import { BlobRef, Json, Outcome, Usage } from "../values.ts";

/** Facts about the conversation: messages, what the model was asked and answered, what changed its view. */

/** A payload of text: in the line, or a blob where its JSON text is over 32 KiB. */
const text = { text: z.optional(z.string()), blob: z.optional(BlobRef) };

/** What providers add to a part and want back unchanged, by provider: in the line, or a blob of its JSON text. */
const metadata = { providerMetadata: z.optional(Json), providerMetadataBlob: z.optional(BlobRef) };

/** Text that somebody wrote. */
export const TextPart = z.object({
  type: z.literal("text"),
  ...text,
  ...metadata,
  /** The bytes as they came, where they were no well-formed text. */
  original: z.optional(BlobRef),
});
export type TextPart = z.infer<typeof TextPart>;

/** What the model thought before it answered. */
export const ReasoningPart = z.object({
  type: z.literal("reasoning"),
  ...text,
  /** The provider's opaque proof of the text, byte for byte. */
  signature: z.optional(z.string()),
  ...metadata,
});
export type ReasoningPart = z.infer<typeof ReasoningPart>;

/** A picture; its bytes are a blob. */
export const ImagePart = z.object({ type: z.literal("image"), blob: BlobRef, mediaType: z.string() });

/** Something put into the model's view that nobody typed: rules, files, URLs. */
export const ContextPart = z.object({
  type: z.literal("context"),
  source: z.string(),
  title: z.string(),
  hidden: z.boolean(),
  /** True where it can be sent again as it was. */
  reversible: z.boolean(),
  ...text,
});

/** The model asked for a tool. */
export const ToolCallPart = z.object({
  type: z.literal("tool_call"),
  /** Our id of the operation. */
  operation: z.string(),
  tool: z.string(),
  /** Parsed arguments; or a blob of their JSON text. */
  args: z.optional(Json),
  argsBlob: z.optional(BlobRef),
  ...metadata,
});
export type ToolCallPart = z.infer<typeof ToolCallPart>;

/** The result that the model reads for one of its calls. */
export const ToolResultPart = z.object({
  type: z.literal("tool_result"),
  /** The operation that the model called. */
  operation: z.string(),
  outcome: Outcome,
  output: z.optional(z.string()),
  outputBlob: z.optional(BlobRef),
});
export type ToolResultPart = z.infer<typeof ToolResultPart>;

/** A letter from a teammate session. */
export const MailPart = z.object({ type: z.literal("mail"), from: z.string(), ...text });
/** Something that happened elsewhere, told to the model. */
export const NoticePart = z.object({ type: z.literal("notice"), source: z.string(), ...text });

/** One piece of a message. */
export const Part = z.discriminatedUnion("type", [
  TextPart,
  ReasoningPart,
  ImagePart,
  ContextPart,
  ToolCallPart,
  ToolResultPart,
  MailPart,
  NoticePart,
]);
export type Part = z.infer<typeof Part>;

/** One record of the conversation; first in its line. */
export const Message = z.object({
  kind: z.literal("message"),
  id: z.string(),
  role: z.enum(["user", "assistant", "tool"]),
  parts: z.array(Part),
  run: z.optional(z.string()),
  turn: z.optional(z.number()),
  /** The delivery that brought a user message. */
  delivery: z.optional(z.string()),
  /** When that delivery was admitted. */
  admittedAt: z.optional(z.number()),
  /** Set where a crash or a cancel cut the answer; never sent to a model as if it were whole. */
  interrupted: z.optional(z.boolean()),
});
export type Message = z.infer<typeof Message>;

/** The system text or the tool list differs from the last call's. */
export const SystemChanged = z.object({
  kind: z.literal("system.changed"),
  run: z.string(),
  /** The system text. */
  system: BlobRef,
  /** Each tool's schema by tool name. */
  tools: z.record(z.string(), BlobRef),
});
export type SystemChanged = z.infer<typeof SystemChanged>;

/** A model call is about to be made. */
export const ModelRequested = z.object({
  kind: z.literal("model.requested"),
  run: z.string(),
  turn: z.number(),
  /** `execution`, `planning` or `summary`. */
  role: z.string(),
  provider: z.string(),
  model: z.string(),
  /** The turn of the cassette that answers. */
  cassetteIndex: z.optional(z.number()),
  /** The system text as it was at this call. */
  system: BlobRef,
  /** SHA-256 of each tool's schema by tool name, as they were at this call. */
  tools: z.record(z.string(), z.string()),
});
export type ModelRequested = z.infer<typeof ModelRequested>;

/** The answer is whole; in one line with its message. */
export const ModelAnswered = z.object({
  kind: z.literal("model.answered"),
  run: z.string(),
  turn: z.number(),
  /** From the request to the first token. */
  firstTokenMs: z.optional(z.number()),
  durationMs: z.number(),
  /** Absent where the provider reported none. */
  usage: z.optional(Usage),
  /** `stop`, `tool-calls`, `length`, `content-filter`, `error` or `other`. */
  stopReason: z.string(),
  /** The provider's id of the answer. */
  responseId: z.optional(z.string()),
});
export type ModelAnswered = z.infer<typeof ModelAnswered>;

/** The call failed. */
export const ModelFailed = z.object({
  kind: z.literal("model.failed"),
  run: z.string(),
  turn: z.number(),
  /** `http`, `network`, `auth`, `quota`, `rate_limit`, `context_overflow`, `content_filter`, `malformed`, `timeout`, `cassette_exhausted` or `interrupted`. */
  reason: z.string(),
  message: z.string(),
  /** HTTP status where there was one. */
  status: z.optional(z.number()),
  /** What the provider asked us to wait. */
  retryAfterMs: z.optional(z.number()),
  /** True where the same call may be made again. */
  retryable: z.boolean(),
  /** True where an answer had begun. */
  began: z.boolean(),
  durationMs: z.number(),
});
export type ModelFailed = z.infer<typeof ModelFailed>;

/** Older messages are represented to the model by a summary from here on. */
export const Compacted = z.object({
  kind: z.literal("compacted"),
  /** The last message that the summary stands for. */
  through: z.string(),
  summary: z.optional(z.string()),
  summaryBlob: z.optional(BlobRef),
});
export type Compacted = z.infer<typeof Compacted>;

/** The visible messages are again those that were visible after the line (`session`, `seq`). */
export const Rewound = z.object({ kind: z.literal("rewound"), session: z.string(), seq: z.number() });
export type Rewound = z.infer<typeof Rewound>;

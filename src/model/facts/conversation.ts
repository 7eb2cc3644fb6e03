import * as z from "zod/mini";
import { BlobRef, Count, Duration, Json, Outcome, Usage } from "../values.ts";

/** Facts about the conversation: messages, what the model was asked and answered, what changed its view. */

const text = {
  /** The text, where it stands in the line. */
  text: z.optional(z.string()),
  /** The text as UTF-8, where it is a blob: its JSON text is over 32 KiB, or the line was full. */
  blob: z.optional(BlobRef),
};

const metadata = {
  /** What the provider added to the part and wants back unchanged, by provider. */
  providerMetadata: z.optional(Json),
  /** The same as a blob of its JSON text, where it is too long for the line. */
  providerMetadataBlob: z.optional(BlobRef),
};

/** Text that somebody wrote. */
export const TextPart = z.object({
  type: z.literal("text"),
  ...text,
  ...metadata,
  /** The text as it came, as UTF-16LE code units, where it was not well-formed and so was mended for the line. */
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
  /** The text as it came, where it was no well-formed text. */
  original: z.optional(BlobRef),
});
export type ReasoningPart = z.infer<typeof ReasoningPart>;

/** A picture. */
export const ImagePart = z.object({
  type: z.literal("image"),
  /** The picture's bytes. */
  blob: BlobRef,
  /** The picture's media type, as `image/png`. */
  mediaType: z.string(),
});

/** Something put into the model's view that nobody typed: rules, files, URLs. */
export const ContextPart = z.object({
  type: z.literal("context"),
  /** Where it comes from: a path, a URL, or the name of who put it there. */
  source: z.string(),
  /** What people are shown for it. */
  title: z.string(),
  /** True where people are shown only the title unless they ask. */
  hidden: z.boolean(),
  /** True where it can be sent again as it was. */
  reversible: z.boolean(),
  ...text,
});

/** The model asked for a tool. */
export const ToolCallPart = z.object({
  type: z.literal("tool_call"),
  /** Id of the operation, ours and not the provider's. */
  operation: z.string(),
  /** The tool's name as the model wrote it. */
  tool: z.string(),
  /** The parsed arguments, where they stand in the line; known secrets in them are redacted. */
  args: z.optional(Json),
  /** The arguments as a blob of their JSON text, where they are too long for the line. */
  argsBlob: z.optional(BlobRef),
  ...metadata,
});
export type ToolCallPart = z.infer<typeof ToolCallPart>;

/** The result that the model reads for one of its calls. */
export const ToolResultPart = z.object({
  type: z.literal("tool_result"),
  /** Id of the operation that the model called. */
  operation: z.string(),
  /** How the operation ended. */
  outcome: Outcome,
  /** What the model reads, where it stands in the line. */
  output: z.optional(z.string()),
  /** What the model reads, where it is too long for the line. */
  outputBlob: z.optional(BlobRef),
});
export type ToolResultPart = z.infer<typeof ToolResultPart>;

/** A letter from a teammate session. */
export const MailPart = z.object({
  type: z.literal("mail"),
  /** Id of the session that wrote it. */
  from: z.string(),
  ...text,
});

/** Something that happened elsewhere, told to the model. */
export const NoticePart = z.object({
  type: z.literal("notice"),
  /** What it comes from. */
  source: z.string(),
  ...text,
});

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
  /** Id of the message; a branch keeps it. */
  id: z.string(),
  /** Who speaks: `tool` messages hold the results of calls. */
  role: z.enum(["user", "assistant", "tool"]),
  /** What it says, in order. */
  parts: z.array(Part),
  /** Id of the run that it belongs to; a user's message is its task. */
  run: z.optional(z.string()),
  /** The turn of that run, from 1. */
  turn: z.optional(Count),
  /** Id of the delivery that brought a user's message. */
  delivery: z.optional(z.string()),
  /** When that delivery was admitted. */
  admittedAt: z.optional(Count),
  /** True where a crash or a cancel cut the answer; it is never sent to a model as if it were whole. */
  interrupted: z.optional(z.boolean()),
});
export type Message = z.infer<typeof Message>;

/** The system text or the tool list differs from the last call's. */
export const SystemChanged = z.object({
  kind: z.literal("system.changed"),
  /** Id of the run whose next call has them. */
  run: z.string(),
  /** The system text. */
  system: BlobRef,
  /** The JSON text of each tool's schema, by the tool's name. */
  tools: z.record(z.string(), BlobRef),
});
export type SystemChanged = z.infer<typeof SystemChanged>;

/** A model call is about to be made. */
export const ModelRequested = z.object({
  kind: z.literal("model.requested"),
  /** Id of the run that asks. */
  run: z.string(),
  /** The turn that the answer will be, from 1. */
  turn: Count,
  /** What the model is used as: `execution`, `planning` or `summary`. */
  role: z.string(),
  /** Who is asked: `anthropic`, `openai`, `openai-compatible`, `google` or `cassette`. */
  provider: z.string(),
  /** The provider's name of the model. */
  model: z.string(),
  /** The turn of the cassette that answers, from 0; absent where no cassette does. */
  cassetteIndex: z.optional(Count),
  /** The system text as it was at this call. */
  system: BlobRef,
  /** SHA-256 of each tool's schema as it was at this call, by the tool's name. */
  tools: z.record(z.string(), z.string()),
});
export type ModelRequested = z.infer<typeof ModelRequested>;

/** The answer is whole; in one line with its message. */
export const ModelAnswered = z.object({
  kind: z.literal("model.answered"),
  /** Id of the run that asked. */
  run: z.string(),
  /** The turn that the answer is, from 1. */
  turn: Count,
  /** Milliseconds from the request to the first token; absent where none was seen to come. */
  firstTokenMs: z.optional(Duration),
  /** Milliseconds from the request to the end of the answer. */
  durationMs: Duration,
  /** Tokens of the call; absent where the provider reported none. */
  usage: z.optional(Usage),
  /** Why the model stopped: `stop`, `tool-calls`, `length`, `content-filter`, `error` or `other`. */
  stopReason: z.string(),
  /** The provider's id of the answer. */
  responseId: z.optional(z.string()),
});
export type ModelAnswered = z.infer<typeof ModelAnswered>;

/** The call failed. */
export const ModelFailed = z.object({
  kind: z.literal("model.failed"),
  /** Id of the run that asked. */
  run: z.string(),
  /** The turn that the answer would have been, from 1. */
  turn: Count,
  /** `http`, `network`, `auth`, `quota`, `rate_limit`, `context_overflow`, `content_filter`, `malformed`, `timeout`, `cassette_exhausted` or `interrupted`. */
  reason: z.string(),
  /** What happened, for people. */
  message: z.string(),
  /** HTTP status, where there was one. */
  status: z.optional(Count),
  /** Milliseconds that the provider asked us to wait. */
  retryAfterMs: z.optional(Duration),
  /** True where the same call may be made again. */
  retryable: z.boolean(),
  /** True where an answer had begun. */
  began: z.boolean(),
  /** Tokens of the call, where the provider told them all the same. */
  usage: z.optional(Usage),
  /** Milliseconds from the request to the failure. */
  durationMs: Duration,
});
export type ModelFailed = z.infer<typeof ModelFailed>;

/** Older messages are represented to the model by a summary from here on. */
export const Compacted = z.object({
  kind: z.literal("compacted"),
  /** Id of the last message that the summary stands for. */
  through: z.string(),
  /** The summary, where it stands in the line. */
  summary: z.optional(z.string()),
  /** The summary, where it is too long for the line. */
  summaryBlob: z.optional(BlobRef),
});
export type Compacted = z.infer<typeof Compacted>;

/** The visible messages are again those that were visible after the line (`session`, `seq`). */
export const Rewound = z.object({
  kind: z.literal("rewound"),
  /** Id of the session whose file holds that line: this one, or an ancestor. */
  session: z.string(),
  /** That line's position in its file, from 0. */
  seq: Count,
});
export type Rewound = z.infer<typeof Rewound>;

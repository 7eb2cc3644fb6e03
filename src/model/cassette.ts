import * as z from "zod/mini";
import type { Json } from "./values.ts";
import { isRecord } from "./values.ts";

/**
 * What a cassette says: a model's answers and failures in order. One declaration for whoever reads a cassette and for
 * whoever writes one; how its text becomes a value is the reader's business.
 */

/** A cassette is no longer than this. */
export const cassetteBytesMax = 64 * 1024 * 1024;

const count = z.int().check(z.nonnegative());
/** A timer takes no more. */
const pauseMs = z.int().check(z.nonnegative(), z.maximum(2 ** 31 - 1));
const mapping = z.custom<{ [key: string]: Json }>((value) => isRecord(value), {
  error: "must be a mapping",
});

/** Why a model stops; the words of `model.answered`. */
export const stopReasons = ["stop", "tool-calls", "length", "content-filter", "error", "other"] as const;

/** Why a model fails; the words of `model.failed`, but for `interrupted`: that is no answer of a model. */
export const failureReasons = [
  "http",
  "network",
  "auth",
  "quota",
  "rate_limit",
  "context_overflow",
  "content_filter",
  "malformed",
  "timeout",
  "cassette_exhausted",
] as const;

const callArguments = {
  /** Arguments; absent means none. */
  args: z.optional(mapping),
  /** Arguments as text, where they are no mapping or their text must stay as it is. Instead of `args`. */
  argsText: z.optional(z.string()),
};

/** One tool call of a recorded answer. */
const CassetteCall = z.strictObject({ tool: z.string().check(z.minLength(1)), ...callArguments });

/** One part of an answer: a text, a reasoning, or a call. */
const CassettePart = z.strictObject({
  text: z.optional(z.string()),
  reasoning: z.optional(z.string()),
  /** The provider's opaque proof of a reasoning. */
  signature: z.optional(z.string()),
  /** The tool's name as the model wrote it, which may be none at all. */
  tool: z.optional(z.string()),
  ...callArguments,
  /** JSON text of what the provider added to the part and wants back unchanged. */
  providerMetadataText: z.optional(
    z.string().check(z.refine((text) => isJsonText(text), { error: "must be JSON text" })),
  ),
});
/** One part of an answer: a text, a reasoning, or a call. */
export type CassettePart = z.infer<typeof CassettePart>;

/** Tokens of a call. */
const CassetteUsage = z.strictObject({
  input: z.optional(count),
  output: z.optional(count),
  cachedInput: z.optional(count),
  reasoning: z.optional(count),
  /** True where these numbers are a lower bound. */
  lowerBound: z.optional(z.boolean()),
});

/** One recorded answer. */
const AnswerTurn = z.strictObject({
  reasoning: z.optional(z.string()),
  text: z.optional(z.string()),
  calls: z.optional(z.array(CassetteCall)),
  /** Instead of those three, where they cannot say it: their order, their number, what a provider added to them. */
  parts: z.optional(z.array(CassettePart)),
  /** Absent where it is unknown. */
  usage: z.optional(CassetteUsage),
  /** Absent: `tool-calls` where there are any, else `stop`. */
  stopReason: z.optional(z.enum(stopReasons)),
  /** Pause before the first token. */
  firstTokenMs: z.optional(pauseMs),
  /** Pause for each streamed word. */
  perTokenMs: z.optional(pauseMs),
});
/** One recorded answer. */
export type AnswerTurn = z.infer<typeof AnswerTurn>;

/** One failure as people write it: what it means is found out as for a provider's. */
const ErrorTurn = z.strictObject({
  error: z.strictObject({
    /** HTTP status; absent where no answer came at all. */
    status: z.optional(z.int().check(z.minimum(400), z.maximum(599))),
    message: z.string(),
    retryAfterMs: z.optional(count),
  }),
});
type ErrorTurn = z.infer<typeof ErrorTurn>;

/** What had come of an answer before it failed: a text or a reasoning. */
const CassettePiece = z.strictObject({ text: z.optional(z.string()), reasoning: z.optional(z.string()) });

/** One failure that says what it means, and is told as it stands. */
const ToldErrorTurn = z.strictObject({
  error: z.strictObject({
    reason: z.enum(failureReasons),
    /** True where the same call may be made again. */
    retryable: z.boolean(),
    /** True where an answer had begun, also where nothing of it shows. */
    began: z.optional(z.boolean()),
    /** What had come of it. */
    parts: z.optional(z.array(CassettePiece)),
    /** Tokens of the call, where they were told all the same. */
    usage: z.optional(CassetteUsage),
    /** HTTP status, where there was one. */
    status: z.optional(z.int().check(z.minimum(100), z.maximum(599))),
    /** The whole of it, for people. */
    message: z.string(),
    retryAfterMs: z.optional(z.number().check(z.nonnegative())),
  }),
});
/** One failure that says what it means, and is told as it stands. */
export type ToldErrorTurn = z.infer<typeof ToldErrorTurn>;

/** The file as a whole; each turn is looked at by itself. */
export const CassetteFile = z.strictObject({ cassette: z.literal(1), turns: z.array(z.unknown()) });

/** One call of the model: what it answers, or how it fails. */
export type CassetteTurn = AnswerTurn | ErrorTurn | ToldErrorTurn;

/** A model's answers and errors in order. */
export interface Cassette {
  readonly turns: readonly CassetteTurn[];
}

/** The schema that a turn must fit: a failure's where it names an error. */
export function schemaOfTurn(turn: unknown): z.ZodMiniType<CassetteTurn> {
  if (!isRecord(turn) || !("error" in turn)) return AnswerTurn;
  const { error } = turn;
  const tells =
    isRecord(error) && ["reason", "retryable", "began", "parts", "usage"].some((name) => name in error);
  return tells ? ToldErrorTurn : ErrorTurn;
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

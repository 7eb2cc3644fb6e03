import * as z from "zod/mini";
import type { Json } from "./values.ts";

/**
 * What a cassette says: a model's answers and failures in order. One declaration for whoever reads a cassette and for
 * whoever writes one; how its text becomes a value is the reader's business.
 */

/** A cassette is no longer than this. */
export const cassetteBytesMax = 64 * 1024 * 1024;
/** How deep a cassette may be nested, arguments included. */
export const cassetteDepthMax = 256;

const count = z.int().check(z.nonnegative());
/** A timer takes no more. */
const pauseMs = z.int().check(z.nonnegative(), z.maximum(2 ** 31 - 1));
const mapping = z.custom<{ [key: string]: Json }>((value) => isMapping(value), {
  error: "must be a mapping",
});

/** One tool call of a recorded answer. */
const CassetteCall = z.strictObject({
  tool: z.string().check(z.minLength(1)),
  /** Arguments; absent means none. */
  args: z.optional(mapping),
  /** Arguments as text, where they are no mapping or their text must stay as it is. Instead of `args`. */
  argsText: z.optional(z.string()),
});

/** One recorded answer. */
const AnswerTurn = z.strictObject({
  reasoning: z.optional(z.string()),
  text: z.optional(z.string()),
  calls: z.optional(z.array(CassetteCall)),
  /** Absent where it is unknown. */
  usage: z.optional(
    z.strictObject({
      input: z.optional(count),
      output: z.optional(count),
      cachedInput: z.optional(count),
      reasoning: z.optional(count),
    }),
  ),
  /** Pause before the first token. */
  firstTokenMs: z.optional(pauseMs),
  /** Pause for each streamed word. */
  perTokenMs: z.optional(pauseMs),
});
type AnswerTurn = z.infer<typeof AnswerTurn>;

/** One recorded failure. */
const ErrorTurn = z.strictObject({
  error: z.strictObject({
    /** HTTP status; absent where no answer came at all. */
    status: z.optional(z.int().check(z.minimum(400), z.maximum(599))),
    message: z.string(),
    retryAfterMs: z.optional(count),
  }),
});
type ErrorTurn = z.infer<typeof ErrorTurn>;

/** The file as a whole; each turn is looked at by itself. */
export const CassetteFile = z.strictObject({ cassette: z.literal(1), turns: z.array(z.unknown()) });

/** One call of the model: what it answers, or how it fails. */
export type CassetteTurn = AnswerTurn | ErrorTurn;

/** A model's answers and errors in order. */
export interface Cassette {
  readonly turns: readonly CassetteTurn[];
}

/** The schema that a turn must fit: a failure's where it names an error. */
export function schemaOfTurn(turn: unknown): z.ZodMiniType<CassetteTurn> {
  return isMapping(turn) && "error" in turn ? ErrorTurn : AnswerTurn;
}

/** What is wrong at one place of a turn. */
export interface TurnFault {
  /** Where, from the turn on. */
  readonly path: readonly PropertyKey[];
  readonly text: string;
}

/** What of a turn contradicts itself, though each member by itself is as its schema wants it. */
export function contradictionsOf(turn: unknown): TurnFault[] {
  const calls = isMapping(turn) && Array.isArray(turn["calls"]) ? turn["calls"] : [];
  return calls.flatMap((call, position) =>
    isMapping(call) && "args" in call && "argsText" in call
      ? [{ path: ["calls", position], text: "has both args and argsText" }]
      : [],
  );
}

function isMapping(value: unknown): value is { [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

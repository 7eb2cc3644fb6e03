import * as z from "zod/mini";

/** Small shapes that facts share. Points in time are wall-clock milliseconds since 1970, as in a line's `at`. */

/** A whole number from 0 on, as large as JSON numbers are exact: a position, an amount, a point in time. */
export const Count = z.custom<number>((value) => Number.isSafeInteger(value) && (value as number) >= 0);

/** A length of time in milliseconds, measured monotonic; may have a fraction. */
export const Duration = z.number().check(z.nonnegative());

/** The first 128 bits of the SHA-256 that seals a line: 32 lower-case hex digits. */
export const Sum = z.string().check(z.regex(/^[0-9a-f]{32}$/));

/** Anything JSON can say. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
/** Accepts any JSON value that is present. */
export const Json: z.ZodMiniType<Json> = z.custom<Json>((value) => value !== undefined);

/** True for what JSON calls an object: neither a list nor null. */
export function isRecord(value: unknown): value is { [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Names a payload kept beside the log. */
export const BlobRef = z.object({
  /** SHA-256 of the payload's bytes: 64 lower-case hex digits. */
  sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  /** How many bytes the payload has. */
  bytes: Count,
});
export type BlobRef = z.infer<typeof BlobRef>;

/** Tokens of one or more model calls. A member that is absent was not reported. */
export const Usage = z.object({
  /** Tokens sent, cached ones included. */
  input: z.optional(Count),
  /** Tokens answered, reasoning included. */
  output: z.optional(Count),
  /** Of `input`, read from the provider's cache. */
  cachedInput: z.optional(Count),
  /** Of `output`, spent on reasoning. */
  reasoning: z.optional(Count),
  /** True where some call's usage is unknown, so that the numbers are a lower bound. */
  lowerBound: z.optional(z.boolean()),
});
export type Usage = z.infer<typeof Usage>;

/** Every ending of an operation. */
export const Outcome = z.enum(["ok", "error", "denied", "canceled", "not_executed"]);
export type Outcome = z.infer<typeof Outcome>;

/** What a tool may do to the world, which decides what recovery does. */
export const EffectClass = z.enum(["pure", "checked", "supervised", "keyed", "opaque"]);
export type EffectClass = z.infer<typeof EffectClass>;

/** Adds what a further call used; where its input or output is unknown, the sum becomes a lower bound. */
export function addUsage(total: Usage, call: Usage | undefined): Usage {
  if (call === undefined) return { ...total, lowerBound: true };
  const sum: Usage = { ...total };
  for (const key of ["input", "output", "cachedInput", "reasoning"] as const) {
    if (call[key] !== undefined) sum[key] = (total[key] ?? 0) + call[key];
  }
  if (call.lowerBound || call.input === undefined || call.output === undefined) sum.lowerBound = true;
  return sum;
}

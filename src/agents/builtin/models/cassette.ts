import { LineCounter, parseDocument } from "yaml";
import * as z from "zod/mini";
import { readDocument } from "../../../model/document.ts";
import type { Path, Problem } from "../../../model/problems.ts";
import { problemsOf, refusal } from "../../../model/problems.ts";
import type { Json } from "../../../model/values.ts";
import { isRecord } from "../../../model/values.ts";

/** Recorded answers of a model, in a file that people write too: YAML or JSON, read strictly. */

const count = z.int().check(z.nonnegative());
/** A timer takes no more. */
const pauseMs = z.int().check(z.nonnegative(), z.maximum(2 ** 31 - 1));
const mapping = z.custom<{ [key: string]: Json }>((value) => isRecord(value), {
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

const CassetteFile = z.strictObject({ cassette: z.literal(1), turns: z.array(z.unknown()) });

/** One call of the model: what it answers, or how it fails. */
export type CassetteTurn = AnswerTurn | ErrorTurn;

/** A model's answers and errors in order. */
export interface Cassette {
  readonly turns: readonly CassetteTurn[];
}

/**
 * Reads a cassette. Throws `usage` that lists everything that is wrong with it at once, each with its place; what it
 * does not know it refuses, for a misspelt field would silently change what a run does.
 */
export function parseCassette(bytes: Uint8Array, name: string): Cassette {
  const what = `The cassette ${name}`;
  const inexact = "cannot be kept exactly; give the arguments as argsText";
  const document = readDocument(bytes, { yaml: { parseDocument, LineCounter }, what, inexact });
  const { value } = document;
  const problems: Problem[] = [...document.problems];
  if (!isRecord(value)) throw refusal(what, ["it is not a mapping with the fields cassette and turns"]);
  const file = CassetteFile.safeParse(value);
  if (!file.success) problems.push(...problemsOf(file.error.issues, value));
  const turns: CassetteTurn[] = [];
  const listed = Array.isArray(value["turns"]) ? value["turns"] : [];
  listed.forEach((turn, index) => {
    const isError = isRecord(turn) && "error" in turn;
    const result = (isError ? ErrorTurn : AnswerTurn).safeParse(turn);
    if (result.success) turns.push(result.data);
    else {
      const besides = (path: Path) =>
        isError && path.length === 0 ? "cannot stand beside error" : undefined;
      problems.push(...problemsOf(result.error.issues, turn, { prefix: ["turns", index], besides }));
    }
  });
  problems.push(...doubleArguments(listed));
  if (problems.length > 0) throw document.refusal(problems);
  return { turns };
}

function doubleArguments(turns: readonly unknown[]): Problem[] {
  return turns.flatMap((turn, index) => {
    const calls = isRecord(turn) && Array.isArray(turn["calls"]) ? turn["calls"] : [];
    return calls.flatMap((call, position) =>
      isRecord(call) && "args" in call && "argsText" in call
        ? [{ path: ["turns", index, "calls", position], text: "has both args and argsText" }]
        : [],
    );
  });
}

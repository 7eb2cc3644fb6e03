import { utf8Text } from "../host/index.ts";
import type { CassettePart, CassetteTurn } from "../model/cassette.ts";
import { cassetteBytesMax, failureReasons } from "../model/cassette.ts";
import { turnOfAnswer, wordsOf } from "../model/cassette-turn.ts";
import { HoldfastError } from "../model/errors.ts";
import type { Fact, Message, ModelAnswered, ModelFailed, OperationAsked, Part } from "../model/facts.ts";
import type { RecordedCall } from "../model/recording.ts";
import type { BlobRef, Json } from "../model/values.ts";
import type { Blobs } from "../store/index.ts";

/** The calls that a log holds, as the turns of a cassette: each text whole again, wherever the log keeps it. */

/** How turns are made of what the log holds. */
export interface TurnOptions {
  readonly texts: PayloadTexts;
  /** Whether a replay shall take the time that the model took. */
  readonly timings: boolean;
}

/** The turn of one call. Rejects `log_damaged` where a payload is missing, `usage` where no cassette can hold it. */
export async function turnOfCall(call: RecordedCall, options: TurnOptions): Promise<CassetteTurn> {
  const parts = await partsOfAnswer(call.facts as readonly Fact[], options.texts);
  if ("failed" in call) return turnOfFailure(call.failed, parts);
  const { answered } = call;
  const { usage, stopReason } = answered;
  return turnOfAnswer({ parts, usage, stopReason, ...(options.timings && pausesOf(answered, parts)) });
}

/** How many calls of an answer have a mask where the model wrote a secret. */
export function redactedCallsOf(call: RecordedCall): number {
  return (call.facts as readonly Fact[]).filter((fact) => fact.kind === "op.asked" && fact.redacted === true)
    .length;
}

/** A reason that this version does not know fails as any refusal does; whether it is repeated is said beside it. */
function turnOfFailure(failed: ModelFailed, came: readonly CassettePart[]): CassetteTurn {
  const { status, message, retryAfterMs, retryable, began, usage } = failed;
  const parts = came.map(({ text, reasoning }) => (reasoning === undefined ? { text } : { reasoning }));
  const reason = failureReasons.find((one) => one === failed.reason) ?? "http";
  return {
    error: {
      reason,
      ...(status !== undefined && { status }),
      message,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      retryable,
      ...(parts.length > 0 ? { parts } : began && { began }),
      ...(usage !== undefined && { usage }),
    },
  };
}

/** The pause before the first word, and the rest of the time in equal pauses after each. */
function pausesOf(
  { firstTokenMs, durationMs }: ModelAnswered,
  parts: readonly CassettePart[],
): { firstTokenMs?: number; perTokenMs?: number } {
  const words = parts.reduce((sum, { text, reasoning }) => sum + wordsOf(text ?? reasoning ?? "").length, 0);
  const first = Math.round(firstTokenMs ?? durationMs);
  const perTokenMs = words === 0 ? 0 : Math.round(Math.max(0, durationMs - first) / words);
  return { ...(first > 0 && { firstTokenMs: first }), ...(perTokenMs > 0 && { perTokenMs }) };
}

async function partsOfAnswer(facts: readonly Fact[], texts: PayloadTexts): Promise<CassettePart[]> {
  const message = facts.find((fact): fact is Message => fact.kind === "message");
  if (message === undefined) return await partsOfSummary(facts, texts);
  const asked = new Map(
    facts
      .filter((fact): fact is OperationAsked => fact.kind === "op.asked")
      .map((fact) => [fact.operation, fact]),
  );
  const parts: CassettePart[] = [];
  for (const part of message.parts) {
    const made = await plainPart(part, asked, texts);
    if (made !== undefined) parts.push(made);
  }
  return parts;
}

/** An answer that is no message of the conversation: the summary of a part of it. */
async function partsOfSummary(facts: readonly Fact[], texts: PayloadTexts): Promise<CassettePart[]> {
  for (const fact of facts) {
    if (fact.kind === "compacted") return [{ text: await texts.of(fact.summary, fact.summaryBlob) }];
  }
  return [];
}

async function plainPart(
  part: Part,
  asked: ReadonlyMap<string, OperationAsked>,
  texts: PayloadTexts,
): Promise<CassettePart | undefined> {
  switch (part.type) {
    case "text":
      return { text: await texts.whole(part), ...(await metadataOf(part, texts)) };
    case "reasoning": {
      const { signature } = part;
      const reasoning = await texts.whole(part);
      return {
        reasoning,
        ...(signature !== undefined && { signature }),
        ...(await metadataOf(part, texts)),
      };
    }
    case "tool_call": {
      const argsText = await argsTextOf(part, asked.get(part.operation), texts);
      return { tool: part.tool, argsText, ...(await metadataOf(part, texts)) };
    }
    default:
      // No model answers with anything else.
      return undefined;
  }
}

async function metadataOf(
  part: { providerMetadata?: Json | undefined; providerMetadataBlob?: BlobRef | undefined },
  texts: PayloadTexts,
): Promise<{ providerMetadataText?: string }> {
  const { providerMetadata: value, providerMetadataBlob: blob } = part;
  if (blob !== undefined) return { providerMetadataText: await texts.of(undefined, blob) };
  return value === undefined ? {} : { providerMetadataText: JSON.stringify(value) };
}

/** The arguments as the model wrote them; what is shown of them is a text itself where they are no object. */
async function argsTextOf(
  part: Extract<Part, { type: "tool_call" }>,
  asked: OperationAsked | undefined,
  texts: PayloadTexts,
): Promise<string> {
  const { rawArgs, rawArgsBlob } = asked ?? {};
  if (rawArgs !== undefined || rawArgsBlob !== undefined) return await texts.of(rawArgs, rawArgsBlob);
  const { args = {}, argsBlob } = part;
  const text = argsBlob === undefined ? JSON.stringify(args) : await texts.of(undefined, argsBlob);
  return text.startsWith('"') ? (JSON.parse(text) as string) : text;
}

/** Texts of one session, from its lines or from beside the log; no more of them than a cassette may hold. */
export class PayloadTexts {
  readonly #blobs: Pick<Blobs, "get">;
  #bytes = 0;

  constructor(blobs: Pick<Blobs, "get">) {
    this.#blobs = blobs;
  }

  /** A text that stands in the line or in a blob. */
  async of(text: string | undefined, blob: BlobRef | undefined): Promise<string> {
    return blob === undefined ? (text ?? "") : utf8Text(await this.#load(blob));
  }

  /** The same, as it came where it was not well-formed. */
  async whole(part: {
    text?: string | undefined;
    blob?: BlobRef | undefined;
    original?: BlobRef | undefined;
  }): Promise<string> {
    if (part.original === undefined) return await this.of(part.text, part.blob);
    return Buffer.from(await this.#load(part.original)).toString("utf16le");
  }

  async #load(blob: BlobRef): Promise<Uint8Array> {
    this.#bytes += blob.bytes;
    // Two bytes a unit where a text was not well-formed.
    if (this.#bytes > 2 * cassetteBytesMax) throw tooLong(this.#bytes);
    return await this.#blobs.get(blob);
  }
}

/** The typed error for a recording that no version would read. */
export function tooLong(bytes: number): HoldfastError {
  return new HoldfastError(
    "usage",
    `the session's answers take ${bytes} bytes or more; a cassette may have ${cassetteBytesMax}`,
  );
}

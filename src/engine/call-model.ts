import { utf8Bytes, utf8Text } from "../host/index.ts";
import type { AnswerPart, ModelCall, ModelEvent, ModelFailure } from "../model/agent.ts";
import type { Fact, Message, ModelRequested, OperationAsked, Part, RunEnded } from "../model/facts.ts";
import { systemKey } from "../model/fold.ts";
import { blobsOfPrompt, projectPrompt } from "../model/projection.ts";
import type { RunState, Step } from "../model/run.ts";
import type { BlobRef, Json } from "../model/values.ts";
import { addUsage } from "../model/values.ts";
import { PayloadWriter } from "./payloads.ts";
import { systemText } from "./system-text.ts";
import type { Crew } from "./worker.ts";

/** One model call: requested, durable → the model answers → answered or failed, durable. */

type CallStep = Extract<Step, { do: "call" }>;

const backoffBaseMs = 500;
const backoffMaxMs = 30_000;

/** Makes one call and records what came of it. `elapsedMs`: the attempt's length so far, for an answer that ends the run. */
export async function callModel(
  crew: Crew,
  run: RunState,
  step: CallStep,
  elapsedMs: () => number,
): Promise<void> {
  const { worker, agent } = crew;
  const { clock } = worker.context.host;
  if (step.failed > 0) await clock.sleep(backoffMs(crew, step));
  const { call, requested, changed } = await prepareCall(crew, run, step);
  await worker.commit([...changed, requested]);
  const startedMs = clock.monotonicMs();
  let firstTokenMs: number | undefined;
  let last: ModelEvent | undefined;
  for await (const event of agent.model.call(call, new AbortController().signal)) {
    last = event;
    if (event.type !== "delta") continue;
    firstTokenMs ??= clock.monotonicMs() - startedMs;
    const type = event.part === "text" ? "live.text" : "live.reasoning";
    worker.observer.live({ type, run: run.run, text: event.text });
  }
  const durationMs = round(clock.monotonicMs() - startedMs);
  if (last?.type === "answered") {
    await recordAnswer(crew, run, { step, answer: last, firstTokenMs, durationMs, elapsedMs });
    return;
  }
  const failure: ModelFailure =
    last?.type === "failed"
      ? last.failure
      : { reason: "malformed", message: "the answer ended without an end", retryable: true };
  const began = firstTokenMs !== undefined;
  await worker.commit([
    { kind: "model.failed", run: run.run, turn: step.turn, ...failure, began, durationMs },
  ]);
}

/** Exponential with full jitter; never shorter than what the provider asked for. */
function backoffMs(crew: Crew, step: CallStep): number {
  const [random = 0] = crew.worker.context.host.ids.random(1);
  const ceiling = Math.min(backoffMaxMs, backoffBaseMs * 2 ** (step.failed - 1));
  return step.retryAfterMs ?? Math.round(ceiling * (0.5 + random / 512));
}

async function prepareCall(
  crew: Crew,
  run: RunState,
  step: CallStep,
): Promise<{ call: ModelCall; requested: ModelRequested; changed: Fact[] }> {
  const { worker, agent } = crew;
  const { state, held } = worker;
  const text = systemText(state, agent);
  const system = await held.blobs.put(utf8Bytes(text));
  const tools = agent.tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  const schemas: Record<string, BlobRef> = {};
  for (const tool of tools) schemas[tool.name] = await held.blobs.put(utf8Bytes(JSON.stringify(tool)));
  const hashes = Object.fromEntries(Object.entries(schemas).map(([name, blob]) => [name, blob.sha256]));
  const isCassette = agent.model.provider === "cassette";
  const index = isCassette ? { cassetteIndex: state.cassetteIndex } : {};
  const { provider, name: model } = agent.model;
  const requested: ModelRequested = {
    kind: "model.requested",
    run: run.run,
    turn: step.turn,
    role: "execution",
    provider,
    model,
    ...index,
    system,
    tools: hashes,
  };
  const changed: Fact[] =
    systemKey(requested) === state.system
      ? []
      : [{ kind: "system.changed", run: run.run, system, tools: schemas }];
  const messages = projectPrompt(state, await loadPayloads(crew));
  return { call: { system: text, tools, messages, ...index }, requested, changed };
}

async function loadPayloads(
  crew: Crew,
): Promise<{ text(ref: BlobRef): string; base64(ref: BlobRef): string }> {
  const { state, held } = crew.worker;
  const loaded = new Map<string, Uint8Array>();
  for (const reference of blobsOfPrompt(state)) {
    if (!loaded.has(reference.sha256)) loaded.set(reference.sha256, await held.blobs.get(reference));
  }
  const bytesOf = (reference: BlobRef) => loaded.get(reference.sha256) ?? new Uint8Array();
  return {
    text: (reference) => utf8Text(bytesOf(reference)),
    base64: (reference) => Buffer.from(bytesOf(reference)).toString("base64"),
  };
}

async function recordAnswer(
  crew: Crew,
  run: RunState,
  answered: {
    step: CallStep;
    answer: Extract<ModelEvent, { type: "answered" }>;
    firstTokenMs: number | undefined;
    durationMs: number;
    elapsedMs: () => number;
  },
): Promise<void> {
  const { worker } = crew;
  const { step, answer, firstTokenMs, durationMs, elapsedMs } = answered;
  const writer = new PayloadWriter(worker.held.blobs);
  const parts: Part[] = [];
  const asked: OperationAsked[] = [];
  for (const part of answer.parts) {
    const stored = await storePart(crew, writer, part, { run: run.run, turn: step.turn });
    parts.push(stored.part);
    if (stored.asked !== undefined) asked.push(stored.asked);
  }
  const turn = { run: run.run, turn: step.turn };
  const message: Message = { kind: "message", id: worker.id("msg"), role: "assistant", parts, ...turn };
  const facts: Fact[] = [
    message,
    {
      kind: "model.answered",
      ...turn,
      ...(firstTokenMs !== undefined && { firstTokenMs: round(firstTokenMs) }),
      durationMs,
      ...(answer.usage !== undefined && { usage: answer.usage }),
      stopReason: answer.stopReason,
      ...(answer.responseId !== undefined && { responseId: answer.responseId }),
    },
    ...asked,
  ];
  if (asked.length === 0) facts.push(finalEnding(run, { answer, parts, elapsedMs: elapsedMs() }));
  await worker.commit(facts);
}

/** An answer without calls is the last one: it and the run's end are one line. */
function finalEnding(
  run: RunState,
  last: { answer: Extract<ModelEvent, { type: "answered" }>; parts: readonly Part[]; elapsedMs: number },
): RunEnded {
  const { answer, parts, elapsedMs } = last;
  const text = parts.map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
  const filtered = answer.stopReason === "content-filter";
  const cut = answer.stopReason === "length";
  return {
    kind: "run.ended",
    run: run.run,
    status: filtered || cut ? "failed" : "completed",
    ...(filtered && { reason: "content_filter" }),
    ...(cut && { reason: "answer_cut" }),
    text,
    usage: addUsage(run.usage, answer.usage),
    turns: run.turns + 1,
    elapsedMs,
  };
}

async function storePart(
  crew: Crew,
  writer: PayloadWriter,
  part: AnswerPart,
  turn: { run: string; turn: number },
): Promise<{ part: Part; asked?: OperationAsked }> {
  const { agent } = crew;
  const metadata = await storeMetadata(writer, part.providerMetadata);
  if (part.type === "text") {
    return { part: { type: "text", ...(await writer.text(agent.redact(part.text))), ...metadata } };
  }
  if (part.type === "reasoning") {
    const { original: _, ...text } = await writer.text(agent.redact(part.text));
    // A proof too long for the line stands in the metadata's blob.
    const fits = part.signature !== undefined && metadata.providerMetadataBlob === undefined;
    return { part: { type: "reasoning", ...text, ...(fits && { signature: part.signature }), ...metadata } };
  }
  return await storeCall(crew, writer, part, turn);
}

async function storeCall(
  crew: Crew,
  writer: PayloadWriter,
  part: Extract<AnswerPart, { type: "call" }>,
  turn: { run: string; turn: number },
): Promise<{ part: Part; asked: OperationAsked }> {
  const { worker, agent } = crew;
  const operation = worker.id("op");
  const tool = agent.tools.find((one) => one.name === part.tool);
  const redactedText = agent.redact(part.argsText);
  const redacted = redactedText !== part.argsText;
  if (redacted) worker.exactArgs.set(operation, part.argsText);
  const args = parseArgs(redactedText);
  const stored = await writer.json(args ?? {});
  const isExact = args !== undefined && JSON.stringify(args) === redactedText;
  const raw = isExact || redactedText === "" ? {} : await writer.text(redactedText);
  const metadata = await storeMetadata(writer, part.providerMetadata);
  return {
    part: {
      type: "tool_call",
      operation,
      tool: part.tool,
      ...(stored.blob === undefined ? { args: stored.value } : { argsBlob: stored.blob }),
      ...metadata,
    },
    asked: {
      kind: "op.asked",
      operation,
      ...turn,
      tool: part.tool,
      effect: tool?.effect ?? "opaque",
      call: part.call,
      ...(raw.text !== undefined && { rawArgs: raw.text }),
      ...(raw.blob !== undefined && { rawArgsBlob: raw.blob }),
      ...(redacted && { redacted }),
    },
  };
}

async function storeMetadata(
  writer: PayloadWriter,
  metadata: Json | undefined,
): Promise<{ providerMetadata?: Json; providerMetadataBlob?: BlobRef }> {
  if (metadata === undefined) return {};
  const { value, blob } = await writer.json(metadata);
  return blob === undefined ? { providerMetadata: value ?? null } : { providerMetadataBlob: blob };
}

/** The arguments as an object, or undefined where the text is none; an empty text means no arguments. */
function parseArgs(text: string): Json | undefined {
  if (text.trim() === "") return {};
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

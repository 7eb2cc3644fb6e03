import type { AnswerPart, ModelEvent } from "../model/agent.ts";
import type { AgentDefinition, Fact, Message, OperationAsked, Part, RunEnded } from "../model/facts.ts";
import { faultOfOutput } from "../model/output-contract.ts";
import type { RunState } from "../model/run.ts";
import type { BlobRef, Json } from "../model/values.ts";
import { addUsage } from "../model/values.ts";
import { lineBytesMax } from "../store/index.ts";
import { readArguments } from "./call-arguments.ts";
import type { PayloadWriter } from "./payloads.ts";
import { headOfText } from "./payloads.ts";
import type { Crew } from "./worker.ts";

/** A whole answer becomes one line: its message, what it cost, its calls; and the run's end, where it has none. */

type Answered = Extract<ModelEvent, { type: "answered" }>;
type Call = Extract<AnswerPart, { type: "call" }>;
type Output = AgentDefinition["spec"]["output"];

/** What the engine saw of the answer. */
export interface Observed {
  readonly answer: Answered;
  readonly turn: number;
  /** Absent where nothing was streamed. */
  readonly firstTokenMs: number | undefined;
  readonly durationMs: number;
  /** Length of the attempt so far. */
  readonly elapsedMs: number;
}

/** Calls that one answer may have. */
const callsMax = 1000;
const callBytes = 640;
const partBytes = 320;
/** Longest name of a tool and id of a call that is kept; no provider takes a longer one back. */
const nameLengthMax = 128;

/** The facts of an answer; or why it cannot be kept, as words for people. */
export async function factsOfAnswer(
  crew: Crew,
  run: RunState,
  observed: Observed,
): Promise<readonly Fact[] | string> {
  const { worker } = crew;
  const { answer, firstTokenMs, durationMs } = observed;
  const calls = answer.parts.filter((part) => part.type === "call").length;
  if (calls > callsMax) return `the answer has ${calls} calls; one answer may have ${callsMax}`;
  const turn = { run: run.run, turn: observed.turn };
  const { parts, asked } = await storeParts(crew, answer.parts, turn);
  const message: Message = { kind: "message", id: worker.id("msg"), role: "assistant", parts, ...turn };
  const facts: Fact[] = [
    message,
    {
      kind: "model.answered",
      ...turn,
      ...(firstTokenMs !== undefined && { firstTokenMs }),
      durationMs,
      ...(answer.usage !== undefined && { usage: answer.usage }),
      stopReason: answer.stopReason,
      ...(answer.responseId !== undefined && { responseId: shortened(answer.responseId) }),
    },
    ...asked,
  ];
  if (asked.length === 0) facts.push(await endOfRun(crew, run, observed));
  const bytes = Buffer.byteLength(JSON.stringify(facts));
  const room = lineBytesMax - 16 * 1024;
  return bytes <= room ? facts : `the answer takes ${bytes} bytes beside its payloads; a line has ${room}`;
}

/** An answer without calls is the last one: it and the run's end are one line. */
async function endOfRun(crew: Crew, run: RunState, { answer, elapsedMs }: Observed): Promise<RunEnded> {
  const texts = answer.parts.map((part) => (part.type === "text" ? part.text : ""));
  const text = crew.agent.redact(texts.join(""));
  const cut = faultOfStop(answer.stopReason);
  const { output } = crew.worker.state.created.definition.spec;
  const message = cut === undefined ? await faultOfFinal(output, text) : undefined;
  const reason = message === undefined ? cut : "output_invalid";
  return {
    kind: "run.ended",
    run: run.run,
    status: reason === undefined ? "completed" : "failed",
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message: headOfText(message) }),
    text: headOfText(text),
    usage: addUsage(run.usage, answer.usage),
    turns: run.turns + 1,
    elapsedMs,
  };
}

async function faultOfFinal(output: Output, text: string): Promise<string | undefined> {
  const schemas =
    output.schema === undefined ? undefined : (await import("./json-schema.ts")).openSchemaChecker();
  return faultOfOutput(output, text, schemas);
}

/** An answer that the provider cut, filtered or broke off is not the answer to the task. */
function faultOfStop(stopReason: string): string | undefined {
  switch (stopReason) {
    case "content-filter":
      return "content_filter";
    case "length":
      return "answer_cut";
    case "error":
      return "answer_broken";
    default:
      return undefined;
  }
}

async function storeParts(
  crew: Crew,
  answered: readonly AnswerPart[],
  turn: { run: string; turn: number },
): Promise<{ parts: Part[]; asked: OperationAsked[] }> {
  const membersBytes = answered.reduce((sum, part) => sum + bytesOfMembers(part), 0);
  const writer = crew.worker.payloads(membersBytes);
  const parts: Part[] = [];
  const asked: OperationAsked[] = [];
  for (const part of answered) {
    if (part.type === "call") {
      const stored = await storeCall(crew, writer, part, turn);
      parts.push(stored.part);
      asked.push(stored.asked);
    } else parts.push(await storeProse(crew, writer, part));
  }
  return { parts, asked };
}

/** What a part takes in the line with all its payloads in blobs. */
function bytesOfMembers(part: AnswerPart): number {
  switch (part.type) {
    case "text":
      return partBytes;
    case "reasoning":
      return partBytes + Buffer.byteLength(part.signature ?? "");
    case "call":
      return (
        callBytes + 2 * Buffer.byteLength(shortened(part.tool)) + Buffer.byteLength(shortened(part.call))
      );
  }
}

async function storeProse(
  crew: Crew,
  writer: PayloadWriter,
  part: Exclude<AnswerPart, { type: "call" }>,
): Promise<Part> {
  const text = await writer.text(crew.agent.redact(part.text));
  const metadata = await storeMetadata(writer, part.providerMetadata);
  if (part.type === "text") return { type: "text", ...text, ...metadata };
  // A proof too long for the line stands in the metadata's blob.
  const fits = part.signature !== undefined && metadata.providerMetadataBlob === undefined;
  return { type: "reasoning", ...text, ...(fits && { signature: part.signature }), ...metadata };
}

async function storeCall(
  crew: Crew,
  writer: PayloadWriter,
  call: Call,
  turn: { run: string; turn: number },
): Promise<{ part: Part; asked: OperationAsked }> {
  const { worker, agent } = crew;
  const operation = worker.id("op");
  const name = shortened(agent.redact(call.tool));
  const { shown, raw, redacted } = readArguments(call.argsText, (text) => agent.redact(text));
  if (redacted) worker.exactArgs.set(operation, call.argsText);
  const args = await writer.json(shown);
  const rawArgs = raw === undefined ? {} : await writer.text(raw);
  const metadata = await storeMetadata(writer, call.providerMetadata);
  return {
    part: {
      type: "tool_call",
      operation,
      tool: name,
      ...(args.blob === undefined ? { args: args.value } : { argsBlob: args.blob }),
      ...metadata,
    },
    asked: {
      kind: "op.asked",
      operation,
      ...turn,
      tool: name,
      effect: agent.tools.find((tool) => tool.name === call.tool)?.effect ?? "opaque",
      call: shortened(call.call),
      ...(rawArgs.text !== undefined && { rawArgs: rawArgs.text }),
      ...(rawArgs.blob !== undefined && { rawArgsBlob: rawArgs.blob }),
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

function shortened(name: string): string {
  return name.slice(0, nameLengthMax).toWellFormed();
}

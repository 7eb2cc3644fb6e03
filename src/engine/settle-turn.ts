import type { Part } from "../model/facts.ts";
import type { OperationState, Result } from "../model/operation.ts";
import { cleanUp } from "./clean-up.ts";
import { recordedArguments } from "./operation-arguments.ts";
import { toolOf } from "./operation-facts.ts";
import type { PayloadWriter } from "./payloads.ts";
import { storedText } from "./read-payload.ts";
import type { Crew } from "./worker.ts";

type EndedOperation = Extract<OperationState, { result: Result }>;

const resultBytes = 256;
const settledBytes = 64;

/**
 * Puts the results of a turn into the conversation: the tool message and the settling are one line. What the operations
 * staged or spooled was the proof of their outcomes; now that these are durable it is removed, before the line that
 * says so, so that a death in between leaves nothing behind.
 */
export async function settleTurn(crew: Crew, operations: readonly OperationState[]): Promise<void> {
  const { worker } = crew;
  const [first] = operations;
  if (first === undefined) return;
  const { run, turn } = first;
  const ended = [...worker.state.operations.values()].filter(
    (operation): operation is EndedOperation =>
      operation.at === "known" && operation.run === run && operation.turn === turn,
  );
  for (const operation of ended) await cleanUpAfter(crew, operation);
  const membersBytes = operations.length * resultBytes + ended.length * settledBytes;
  const writer = worker.payloads(membersBytes);
  const parts: Part[] = [];
  for (const operation of operations) {
    if (operation.at === "known") parts.push(await resultPart(crew, writer, operation));
  }
  await worker.commit([
    { kind: "message", id: worker.id("msg"), role: "tool", parts, run, turn },
    ...ended.map(({ operation }) => ({ kind: "op.settled", operation }) as const),
  ]);
  for (const { origin } of ended) worker.exactArgs.delete(origin);
}

async function cleanUpAfter(crew: Crew, operation: EndedOperation): Promise<void> {
  const tool = toolOf(crew, operation);
  if (tool === undefined || tool.effect === "pure") return;
  const place = crew.worker.place(operation.run, operation.operation);
  const { evidence } = operation;
  await cleanUp(tool, place, { evidence, args: await recordedArguments(crew, operation) });
}

async function resultPart(crew: Crew, writer: PayloadWriter, operation: EndedOperation): Promise<Part> {
  const { origin, result } = operation;
  const { outcome, outputBlob, resolution } = result;
  const part = { type: "tool_result" as const, operation: origin, outcome };
  if (outputBlob !== undefined && resolution === undefined) return { ...part, outputBlob };
  const stored = { text: result.output, blob: outputBlob };
  const output = await storedText(crew.worker.held.blobs, stored);
  const { text, blob } = await writer.text(withResolution(result, output));
  return { ...part, ...(blob === undefined ? { output: text } : { outputBlob: blob }) };
}

/** A model must know that a person speaks, and of what. */
function withResolution({ outcome, resolution }: Result, output: string): string {
  if (resolution === undefined) return output;
  const what = outcome === "not_executed" ? "it did not happen" : "this is its result";
  return `[this call was interrupted; ${resolution.by} found out that ${what}]${output === "" ? "" : `\n${output}`}`;
}

import { utf8Text } from "../host/index.ts";
import type { OperationState } from "../model/operation.ts";
import type { BlobRef, Json } from "../model/values.ts";
import { storedText } from "./read-payload.ts";
import type { Crew, Worker } from "./worker.ts";

/** Where an operation's arguments are found again: in this process, in the provider's words, or as they are shown. */

/** Arguments to execute with, or why there are none. */
export type FoundArguments =
  | { readonly value: Json }
  | { readonly problem: string; readonly outcome: "error" | "not_executed" };

/** The exact arguments of an operation that has not started. */
export async function exactArguments(crew: Crew, operation: OperationState): Promise<FoundArguments> {
  const { worker } = crew;
  const exact = worker.exactArgs.get(operation.origin);
  if (exact === undefined && operation.redacted) {
    return { problem: `not executed: ${secretIsGone}`, outcome: "not_executed" };
  }
  const text = exact ?? (await rawArguments(crew, operation.origin));
  if (text === undefined) return { value: await shownArguments(crew.worker, operation.origin) };
  try {
    return { value: JSON.parse(text) as Json };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { problem: `the arguments are not valid JSON: ${error.message}`, outcome: "error" };
  }
}

/** What the model is told of a call whose arguments cannot be had any more. */
export const secretIsGone =
  "its arguments held a secret, which is not stored, so nothing can repeat it; call it again if it is still needed";

/** The arguments as far as they are on record: what was started with, else what is shown of the call. */
export async function recordedArguments(crew: Crew, operation: OperationState): Promise<Json> {
  if (operation.at === "asked") return await shownArguments(crew.worker, operation.origin);
  if (operation.argsBlob !== undefined) return await loadJson(crew.worker, operation.argsBlob);
  return operation.args ?? (await shownArguments(crew.worker, operation.origin));
}

/** The provider's own text of the arguments, where it is kept. */
async function rawArguments(crew: Crew, origin: string): Promise<string | undefined> {
  const raw = crew.worker.state.rawArgs.get(origin);
  return raw === undefined ? undefined : await storedText(crew.worker.held.blobs, raw);
}

/** The arguments as the conversation shows them: secrets masked. */
export async function shownArguments(worker: Worker, origin: string): Promise<Json> {
  for (const { message } of worker.state.messages.toReversed()) {
    for (const part of message.parts) {
      if (part.type !== "tool_call" || part.operation !== origin) continue;
      return part.argsBlob === undefined ? (part.args ?? {}) : await loadJson(worker, part.argsBlob);
    }
  }
  return {};
}

async function loadJson(worker: Worker, reference: BlobRef): Promise<Json> {
  return JSON.parse(utf8Text(await worker.held.blobs.get(reference))) as Json;
}

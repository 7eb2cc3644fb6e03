import type { PromptMessage, PromptPart } from "./agent.ts";
import type { Message, Part } from "./facts.ts";
import type { SessionState } from "./fold.ts";
import type { BlobRef, Json } from "./values.ts";

/**
 * The conversation as a model is sent it. Well-formed for every prefix of every log: each tool call is followed by its
 * result, call ids are unique, no text is empty, and a call without a result gets one that says so.
 */

/** Resolves payloads that stand beside the log; the caller has loaded them. */
export interface Payloads {
  text(reference: BlobRef): string;
  base64(reference: BlobRef): string;
}

/** The blobs that the projection will ask for. */
export function blobsOfPrompt(state: SessionState): BlobRef[] {
  const raw = [...state.rawArgs.values()].flatMap((text) => text.blob ?? []);
  return [...raw, ...state.messages.flatMap(({ message }) => message.parts.flatMap(blobsOfPart))];
}

function blobsOfPart(part: Part): BlobRef[] {
  const metadata = "providerMetadataBlob" in part ? part.providerMetadataBlob : undefined;
  return [...payloadOf(part), ...(metadata === undefined ? [] : [metadata])];
}

function payloadOf(part: Part): BlobRef[] {
  if (part.type === "tool_call") return part.argsBlob === undefined ? [] : [part.argsBlob];
  if (part.type === "tool_result") return part.outputBlob === undefined ? [] : [part.outputBlob];
  return part.blob === undefined ? [] : [part.blob];
}

/** What the model is sent for the visible messages. */
export function projectPrompt(state: SessionState, payloads: Payloads): PromptMessage[] {
  const prompt: PromptMessage[] = [];
  const callIds = uniqueCallIds(state);
  /** Calls that wait for their result, by operation. */
  let waiting = new Map<string, string>();
  /** Their results, in the order of the calls: some providers want that, and all want each. */
  const answerWaiting = (given: readonly Part[]) => {
    if (waiting.size === 0) return;
    const parts = [...waiting].map(([operation, tool]) => {
      const part = given.find((one) => one.type === "tool_result" && one.operation === operation);
      const call = { operation, tool, call: callIds.get(operation) ?? operation };
      return part?.type === "tool_result" ? givenResult(part, call, payloads) : missingResult(state, call);
    });
    prompt.push({ role: "tool", parts });
    waiting = new Map();
  };
  for (const { message } of state.messages) {
    if (message.interrupted === true) continue;
    if (message.role === "tool") {
      // A result whose call is not in view would be refused by every provider.
      answerWaiting(message.parts);
      continue;
    }
    answerWaiting([]);
    const parts = message.parts.flatMap((part) =>
      promptPart(part, { callIds, raw: state.rawArgs }, payloads),
    );
    // Somebody said something here, and providers want turns to alternate.
    if (parts.length === 0 && message.role === "user") parts.push({ type: "text", text: "(empty message)" });
    if (parts.length === 0) continue;
    prompt.push({ role: message.role, parts });
    waiting = callsOf(message);
  }
  answerWaiting([]);
  return prompt;
}

function callsOf(message: Message): Map<string, string> {
  const calls = message.parts.flatMap((part) => (part.type === "tool_call" ? [part] : []));
  return new Map(calls.map((part) => [part.operation, sendableName(part.tool)]));
}

/** A model may call what no tool can be named, and providers refuse a conversation that repeats it. */
function sendableName(tool: string): string {
  const name = tool.replaceAll(/[^\w-]/g, "_");
  // Google wants a letter at the beginning, or this.
  return (/^[a-zA-Z_]/.test(name) ? name : `_${name}`).slice(0, 64);
}

/** Half a character, written as an escape: no provider takes it back, though any JSON reader does. */
function hasLoneSurrogate(jsonText: string): boolean {
  const rest = jsonText.replaceAll(/\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}/g, "");
  return /\\u[dD][89a-fA-F]/.test(rest);
}

/** The provider's ids where they are unique and harmless, else ours. */
function uniqueCallIds(state: SessionState): Map<string, string> {
  const taken = new Set<string>();
  const ids = new Map<string, string>();
  for (const { message } of state.messages) {
    for (const operation of callsOf(message).keys()) {
      const theirs = state.calls.get(operation);
      const usable = theirs !== undefined && /^[\w-]{1,64}$/.test(theirs) && !taken.has(theirs);
      const id = usable ? theirs : operation;
      taken.add(id);
      ids.set(operation, id);
    }
  }
  return ids;
}

interface View {
  readonly callIds: Map<string, string>;
  /** The provider's own texts of arguments. */
  readonly raw: SessionState["rawArgs"];
}

function promptPart(part: Part, view: View, payloads: Payloads): PromptPart[] {
  switch (part.type) {
    case "text": {
      const text = textOf(part, payloads);
      return isBlank(text) ? [] : [{ type: "text", text, ...metadataOf(part, payloads) }];
    }
    case "context":
    case "mail":
    case "notice": {
      const text = textOf(part, payloads);
      return isBlank(text) ? [] : [{ type: "text", text }];
    }
    case "reasoning": {
      const text = textOf(part, payloads);
      const proof = {
        ...(part.signature !== undefined && { signature: part.signature }),
        ...metadataOf(part, payloads),
      };
      // A reasoning without text may still carry the provider's proof.
      return text === "" && Object.keys(proof).length === 0 ? [] : [{ type: "reasoning", text, ...proof }];
    }
    case "image":
      return [{ type: "image", base64: payloads.base64(part.blob), mediaType: part.mediaType }];
    case "tool_call": {
      const call = view.callIds.get(part.operation) ?? part.operation;
      const args =
        part.argsBlob === undefined ? (part.args ?? {}) : (JSON.parse(payloads.text(part.argsBlob)) as Json);
      const raw = view.raw.get(part.operation);
      const text = raw === undefined ? undefined : textOf(raw, payloads);
      const argsText = text === undefined || hasLoneSurrogate(text) ? {} : { argsText: text };
      const tool = sendableName(part.tool);
      return [{ type: "tool_call", call, tool, args, ...argsText, ...metadataOf(part, payloads) }];
    }
    case "tool_result":
      return [];
  }
}

/** Providers refuse a text of white space like an empty one. */
function isBlank(text: string): boolean {
  return text.trim() === "";
}

function textOf(part: { text?: string | undefined; blob?: BlobRef | undefined }, payloads: Payloads): string {
  return part.blob === undefined ? (part.text ?? "") : payloads.text(part.blob);
}

function metadataOf(
  part: { providerMetadata?: Json | undefined; providerMetadataBlob?: BlobRef | undefined },
  payloads: Payloads,
): { providerMetadata?: Json } {
  if (part.providerMetadataBlob !== undefined) {
    return { providerMetadata: JSON.parse(payloads.text(part.providerMetadataBlob)) as Json };
  }
  return part.providerMetadata === undefined ? {} : { providerMetadata: part.providerMetadata };
}

/** A call that waits for its result. */
interface WaitingCall {
  readonly operation: string;
  readonly tool: string;
  /** Its id for the provider. */
  readonly call: string;
}

function givenResult(
  part: Extract<Part, { type: "tool_result" }>,
  { call, tool }: WaitingCall,
  payloads: Payloads,
): PromptPart {
  const output = part.outputBlob === undefined ? (part.output ?? "") : payloads.text(part.outputBlob);
  const isError = part.outcome !== "ok";
  return { type: "tool_result", call, tool, output: isBlank(output) ? "(no output)" : output, isError };
}

function missingResult(state: SessionState, { operation, tool, call }: WaitingCall): PromptPart {
  const current = [...state.operations.values()].findLast((one) => one.origin === operation);
  const output = `[interrupted: ${whatIsKnown(current?.at)}]`;
  return { type: "tool_result", call, tool, output, isError: true };
}

function whatIsKnown(at: string | undefined): string {
  if (at === "started" || at === "unknown") return "it is unknown whether this call took effect";
  if (at === "known" || at === "settled")
    return "this call ended, but its result is not part of the conversation";
  return "this call was not executed";
}

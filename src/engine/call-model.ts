import { sha256, utf8Bytes, utf8Text } from "../host/index.ts";
import type { Agent, ModelCall, ModelEvent, ModelFailure } from "../model/agent.ts";
import type { ModelRequested, SystemChanged } from "../model/facts.ts";
import { systemKey } from "../model/fold.ts";
import type { Payloads } from "../model/projection.ts";
import { blobsOfPrompt, projectPrompt } from "../model/projection.ts";
import type { Step } from "../model/next-step.ts";
import { modelAttemptsMax } from "../model/next-step.ts";
import type { RunState } from "../model/run.ts";
import type { BlobRef } from "../model/values.ts";
import type { LivePiece } from "../store/index.ts";
import { interruptedMessage } from "./interrupted-answer.ts";
import { factsOfAnswer } from "./record-answer.ts";
import { systemText } from "./system-text.ts";
import type { Crew } from "./worker.ts";

/** One model call: requested, durable → the model answers → answered or failed, durable. */

type CallStep = Extract<Step, { do: "call" }>;

const backoffBaseMs = 500;
const backoffMaxMs = 30_000;
const messageLengthMax = 4096;

/** Makes one call and records what came of it. `elapsedMs`: the attempt's length so far, for an answer that ends the run. */
export async function callModel(
  crew: Crew,
  run: RunState,
  step: CallStep,
  elapsedMs: () => number,
): Promise<void> {
  const { worker, brakes } = crew;
  const signal = AbortSignal.any([worker.signal, brakes.calls]);
  if (step.failed > 0) await pause(crew, run, step, signal);
  worker.refuseInterrupted();
  const { call, requested, changed } = await prepareCall(crew, run, step);
  // What was said so far may be much to read.
  if (brakes.stop !== undefined) return;
  const { seq } = await worker.commit([...changed, requested]);
  await worker.held.live.begin(seq);
  const heard = await listen(crew, run.run, { call, signal });
  const { firstTokenMs, durationMs, last, pieces } = heard;
  const turn = { run: run.run, turn: step.turn };
  const fail = async (failure: ModelFailure) => {
    const message = crew.agent.redact(failure.message).slice(0, messageLengthMax).toWellFormed();
    // What was not shown, as a call's arguments, begins an answer as well.
    const began = failure.began === true || firstTokenMs !== undefined;
    const cut = await interruptedMessage(worker, turn, pieces);
    await worker.commit([...cut, { kind: "model.failed", ...turn, ...failure, message, began, durationMs }]);
  };
  if (last?.type === "failed") return await fail(last.failure);
  if (last?.type !== "answered") {
    const message = "the answer ended without an end";
    return await fail({ reason: "malformed", message, retryable: true });
  }
  const observed = { answer: last, turn: step.turn, firstTokenMs, durationMs, elapsedMs: elapsedMs() };
  const facts = await factsOfAnswer(crew, run, observed);
  if (typeof facts !== "string") await worker.commit(facts);
  else await fail({ reason: "malformed", message: facts, retryable: false });
}

async function pause(crew: Crew, { run }: RunState, step: CallStep, signal: AbortSignal): Promise<void> {
  const { observer, context } = crew.worker;
  const [inMs, attempt] = [waitMs(crew, step), step.failed + 1];
  observer.live({ type: "live.retry", run, inMs, attempt, attemptsMax: modelAttemptsMax });
  await context.host.clock.sleep(inMs, signal);
}

/** Exponential with jitter, and never shorter than what the provider asked for. */
function waitMs(crew: Crew, step: CallStep): number {
  const [random = 0] = crew.worker.context.host.ids.random(1);
  const ceilingMs = Math.min(backoffMaxMs, backoffBaseMs * 2 ** (step.failed - 1));
  return Math.max(step.retryAfterMs ?? 0, Math.round(ceilingMs * (0.5 + random / 512)));
}

interface Heard {
  /** From the request to the first token. */
  readonly firstTokenMs: number | undefined;
  readonly durationMs: number;
  readonly last: ModelEvent | undefined;
  /** What came of it, as it was shown. */
  readonly pieces: readonly LivePiece[];
}

/** Makes the call, showing and spooling the answer as it comes; resolves when it has ended. */
async function listen(
  crew: Crew,
  run: string,
  { call, signal }: { call: ModelCall; signal: AbortSignal },
): Promise<Heard> {
  const { worker, agent } = crew;
  const { live } = worker.held;
  const { clock } = worker.context.host;
  const pieces: LivePiece[] = [];
  const show = liveAnswer(agent, (piece) => {
    pieces.push(piece);
    live.add(piece);
    worker.observer.live({ type: `live.${piece.part}`, run, text: piece.text });
  });
  const startedMs = clock.monotonicMs();
  let firstTokenMs: number | undefined;
  let last: ModelEvent | undefined;
  for await (const event of agent.model.call(call, signal)) {
    last = event;
    if (event.type !== "delta") continue;
    firstTokenMs ??= roundMs(clock.monotonicMs() - startedMs);
    show.delta(event);
  }
  show.end();
  const durationMs = roundMs(clock.monotonicMs() - startedMs);
  await live.settled();
  return { firstTokenMs, durationMs, last, pieces };
}

/** Passes an answer on while it grows, its secrets masked also where they come in pieces. */
function liveAnswer(
  agent: Agent,
  passOn: (piece: LivePiece) => void,
): { delta(event: Extract<ModelEvent, { type: "delta" }>): void; end(): void } {
  let part: "text" | "reasoning" = "text";
  let masker: ReturnType<Agent["maskStream"]> | undefined;
  const emit = (text: string) => {
    if (text !== "") passOn({ part, text });
  };
  const end = () => {
    if (masker !== undefined) emit(masker.end());
    masker = undefined;
  };
  return {
    delta(event) {
      if (event.part !== part) end();
      part = event.part;
      masker ??= agent.maskStream();
      emit(masker.push(event.text));
    },
    end,
  };
}

async function prepareCall(
  crew: Crew,
  run: RunState,
  step: CallStep,
): Promise<{ call: ModelCall; requested: ModelRequested; changed: SystemChanged[] }> {
  const { worker, agent, rules } = crew;
  const { state } = worker;
  const system = agent.redact(systemText(state, agent, rules));
  const tools = agent.tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  const index = agent.model.takesIndex === true ? { cassetteIndex: state.cassetteIndex } : {};
  const { provider, name: model } = agent.model;
  const schemas = tools.map((tool) => [tool.name, referenceTo(JSON.stringify(tool))] as const);
  const requested: ModelRequested = {
    kind: "model.requested",
    run: run.run,
    turn: step.turn,
    role: "execution",
    provider,
    model,
    ...index,
    system: referenceTo(system),
    tools: Object.fromEntries(schemas.map(([name, { sha256: hash }]) => [name, hash])),
  };
  const changed: SystemChanged[] = [];
  // Where nothing changed, the blobs came before the line that said so last.
  if (systemKey(requested) !== state.system) {
    for (const text of [system, ...tools.map((tool) => JSON.stringify(tool))]) {
      await worker.held.blobs.put(utf8Bytes(text));
    }
    const named = { system: requested.system, tools: Object.fromEntries(schemas) };
    changed.push({ kind: "system.changed", run: run.run, ...named });
  }
  const messages = projectPrompt(state, await loadPayloads(crew));
  return { call: { system, tools, messages, ...index }, requested, changed };
}

function referenceTo(text: string): BlobRef {
  return { sha256: sha256(text), bytes: Buffer.byteLength(text) };
}

async function loadPayloads(crew: Crew): Promise<Payloads> {
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

function roundMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

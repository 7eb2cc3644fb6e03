import type { Message, Part } from "../model/facts.ts";
import type { RunState } from "../model/run.ts";
import type { LivePiece } from "../store/index.ts";
import type { Worker } from "./worker.ts";

/** What had come of an answer when it was cut: kept as a message, and never sent to a model as if it were whole. */

/** So many parts of one are kept: more than any model makes, and a line takes them. */
const partsMax = 1000;
const partBytes = 320;

/** The pieces as a message; none where nothing had come that shows. Their secrets are masked already. */
export async function interruptedMessage(
  worker: Worker,
  turn: { readonly run: string; readonly turn: number },
  pieces: readonly LivePiece[],
): Promise<[] | [Message]> {
  const texts = joined(pieces).slice(0, partsMax);
  const writer = worker.payloads(texts.length * partBytes);
  const parts: Part[] = [];
  for (const { part: type, text } of texts) {
    if (text.trim() !== "") parts.push({ type, ...(await writer.text(text)) });
  }
  if (parts.length === 0) return [];
  return [{ kind: "message", id: worker.id("msg"), role: "assistant", parts, ...turn, interrupted: true }];
}

/** What a dead process had read of the answer that it awaited; none where it awaited none. */
export async function messageLeftBehind(worker: Worker, run: RunState): Promise<[] | [Message]> {
  const { requestedSeq } = worker.state;
  if (!run.calling || requestedSeq === undefined) return [];
  const pieces = await worker.held.live.read(requestedSeq);
  return await interruptedMessage(worker, { run: run.run, turn: run.turns + 1 }, pieces);
}

/** Pieces of one part that follow each other are one text. */
function joined(pieces: readonly LivePiece[]): LivePiece[] {
  const texts: { part: LivePiece["part"]; pieces: string[] }[] = [];
  for (const { part, text } of pieces) {
    const last = texts.at(-1);
    if (last?.part === part) last.pieces.push(text);
    else texts.push({ part, pieces: [text] });
  }
  return texts.map((one) => ({ part: one.part, text: one.pieces.join("") }));
}

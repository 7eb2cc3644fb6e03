import { sha256 } from "../../src/host/index.ts";
import type { Commit } from "../../src/model/commit.ts";
import { encodeLine, readEnvelope, zeroSum } from "../../src/store/line.ts";
import { recordsOf, type AnyFact } from "../store/build-log.ts";
import { bytesOf, linesOf, type SessionFiles, withFiles } from "./session-files.ts";

/** Lines made by hand: what no version of ours writes, or no other one. */

/** The log or the queue with one more line of these facts, chained and counted as a writer would, but for the `lies`. */
export function withLine(
  session: SessionFiles,
  file: "log.jsonl" | "queue.jsonl",
  facts: readonly AnyFact[],
  lies: Partial<Commit> = {},
): SessionFiles {
  const before = bytesOf(session, file);
  return withFiles(session, {
    [file]: Buffer.concat([before, nextLine(session.session, before, { facts, lies })]),
  });
}

/** The line that would come next. */
export function nextLine(
  session: string,
  before: Uint8Array,
  { facts, lies = {} }: { facts: readonly AnyFact[]; lies?: Partial<Commit> },
): Uint8Array {
  const last = linesOf(before).at(-1);
  const envelope = last === undefined ? undefined : readEnvelope(last);
  const { seq, epoch, at, sum } = envelope ?? { seq: -1, epoch: 0, at: startedAt, sum: zeroSum };
  const raised = facts[0]?.kind === "epoch.raised" ? 1 : 0;
  const place = { ses: session, seq: seq + 1, epoch: epoch + raised, at: at + 1000, prev: sum };
  return encodeLine({ ...place, ...countersAfter(before, last, facts), ...lies }, facts);
}

const startedAt = 1_764_511_111_111;
const noCounters = { rec: 0, rev: 0, msgs: 0, row: 0 };

/** What the next line counts; nothing in a queue. */
function countersAfter(before: Uint8Array, last: Uint8Array | undefined, facts: readonly AnyFact[]) {
  const isLog = Buffer.from(before).includes("session.created");
  const envelope = last === undefined ? undefined : readEnvelope(last);
  if (!isLog || last === undefined || envelope === undefined) return noCounters;
  const said = factsIn(last);
  const added = facts.filter((fact) => fact.kind === "message").length;
  const records = said.map(recordsOf).reduce((sum, one) => sum + one, 0);
  return {
    rec: envelope.rec + records,
    rev: envelope.rev + added,
    msgs: envelope.msgs + added,
    row: said.at(-1)?.kind === "row" ? before.length - last.length : envelope.row,
  };
}

/** The facts of a line that verifies. */
export function factsIn(line: Uint8Array): AnyFact[] {
  return (JSON.parse(Buffer.from(line).toString()) as { facts: AnyFact[] }).facts;
}

/** The line with something else in it, and the sum of that. */
export function resealed(line: Uint8Array, change: (text: string) => string): Buffer {
  const hashed = Buffer.from(change(Buffer.from(line).subarray(0, -43).toString("latin1")), "latin1");
  return Buffer.concat([hashed, Buffer.from(`,"sum":"${sha256(hashed).slice(0, 32)}"}\n`)]);
}

/** The files with the log's lines changed. */
export function withLogLines(
  session: SessionFiles,
  change: (lines: Buffer[]) => readonly Uint8Array[],
): SessionFiles {
  return withFiles(session, { "log.jsonl": Buffer.concat(change(linesOf(bytesOf(session, "log.jsonl")))) });
}

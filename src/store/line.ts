import { latin1Text, sha256, utf8Bytes, utf8Text } from "../host/index.ts";
import type { Fact, OpaqueFact } from "../model/facts.ts";

/**
 * The bytes of a line. Members stand in one fixed order, so that the envelope is read by pattern and the sum is taken
 * over raw bytes: never over a re-serialisation, and never by searching for `"sum"`, which facts may contain.
 *
 *     {"v":1,"ses":"…","seq":…,"epoch":…,"at":…,"rec":…,"rev":…,"msgs":…,"row":…,"facts":[…],"prev":"…","sum":"…"}\n
 *     └────────────────────────────── hashed ─────────────────────────────────────────────┘└── the last 43 bytes ──┘
 */

/** The format that this version writes. */
export const formatVersion = 1;
/** Longest line with its newline; a longer one does not verify. */
export const lineBytesMax = 1_048_576;
/** What precedes line 0 of a session without bases, and of every queue. */
export const zeroSum = "0".repeat(32);

const newline = 0x0a;
/** From `,"prev"` to the newline. */
const tailBytes = 85;
/** From `,"sum"` to the newline. */
const sumBytes = 43;
/** No envelope head is longer: nine names, eight numbers of 16 digits, one id. */
const headBytesMax = 256;

const number = "(0|[1-9][0-9]{0,15})";
const headPattern = new RegExp(
  `^\\{"v":${number},"ses":"(ses_[0-7][0-9a-hjkmnp-tv-z]{25})","seq":${number},"epoch":${number},"at":${number}` +
    `,"rec":${number},"rev":${number},"msgs":${number},"row":${number},"facts":\\[`,
);
const tailPattern = /^,"prev":"([0-9a-f]{32})","sum":"([0-9a-f]{32})"\}\n$/;

/** What stands around the facts of a line. */
export interface Envelope {
  readonly v: number;
  readonly ses: string;
  readonly seq: number;
  readonly epoch: number;
  readonly at: number;
  readonly rec: number;
  readonly rev: number;
  readonly msgs: number;
  readonly row: number;
  readonly prev: string;
  readonly sum: string;
  /** Where the facts stand in the line: from `[` to after `]`. */
  readonly factsStart: number;
  readonly factsEnd: number;
}

/** The members that a writer gives; format and sum are the encoder's. */
export type EnvelopeInput = Omit<Envelope, "v" | "sum" | "factsStart" | "factsEnd">;

/** The bytes of a line, its newline included. */
export function encodeLine(envelope: EnvelopeInput, facts: readonly (Fact | OpaqueFact)[]): Uint8Array {
  const { ses, seq, epoch, at, rec, rev, msgs, row, prev } = envelope;
  const hashed =
    `{"v":${formatVersion},"ses":"${ses}","seq":${seq},"epoch":${epoch},"at":${at},"rec":${rec}` +
    `,"rev":${rev},"msgs":${msgs},"row":${row},"facts":${JSON.stringify(facts)},"prev":"${prev}"`;
  return utf8Bytes(`${hashed},"sum":"${sumOf(utf8Bytes(hashed))}"}\n`);
}

/** The envelope of one line that verifies (grammar and sum), or undefined. `line` includes its newline. */
export function readEnvelope(line: Uint8Array): Envelope | undefined {
  const length = line.length;
  if (length > lineBytesMax || length < tailBytes || line[length - 1] !== newline) return undefined;
  const head = headPattern.exec(latin1Text(line, 0, Math.min(headBytesMax, length - tailBytes)));
  const tail = tailPattern.exec(latin1Text(line, length - tailBytes, length));
  if (head === null || tail === null) return undefined;
  const factsStart = head[0].length - 1;
  const factsEnd = length - tailBytes;
  if (factsEnd <= factsStart + 1 || line[factsEnd - 1] !== 0x5d) return undefined;
  if (sumOf(line.subarray(0, length - sumBytes)) !== tail[2]) return undefined;
  const numberAt = (group: number) => Number(head[group]);
  const envelope = {
    v: numberAt(1),
    ses: head[2] as string,
    seq: numberAt(3),
    epoch: numberAt(4),
    at: numberAt(5),
    rec: numberAt(6),
    rev: numberAt(7),
    msgs: numberAt(8),
    row: numberAt(9),
    prev: tail[1] as string,
    sum: tail[2],
    factsStart,
    factsEnd,
  };
  return holdsOnlySafeNumbers(envelope) ? envelope : undefined;
}

/** True where the first fact is `epoch.raised`; looks at the bytes alone. */
export function raisesEpoch(line: Uint8Array, envelope: Envelope): boolean {
  const start = latin1Text(line, envelope.factsStart, Math.min(envelope.factsEnd, envelope.factsStart + 64));
  return /^\[\s*\{\s*"kind"\s*:\s*"epoch\.raised"/.test(start);
}

/** The text of the facts: a JSON array, not yet parsed. The caller has checked that the line is UTF-8. */
export function factsText(line: Uint8Array, envelope: Envelope): string {
  return utf8Text(line, envelope.factsStart, envelope.factsEnd);
}

function holdsOnlySafeNumbers(envelope: Envelope): boolean {
  const { v, seq, epoch, at, rec, rev, msgs, row } = envelope;
  return [v, seq, epoch, at, rec, rev, msgs, row].every(Number.isSafeInteger);
}

function sumOf(bytes: Uint8Array): string {
  return sha256(bytes).slice(0, 32);
}

import { latin1Text, sha256, utf8Bytes, utf8Text } from "../host/index.ts";
import { isId } from "../model/ids.ts";
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
const sessionIdLength = 30;
const hexPattern = /^[0-9a-f]{32}$/;
/** From `,"prev"` to the newline. */
const tailBytes = 85;
/** From `,"sum"` to the newline. */
const sumBytes = 43;

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
  const { length } = line;
  if (length > lineBytesMax || length <= tailBytes || line[length - 1] !== newline) return undefined;
  const factsEnd = length - tailBytes;
  const head = new HeadReader(line.subarray(0, factsEnd));
  const v = head.numberAfter('{"v":');
  const ses = head.sessionAfter(',"ses":"');
  const seq = head.numberAfter('","seq":');
  const epoch = head.numberAfter(',"epoch":');
  const at = head.numberAfter(',"at":');
  const rec = head.numberAfter(',"rec":');
  const rev = head.numberAfter(',"rev":');
  const msgs = head.numberAfter(',"msgs":');
  const row = head.numberAfter(',"row":');
  const factsStart = head.positionAfter(',"facts":[') - 1;
  if (head.failed || factsEnd <= factsStart + 1 || line[factsEnd - 1] !== 0x5d) return undefined;
  const tail = readTail(latin1Text(line, factsEnd, length));
  if (tail === undefined || sumOf(line.subarray(0, length - sumBytes)) !== tail.sum) return undefined;
  return { v, ses, seq, epoch, at, rec, rev, msgs, row, ...tail, factsStart, factsEnd };
}

/** Reads the members before the facts, byte by byte: each line of each log passes here. */
class HeadReader {
  readonly #bytes: Uint8Array;
  #at = 0;
  failed = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The position after `literal`, which must come next. */
  positionAfter(literal: string): number {
    for (let index = 0; index < literal.length; index++) {
      if (this.#bytes[this.#at++] !== literal.charCodeAt(index)) this.failed = true;
    }
    return this.#at;
  }

  /** `0` or up to 16 digits without a leading zero, at most 2^53 - 1. */
  numberAfter(literal: string): number {
    const start = this.positionAfter(literal);
    let value = 0;
    for (;;) {
      const digit = (this.#bytes[this.#at] ?? 0) - 0x30;
      if (!(digit >= 0 && digit <= 9)) break;
      value = value * 10 + digit;
      this.#at++;
    }
    const digits = this.#at - start;
    const startsWell = digits === 1 || this.#bytes[start] !== 0x30;
    if (digits < 1 || digits > 16 || !startsWell || value > Number.MAX_SAFE_INTEGER) this.failed = true;
    return value;
  }

  sessionAfter(literal: string): string {
    const start = this.positionAfter(literal);
    this.#at += sessionIdLength;
    const text = latin1Text(this.#bytes, start, Math.min(this.#at, this.#bytes.length));
    if (!isId("ses", text)) this.failed = true;
    return text;
  }
}

/** `,"prev":"` 32 hex digits `","sum":"` 32 hex digits `"}` and the newline. The sum is compared by its reader. */
function readTail(text: string): { prev: string; sum: string } | undefined {
  const prev = text.slice(9, 41);
  const sum = text.slice(50, 82);
  return text === `,"prev":"${prev}","sum":"${sum}"}\n` && hexPattern.test(prev) ? { prev, sum } : undefined;
}

/** True where the first fact is `epoch.raised`; looks at the bytes alone. */
export function raisesEpoch(line: Uint8Array, envelope: Envelope): boolean {
  const { factsStart, factsEnd } = envelope;
  // As we write it, one byte of the kind tells most lines apart.
  if (line[factsStart + canonicalKind.length] !== 0x65 && startsCanonically(line, factsStart)) return false;
  const start = latin1Text(line, factsStart, Math.min(factsEnd, factsStart + 64));
  return /^\[\s*\{\s*"kind"\s*:\s*"epoch\.raised"/.test(start);
}

const canonicalKind = '[{"kind":"';

function startsCanonically(line: Uint8Array, factsStart: number): boolean {
  for (let index = 0; index < canonicalKind.length; index++) {
    if (line[factsStart + index] !== canonicalKind.charCodeAt(index)) return false;
  }
  return true;
}

/** The text of the facts: a JSON array, not yet parsed. The caller has checked that the line is UTF-8. */
export function factsText(line: Uint8Array, envelope: Envelope): string {
  return utf8Text(line, envelope.factsStart, envelope.factsEnd);
}

function sumOf(bytes: Uint8Array): string {
  return sha256(bytes).slice(0, 32);
}

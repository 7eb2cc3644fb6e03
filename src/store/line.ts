import { checkedUtf8Text, latin1Text, sha256, utf8Bytes } from "../host/index.ts";
import { isId } from "../model/ids.ts";
import type { Commit } from "../model/commit.ts";
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
const noBytes = new Uint8Array(0);
/** From `,"prev"` to the newline. */
const tailBytes = 85;
/** From `,"sum"` to the newline. */
const sumBytes = 43;

/** What stands around the facts of a line. */
export interface Envelope extends Omit<Commit, "facts"> {
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

/**
 * The envelope of one line that verifies (grammar and sum), or undefined. `line` includes its newline. `session` is whose
 * line it is likely to be, and must be a whole id: it spares the work of reading that, and decides nothing.
 */
export function readEnvelope(line: Uint8Array, session?: string): Envelope | undefined {
  const { length } = line;
  if (length > lineBytesMax || length <= tailBytes || line[length - 1] !== newline) return undefined;
  const factsEnd = length - tailBytes;
  const head = new HeadReader(line, factsEnd);
  const v = head.number(0);
  const ses = head.session(1, session);
  const seq = head.number(2);
  const epoch = head.number(3);
  const at = head.number(4);
  const rec = head.number(5);
  const rev = head.number(6);
  const msgs = head.number(7);
  const row = head.number(8);
  const factsStart = head.skip(9) - 1;
  if (head.failed || factsEnd <= factsStart + 1 || line[factsEnd - 1] !== 0x5d) return undefined;
  const sumStart = factsEnd + 50;
  if (!isAt(line, factsEnd, beforePrev) || !isHex(line, factsEnd + 9, factsEnd + 41)) return undefined;
  if (!isAt(line, factsEnd + 41, beforeSum) || !isAt(line, factsEnd + 82, lineEnd)) return undefined;
  const sum = sumOf(line.subarray(0, length - sumBytes));
  if (!isTextAt(line, sumStart, sum)) return undefined;
  const prev = latin1Text(line, factsEnd + 9, factsEnd + 41);
  return { v, ses, seq, epoch, at, rec, rev, msgs, row, prev, sum, factsStart, factsEnd };
}

/** What stands between the values of a line, in order. */
const literals = [
  '{"v":',
  ',"ses":"',
  '","seq":',
  ',"epoch":',
  ',"at":',
  ',"rec":',
  ',"rev":',
  ',"msgs":',
  ',"row":',
  ',"facts":[',
].map((text) => utf8Bytes(text));
const beforePrev = utf8Bytes(',"prev":"');
const beforeSum = utf8Bytes('","sum":"');
const lineEnd = utf8Bytes('"}\n');

/** Reads the members before the facts, byte by byte: every line of every log passes here. */
class HeadReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #at = 0;
  failed = false;

  constructor(bytes: Uint8Array, end: number) {
    this.#bytes = bytes;
    this.#end = end;
  }

  /** The position after literal number `index`, which must come next. */
  skip(index: number): number {
    const literal = literals[index] ?? noBytes;
    if (!isAt(this.#bytes, this.#at, literal)) this.failed = true;
    this.#at += literal.length;
    return this.#at;
  }

  /** After a literal: `0`, or up to 16 digits without a leading zero, at most 2^53 - 1. */
  number(index: number): number {
    const start = this.skip(index);
    const bytes = this.#bytes;
    let [at, value] = [start, 0];
    for (;;) {
      const digit = (bytes[at] ?? 0) - 0x30;
      if (!(digit >= 0 && digit <= 9)) break;
      value = value * 10 + digit;
      at++;
    }
    const digits = at - start;
    if (digits === 0 || digits > 16 || (digits > 1 && bytes[start] === 0x30)) this.failed = true;
    if (value > Number.MAX_SAFE_INTEGER) this.failed = true;
    this.#at = at;
    return value;
  }

  /** After a literal: the id of a session, likely the `expected` one. */
  session(index: number, expected: string | undefined): string {
    const start = this.skip(index);
    this.#at = start + sessionIdLength;
    if (expected?.length === sessionIdLength && isTextAt(this.#bytes, start, expected)) return expected;
    const text = latin1Text(this.#bytes, start, Math.min(this.#at, this.#end));
    if (!isId("ses", text)) this.failed = true;
    return text;
  }
}

function isAt(bytes: Uint8Array, start: number, literal: Uint8Array): boolean {
  for (let offset = 0; offset < literal.length; offset++) {
    if (bytes[start + offset] !== literal[offset]) return false;
  }
  return true;
}

/** True where these ASCII characters stand there. */
function isTextAt(bytes: Uint8Array, start: number, text: string): boolean {
  for (let offset = 0; offset < text.length; offset++) {
    if (bytes[start + offset] !== text.charCodeAt(offset)) return false;
  }
  return true;
}

function isHex(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = bytes[at] ?? 0;
    if (!((code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x66))) return false;
  }
  return true;
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

/** The text of the facts, a JSON array that is not yet parsed; undefined where it is not UTF-8. */
export function factsText(line: Uint8Array, envelope: Envelope): string | undefined {
  return checkedUtf8Text(line, envelope.factsStart, envelope.factsEnd);
}

function sumOf(bytes: Uint8Array): string {
  return sha256(bytes).slice(0, 32);
}

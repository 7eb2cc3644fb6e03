import type { Envelope } from "./line.ts";
import { zeroSum } from "./line.ts";

/**
 * Who wins a line. The head is (seq, epoch, sum); a line that verifies is
 *
 *     accepted   it continues the head:  seq = head.seq + 1, prev = head.sum, and
 *                epoch = head.epoch, or epoch > head.epoch exactly when its first fact is `epoch.raised`
 *     void       it continues an older accepted line: a stale writer's. It changes nothing and closes nothing
 *     damage     anything else
 *
 * C1 A stale writer can neither be believed (its prev is not the head's sum) nor close the session (void is no damage).
 * C2 A verdict depends only on the accepted lines before it, so forward and backward readers agree.
 */

/** The end of a chain. Before line 0: seq -1, epoch 0, and the sum of what precedes the file. */
export interface ChainHead {
  readonly seq: number;
  readonly epoch: number;
  readonly sum: string;
}

/** The head of an empty file that follows `sum`. */
export function emptyHead(sum: string = zeroSum): ChainHead {
  return { seq: -1, epoch: 0, sum };
}

/** The sums of all accepted lines of one file, 16 bytes each, so that a stale line of any age is recognised. */
export class SumHistory {
  // Made at the first line: whoever only lists has no use for it.
  #sums = new Uint8Array(0);
  #count = 0;
  readonly #before: string;

  constructor(before: string) {
    this.#before = before;
  }

  get count(): number {
    return this.#count;
  }

  push(sum: string): void {
    if ((this.#count + 1) * 16 > this.#sums.length) {
      const grown = new Uint8Array(Math.max(16 * 256, this.#sums.length * 2));
      grown.set(this.#sums);
      this.#sums = grown;
    }
    const start = this.#count++ * 16;
    for (let index = 0; index < 16; index++) {
      this.#sums[start + index] = digitAt(sum, 2 * index) * 16 + digitAt(sum, 2 * index + 1);
    }
  }

  /** The sum of the accepted line `seq`; of what precedes line 0 for -1; undefined beyond the head. */
  at(seq: number): string | undefined {
    if (seq === -1) return this.#before;
    if (seq < 0 || seq >= this.#count) return undefined;
    return Buffer.from(this.#sums.buffer, seq * 16, 16).toString("hex");
  }
}

function digitAt(hex: string, index: number): number {
  const code = hex.charCodeAt(index);
  return code < 0x60 ? code - 0x30 : code - 0x57;
}

/** What a verifying line is to a chain. */
export type Verdict = "accepted" | "void" | "damage";

/** Judges a line that verifies. `raises`: its first fact is `epoch.raised`. */
export function judge(
  head: ChainHead,
  sums: SumHistory,
  line: Pick<Envelope, "seq" | "epoch" | "prev">,
  raises: boolean,
): Verdict {
  if (line.seq === head.seq + 1 && line.prev === head.sum) {
    const fits = raises ? line.epoch > head.epoch : line.epoch === head.epoch;
    return fits ? "accepted" : "damage";
  }
  return line.seq <= head.seq && sums.at(line.seq - 1) === line.prev ? "void" : "damage";
}

/** The head after an accepted line. */
export function advance(line: Pick<Envelope, "seq" | "epoch" | "sum">): ChainHead {
  return { seq: line.seq, epoch: line.epoch, sum: line.sum };
}

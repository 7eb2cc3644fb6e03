import type { ChainHead } from "./chain.ts";
import { emptyHead, judge, SumHistory } from "./chain.ts";
import type { Envelope } from "./line.ts";

/**
 * Who wins a line, backwards. The newest line that is not void is the head, but which one that is shows only further
 * back: so the newest line is a hypothesis.
 *
 *     line.sum is the prev that the oldest accepted line needs     accepted
 *     line.seq < the oldest accepted line's                        void, open until its place is found
 *     line.seq ≥ the head's, which nothing has confirmed           the head was void (open), this is the head
 *     anything else                                                undecided: only a forward reading can tell
 *
 * B1 An open void is proven by the accepted line seq - 1 whose sum is its prev; nothing holds before none is open.
 * B2 What is said here, a forward reading says too. It decides alone where this says "undecided": damage, or lines that
 *    stand twice in a file.
 */

/** A line as the chain needs it. */
export type BackLine = Pick<Envelope, "seq" | "epoch" | "prev" | "sum"> & { readonly raises: boolean };

/** What a line is. `head`: the newest accepted one as far as is known; a `head` before it was void. */
export type BackVerdict = "head" | "accepted" | "void" | "undecided";

/** More stale lines than these are counted forwards. */
const openMax = 256;

/** Judges the lines of one file from the end to the start. */
export class BackChain {
  #oldest: BackLine | undefined;
  /** The head, where something else than the file names it. */
  readonly #expected: Pick<ChainHead, "seq" | "sum"> | undefined;
  #accepted = 0;
  #open: Pick<BackLine, "seq" | "prev">[] = [];

  constructor(expected: Pick<ChainHead, "seq" | "sum"> | undefined) {
    this.#expected = expected;
  }

  /** True where every void line has found its place, and the head is confirmed. */
  get isSettled(): boolean {
    return this.#open.length === 0 && this.#accepted > (this.#expected === undefined ? 1 : 0);
  }

  /** Judges the line before all others so far. */
  take(line: BackLine): BackVerdict {
    const oldest = this.#oldest;
    if (oldest === undefined) return this.#takeFirst(line);
    if (line.seq === oldest.seq - 1 && line.sum === oldest.prev) {
      const fits = oldest.raises ? oldest.epoch > line.epoch : oldest.epoch === line.epoch;
      return fits && this.#accept(line) ? "accepted" : "undecided";
    }
    if (line.seq < oldest.seq) return this.#leaveOpen(line);
    if (this.#accepted > 1 || this.#expected !== undefined) return "undecided";
    if (this.#leaveOpen(oldest) === "undecided") return "undecided";
    this.#oldest = line;
    return "head";
  }

  /** The file starts here, after `before` where that is known: true where everything has found its place. */
  closes(before: string | undefined): boolean {
    const line = this.#oldest;
    if (line === undefined) return false;
    const head = emptyHead(before ?? line.prev);
    if (judge(head, new SumHistory(head.sum), line, line.raises) !== "accepted") return false;
    return this.#open.every((open) => open.seq === 0 && open.prev === head.sum);
  }

  #takeFirst(line: BackLine): BackVerdict {
    const expected = this.#expected;
    if (expected !== undefined && line.sum !== expected.sum) {
      return line.seq <= expected.seq ? this.#leaveOpen(line) : "undecided";
    }
    if (expected !== undefined && line.seq !== expected.seq) return "undecided";
    return this.#accept(line) ? "head" : "undecided";
  }

  #accept(line: BackLine): boolean {
    this.#oldest = line;
    this.#accepted++;
    if (this.#open.length === 0) return true;
    const here = this.#open.filter((open) => open.seq - 1 === line.seq);
    this.#open = this.#open.filter((open) => open.seq - 1 !== line.seq);
    return here.every((open) => open.prev === line.sum);
  }

  #leaveOpen(line: BackLine): BackVerdict {
    this.#open.push(line);
    return this.#open.length > openMax ? "undecided" : "void";
  }
}

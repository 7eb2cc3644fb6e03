import { rowsOfFact } from "../model/commit.ts";
import type { Fact, OpaqueFact } from "../model/facts.ts";

/**
 * The counters in every line: they make tail reads complete, since a page then knows how much came before it.
 * Each set of visible messages has a number, so that a rewind is a jump to an older number.
 */

/** A set of visible messages: two are the same where their numbers are. */
interface Visible {
  readonly number: number;
  readonly count: number;
}

/** The lines of one file as targets of rewinds: what was visible after each, kept where it changed. */
class Targets {
  #last = -1;
  // Plain numbers side by side: a long log has very many.
  readonly #seqs: number[] = [];
  readonly #numbers: number[] = [];
  readonly #counts: number[] = [];

  add(seq: number, visible: Visible): void {
    this.#last = seq;
    if (visible.number === this.#numbers.at(-1)) return;
    this.#seqs.push(seq);
    this.#numbers.push(visible.number);
    this.#counts.push(visible.count);
  }

  /** What was visible after that line; undefined where there is no such line (yet). */
  at(seq: number): Visible | undefined {
    if (!Number.isInteger(seq) || seq > this.#last) return undefined;
    const index = this.#seqs.findLastIndex((one) => one <= seq);
    const [number, count] = [this.#numbers[index], this.#counts[index]];
    return number === undefined || count === undefined ? undefined : { number, count };
  }
}

/** The counters that a line must carry. */
export interface LineCounters {
  readonly rec: number;
  readonly rev: number;
  readonly msgs: number;
  readonly row: number;
}

/** Folds accepted lines, those of the bases first, into the counters of the next line. */
export class CounterFold {
  #rec = 0;
  #rev = 0;
  #row = 0;
  #visible: Visible = { number: 0, count: 0 };
  /** The highest number that a set has. */
  #sets = 0;
  /** The targets of rewinds, by session. */
  readonly #files = new Map<string, Targets>();

  /** A new file begins: offsets count from its start. */
  startFile(): void {
    this.#row = 0;
  }

  /** The counters of the next line, were these its facts; undefined where a rewind names an unknown line. */
  preview(session: string, seq: number, facts: readonly (Fact | OpaqueFact)[]): LineCounters | undefined {
    const after = this.#after(facts);
    if (after === undefined) return undefined;
    const rev = this.#rev + (after.number === this.#visible.number ? 0 : 1);
    return { rec: this.#rec, rev, msgs: after.count, row: this.#row };
  }

  /**
   * Takes a line in, and returns the counters that it must carry; undefined, and nothing taken, where a rewind names an
   * unknown line. `offset` is where the line starts in its file.
   */
  apply(
    position: { session: string; seq: number; offset: number },
    facts: readonly (Fact | OpaqueFact)[],
  ): LineCounters | undefined {
    const after = this.#after(facts);
    if (after === undefined) return undefined;
    const [rec, row] = [this.#rec, this.#row];
    if (after.number !== this.#visible.number) this.#rev++;
    this.#visible = after;
    this.#sets = Math.max(this.#sets, after.number);
    this.#targetsOf(position.session).add(position.seq, after);
    for (const fact of facts) {
      this.#rec += rowsOfFact(fact);
      if (fact.kind === "row") this.#row = position.offset;
    }
    return { rec, rev: this.#rev, msgs: after.count, row };
  }

  #targetsOf(session: string): Targets {
    const known = this.#files.get(session);
    if (known !== undefined) return known;
    const targets = new Targets();
    this.#files.set(session, targets);
    return targets;
  }

  #after(facts: readonly (Fact | OpaqueFact)[]): Visible | undefined {
    let visible: Visible | undefined = this.#visible;
    let sets = this.#sets;
    for (const fact of facts) {
      if (fact.kind === "message") visible = { number: ++sets, count: visible.count + 1 };
      else if (fact.kind === "rewound") {
        const { session, seq } = fact as { session: string; seq: number };
        visible = this.#files.get(session)?.at(seq);
        if (visible === undefined) return undefined;
      }
    }
    return visible;
  }
}

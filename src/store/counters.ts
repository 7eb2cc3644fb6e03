import { rowsOfFact } from "../model/commit.ts";
import type { Fact, OpaqueFact } from "../model/facts.ts";

/**
 * The counters in every line: they make tail reads complete, since a page then knows how much came before it.
 * The visible messages are a linked list that shares its past, so that a rewind is a jump to an older node.
 */

interface Visible {
  readonly count: number;
  readonly before: Visible | undefined;
}

/** The lines of one file as targets of rewinds: what was visible after each, kept where it changed. */
class Targets {
  #last = -1;
  readonly #seqs: number[] = [];
  readonly #visible: Visible[] = [];

  add(seq: number, visible: Visible, changed: boolean): void {
    this.#last = seq;
    if (!changed && this.#seqs.length > 0) return;
    this.#seqs.push(seq);
    this.#visible.push(visible);
  }

  /** What was visible after that line; undefined where there is no such line (yet). */
  at(seq: number): Visible | undefined {
    if (!Number.isInteger(seq) || seq > this.#last) return undefined;
    return this.#visible[this.#seqs.findLastIndex((one) => one <= seq)];
  }
}

const nothing: Visible = { count: 0, before: undefined };

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
  #visible: Visible = nothing;
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
    const changed = after !== this.#visible;
    return { rec: this.#rec, rev: this.#rev + (changed ? 1 : 0), msgs: after.count, row: this.#row };
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
    const changed = after !== this.#visible;
    if (changed) this.#rev++;
    this.#visible = after;
    this.#targetsOf(position.session).add(position.seq, after, changed);
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
    for (const fact of facts) {
      if (fact.kind === "message") visible = { count: visible.count + 1, before: visible };
      else if (fact.kind === "rewound") {
        const { session, seq } = fact as { session: string; seq: number };
        visible = this.#files.get(session)?.at(seq);
        if (visible === undefined) return undefined;
      }
    }
    return visible;
  }
}

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
  /** Where the visible messages changed, by file and line: the targets of rewinds. */
  readonly #marks = new Map<string, { seq: number; visible: Visible }[]>();

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

  /** Takes a line in; `offset` is where it starts in its file. Returns false where a rewind names an unknown line. */
  apply(
    position: { session: string; seq: number; offset: number },
    facts: readonly (Fact | OpaqueFact)[],
  ): boolean {
    const after = this.#after(facts);
    if (after === undefined) return false;
    const marks = this.#marks.get(position.session) ?? [];
    if (after !== this.#visible || marks.length === 0) {
      this.#rev += after !== this.#visible ? 1 : 0;
      this.#visible = after;
      marks.push({ seq: position.seq, visible: after });
      this.#marks.set(position.session, marks);
    }
    for (const fact of facts) {
      this.#rec += rowsOfFact(fact);
      if (fact.kind === "row") this.#row = position.offset;
    }
    return true;
  }

  #after(facts: readonly (Fact | OpaqueFact)[]): Visible | undefined {
    let visible: Visible | undefined = this.#visible;
    for (const fact of facts) {
      if (fact.kind === "message") visible = { count: visible.count + 1, before: visible };
      else if (fact.kind === "rewound") {
        const { session, seq } = fact as { session: string; seq: number };
        visible = this.#at(session, seq);
        if (visible === undefined) return undefined;
      }
    }
    return visible;
  }

  /** What was visible after that line. */
  #at(session: string, seq: number): Visible | undefined {
    return this.#marks.get(session)?.findLast((mark) => mark.seq <= seq)?.visible;
  }
}

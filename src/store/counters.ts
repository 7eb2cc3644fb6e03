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

/** The lines of one file: the last one, and where the visible messages changed. */
interface Targets {
  last: number;
  readonly marks: { seq: number; visible: Visible }[];
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

  /** Takes a line in; `offset` is where it starts in its file. Returns false where a rewind names an unknown line. */
  apply(
    position: { session: string; seq: number; offset: number },
    facts: readonly (Fact | OpaqueFact)[],
  ): boolean {
    const after = this.#after(facts);
    if (after === undefined) return false;
    const file = this.#files.get(position.session) ?? { last: -1, marks: [] };
    if (after !== this.#visible || file.marks.length === 0) {
      this.#rev += after !== this.#visible ? 1 : 0;
      this.#visible = after;
      file.marks.push({ seq: position.seq, visible: after });
    }
    file.last = position.seq;
    this.#files.set(position.session, file);
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

  /** What was visible after that line; undefined where there is no such line (yet). */
  #at(session: string, seq: number): Visible | undefined {
    const file = this.#files.get(session);
    if (file === undefined || !Number.isInteger(seq) || seq > file.last) return undefined;
    return file.marks.findLast((mark) => mark.seq <= seq)?.visible;
  }
}

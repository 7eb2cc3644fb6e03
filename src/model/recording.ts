import type { Commit } from "./commit.ts";
import type { Fact, ModelAnswered, ModelFailed, OpaqueFact } from "./facts.ts";

/**
 * What a log holds of its model: each answer that came whole and each failure, in order, over all runs. A call that a
 * death or a cancel cut left nothing that could be played again; it is only counted.
 */

/** One call of the model that came to something; `facts` are the line that it stands in, with all that was said. */
export type RecordedCall = { readonly facts: readonly (Fact | OpaqueFact)[] } & (
  | { readonly answered: ModelAnswered }
  | { readonly failed: ModelFailed }
);

/** Gathers the calls of a log, line by line. */
export class Recording {
  readonly calls: RecordedCall[] = [];
  /** Calls that were cut before they came to anything. */
  cut = 0;
  /** Tasks that became a run. */
  runs = 0;
  #isOpen = false;

  /** Takes the next line. */
  take({ facts }: Pick<Commit, "facts">): void {
    for (const fact of facts as readonly Fact[]) {
      if (fact.kind === "run.created") this.runs++;
      else if (fact.kind === "model.requested") {
        if (this.#isOpen) this.cut++;
        this.#isOpen = true;
      } else if (fact.kind === "model.answered") this.#end({ answered: fact, facts }, isWhole(facts));
      else if (fact.kind === "model.failed")
        this.#end({ failed: fact, facts }, fact.reason !== "interrupted");
    }
  }

  /** The log is over, and nobody waits for an answer any more. */
  end(): void {
    if (this.#isOpen) this.cut++;
    this.#isOpen = false;
  }

  /** Takes away the failures at the end that only say that a cassette has no further turn; returns their number. */
  dropExhausted(): number {
    const last = this.calls.findLastIndex(
      (call) => !("failed" in call) || call.failed.reason !== "cassette_exhausted",
    );
    return this.calls.splice(last + 1).length;
  }

  #end(call: RecordedCall, isWhole: boolean): void {
    this.#isOpen = false;
    if (isWhole) this.calls.push(call);
    else this.cut++;
  }
}

/** An answer that was cut is kept too, and says so. */
function isWhole(facts: readonly (Fact | OpaqueFact)[]): boolean {
  return (facts as readonly Fact[]).every((fact) => fact.kind !== "message" || fact.interrupted !== true);
}

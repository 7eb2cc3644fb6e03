/**
 * What a queue is, said once more and as simply as possible: a list of lines with epochs, one holder at most, and some
 * lines at its end whose fate only time tells. It knows no file, no lock and no disk.
 */

/** A line of the queue as a reader sees it. */
export interface SeenLine {
  readonly text: string;
  readonly epoch: number;
  /** True where the line raises the epoch. */
  readonly raises: boolean;
}

/** The processes of the model. */
export type Name = "a" | "b";

/** A line that somebody tried to append; `holds` is the epoch that he held the session in, if he did. */
interface Attempt {
  readonly text: string;
  readonly holds: number | undefined;
}

/** The model of one session's queue. */
export class ReferenceQueue {
  readonly #attempts: Attempt[] = [];
  #lines: SeenLine[] = [];
  /** So many of the lines are certain: they, or a later one, were acknowledged. */
  #certain = 0;
  /** What nobody acknowledged and may still come, in order. */
  #maybe: Attempt[] = [];
  #holder: { readonly name: Name; readonly epoch: number } | undefined;
  #logEpoch = 0;

  get holder(): Name | undefined {
    return this.#holder?.name;
  }

  /** What a reader must see, when {@link decide} has taken in what he saw. */
  get lines(): readonly SeenLine[] {
    return this.#lines;
  }

  /** Somebody takes the lease, which nobody has. */
  take(name: Name): void {
    this.#logEpoch = Math.max(this.#logEpoch, this.#lines.at(-1)?.epoch ?? 0) + 1;
    this.#holder = { name, epoch: this.#logEpoch };
  }

  /** The process let go or died. */
  leave(name: Name): void {
    if (this.#holder?.name === name) this.#holder = undefined;
  }

  /** Before an append of this text. */
  attempt(name: Name, text: string): void {
    const holds = this.#holder?.name === name ? this.#holder.epoch : undefined;
    this.#attempts.push({ text, holds });
    this.#maybe.push({ text, holds });
  }

  /** Of two who appended at once the later one came first. */
  swapLast(): void {
    for (const list of [this.#attempts, this.#maybe]) list.push(...list.splice(-2).toReversed());
  }

  /** The append was acknowledged: it is there, and what came before it is decided. */
  acknowledge(text: string, seen: readonly SeenLine[]): void {
    this.decide(seen);
    const place = this.#lines.findIndex((line) => line.text === text);
    if (place === -1) throw new Error(`${text} was acknowledged and cannot be seen`);
    this.#certain = place + 1;
    this.#maybe = this.#maybe.filter((one) => this.#isAfter(one, text));
  }

  /** Takes in what is seen of what was uncertain. */
  decide(seen: readonly SeenLine[]): void {
    for (const { text } of seen.slice(this.#lines.length)) {
      const index = this.#maybe.findIndex((attempt) => attempt.text === text);
      const attempt = this.#maybe[index];
      if (attempt === undefined) return;
      // Lines come in the order of their attempts: what was tried before this one and is not there never comes.
      this.#maybe.splice(0, index + 1);
      this.#lines.push(this.#lineOf(attempt));
    }
  }

  /** All that was not acknowledged is uncertain again. */
  powerCut(): void {
    const lost = this.#lines.slice(this.#certain).map(({ text }) => text);
    this.#lines = this.#lines.slice(0, this.#certain);
    this.#maybe = this.#attempts.filter(({ text }) => lost.includes(text)).concat(this.#maybe);
    this.#holder = undefined;
  }

  #lineOf({ text, holds }: Attempt): SeenLine {
    const epoch = this.#lines.at(-1)?.epoch ?? 0;
    const raises = holds !== undefined && holds > epoch;
    return { text, epoch: raises ? holds : epoch, raises };
  }

  #isAfter(one: Attempt, text: string): boolean {
    const indexOf = (name: string): number => this.#attempts.findIndex((attempt) => attempt.text === name);
    return indexOf(one.text) > indexOf(text);
  }
}

/** Runs what is given to it one at a time, first come, first served. */
export class Fifo {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` when all that asked before have ended, whichever way; settles as `work` does. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    // The next in line starts after this one, whichever way it ended; its own caller sees its failure.
    this.#last = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }
}

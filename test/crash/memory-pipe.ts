/** The pipe of a command's output: ended when nobody holds its end for writing, broken when nobody reads. */
export class MemoryPipe {
  readonly #chunks: Uint8Array[] = [];
  #holders = 0;
  #reader: { readonly chunk: (bytes: Uint8Array) => void; readonly ended: () => void } | undefined;
  #isBroken = false;
  #isDelivering = false;
  /** Awaited before anything is delivered: the reader may be stopped. */
  readonly #readerGoesOn: () => Promise<void> | undefined;

  constructor(readerGoesOn: () => Promise<void> | undefined) {
    this.#readerGoesOn = readerGoesOn;
  }

  hold(): void {
    this.#holders += 1;
  }

  letGo(): void {
    this.#holders -= 1;
    this.#wake();
  }

  /** False where nobody will ever read it. */
  write(bytes: Uint8Array): boolean {
    if (this.#isBroken) return false;
    this.#chunks.push(bytes);
    this.#wake();
    return true;
  }

  read(chunk: (bytes: Uint8Array) => void, ended: () => void): void {
    this.#reader = { chunk, ended };
    this.#wake();
  }

  /** The reader lets go, or is dead. */
  break(): void {
    this.#isBroken = true;
    this.#reader = undefined;
  }

  #wake(): void {
    if (this.#isDelivering || this.#reader === undefined) return;
    this.#isDelivering = true;
    queueMicrotask(() => void this.#deliver());
  }

  async #deliver(): Promise<void> {
    for (let going = this.#readerGoesOn(); going !== undefined; going = this.#readerGoesOn()) await going;
    this.#isDelivering = false;
    for (let bytes = this.#chunks.shift(); bytes !== undefined; bytes = this.#chunks.shift()) {
      this.#reader?.chunk(bytes);
    }
    if (this.#holders > 0) return;
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.ended();
  }
}

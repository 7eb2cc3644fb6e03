import type { OutputStream } from "./outside.ts";

/**
 * Writes to a stream in order without waiting for it. What is written in one go goes out in one. A stream that fails
 * stops taking anything, which {@link Writer.flushed} tells: work that is going on must not die of its onlooker.
 */
export class Writer {
  readonly #stream: OutputStream;
  #waiting = "";
  #written: Promise<void> = Promise.resolve();

  constructor(stream: OutputStream) {
    this.#stream = stream;
  }

  /** Takes a text; it goes out as soon as what is going on now has ended. */
  write(text: string): void {
    if (text === "") return;
    if (this.#waiting === "") {
      this.#written = this.#written.then(() => this.#writeWaiting());
      // Told by `flushed`, which is asked later.
      this.#written.catch(() => undefined);
    }
    this.#waiting += text;
  }

  /** Resolves when everything is written; rejects where the stream failed. */
  flushed(): Promise<void> {
    return this.#written;
  }

  #writeWaiting(): Promise<void> {
    const text = this.#waiting;
    this.#waiting = "";
    return this.#stream.write(text);
  }
}

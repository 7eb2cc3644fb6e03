import type { OutputStream } from "../host/index.ts";

/**
 * Writes to a stream in order without waiting for it. What is written in one go goes out in one. A stream that fails
 * stops taking anything, which {@link Writer.flushed} tells: work that is going on must not die of its onlooker.
 */
export class Writer {
  readonly #stream: OutputStream;
  #waiting = "";
  /** Characters that are on their way. */
  #leaving = 0;
  #hasFailed = false;
  #written: Promise<void> = Promise.resolve();

  constructor(stream: OutputStream) {
    this.#stream = stream;
  }

  /** Characters that the stream has not taken yet. */
  get waits(): number {
    return this.#waiting.length + this.#leaving;
  }

  /** Takes a text; it goes out as soon as what is going on now has ended. */
  write(text: string): void {
    if (text === "" || this.#hasFailed) return;
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

  /**
   * Resolves when there is room for more than `waitsMax` characters already take: at once as a rule, and behind a slow
   * reader when he has read what waits. Never rejects: a stream that failed keeps nobody.
   */
  async room(waitsMax: number): Promise<void> {
    if (this.waits > waitsMax) await Promise.allSettled([this.#written]);
  }

  async #writeWaiting(): Promise<void> {
    const text = this.#waiting;
    this.#waiting = "";
    this.#leaving = text.length;
    try {
      await this.#stream.write(text);
    } catch (error) {
      this.#hasFailed = true;
      this.#waiting = "";
      throw error;
    } finally {
      this.#leaving = 0;
    }
  }
}

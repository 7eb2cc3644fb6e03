/** The bytes of a file that grows. */
export class Content {
  #bytes: Uint8Array;
  #size: number;

  constructor(bytes: Uint8Array = new Uint8Array(0)) {
    this.#bytes = bytes.slice();
    this.#size = bytes.length;
  }

  get size(): number {
    return this.#size;
  }

  /** A copy of everything. */
  bytes(): Uint8Array {
    return this.#bytes.slice(0, this.#size);
  }

  /** Copies what stands at `position` into `into` and returns the count. */
  read(into: Uint8Array, position: number): number {
    const part = this.#bytes.subarray(
      Math.min(position, this.#size),
      Math.min(position + into.length, this.#size),
    );
    into.set(part);
    return part.length;
  }

  /** A write beyond the end leaves zeros before it. */
  write(bytes: Uint8Array, position: number): void {
    if (bytes.length === 0) return;
    const end = position + bytes.length;
    if (end > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(end, this.#bytes.length * 2, 256));
      grown.set(this.#bytes.subarray(0, this.#size));
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, position);
    this.#size = Math.max(this.#size, end);
  }

  /** Cuts, or grows with zeros. */
  truncate(size: number): void {
    if (size > this.#size) this.write(new Uint8Array(size - this.#size), this.#size);
    this.#bytes.fill(0, size, this.#size);
    this.#size = size;
  }
}

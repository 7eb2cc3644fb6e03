import { readFully } from "../host/index.ts";
import type { DiskFile } from "../host/index.ts";
import { lineBytesMax } from "./line.ts";

/** A piece of a file that ends with 0x0A (the newest one may not); its bytes are valid until the next one is read. */
export interface TailLine {
  readonly bytes: Uint8Array;
  /** Where it starts in the file. */
  readonly offset: number;
}

const chunkBytesMax = 1024 * 1024;

/** Reads the lines of a file from a byte back to its start, in constant memory. */
export class TailLines {
  readonly #file: DiskFile;
  #chunkBytes: number;
  /** The bytes `#from` to `#to` of the buffer are those of the file from `#start` on: read, and not yet returned. */
  #buffer: Buffer;
  #from: number;
  #to: number;
  #start: number;

  /** `chunkBytes` is the size of the first read; further ones are larger. `whole`: all bytes, where they are read. */
  constructor(file: DiskFile, end: number, chunkBytes: number, whole?: Buffer) {
    this.#file = file;
    this.#chunkBytes = chunkBytes;
    this.#buffer = whole ?? Buffer.allocUnsafe(Math.min(chunkBytes, end));
    this.#to = this.#buffer.length;
    this.#from = whole === undefined ? this.#to : 0;
    this.#start = whole === undefined ? end : 0;
  }

  /**
   * The line before those that were returned; undefined before the first one, and where the file became shorter
   * meanwhile (then {@link position} is not 0). A piece that is longer than any line may come back without its start.
   */
  async next(): Promise<TailLine | undefined> {
    for (;;) {
      const unread = this.#buffer.subarray(this.#from, this.#to);
      // The last byte is the line's own newline.
      const newline = unread.length < 2 ? -1 : unread.lastIndexOf(0x0a, unread.length - 2);
      const isWhole = newline !== -1 || this.#start === 0 || unread.length > lineBytesMax;
      if (isWhole) {
        if (unread.length === 0) return undefined;
        this.#to = this.#from + newline + 1;
        return { bytes: unread.subarray(newline + 1), offset: this.position };
      }
      if (!(await this.#readBefore())) return undefined;
    }
  }

  /** Where the last returned line starts. */
  get position(): number {
    return this.#start + (this.#to - this.#from);
  }

  async #readBefore(): Promise<boolean> {
    const count = Math.min(this.#chunkBytes, this.#start);
    this.#makeRoom(count);
    const chunk = this.#buffer.subarray(this.#from - count, this.#from);
    if ((await readFully(this.#file, chunk, this.#start - count)) < count) return false;
    this.#from -= count;
    this.#start -= count;
    this.#chunkBytes = Math.min(this.#chunkBytes * 4, chunkBytesMax);
    return true;
  }

  /** Makes room for `count` bytes before the unread ones. */
  #makeRoom(count: number): void {
    if (this.#from >= count) return;
    const unread = this.#buffer.subarray(this.#from, this.#to);
    const needed = count + unread.length;
    const target = needed <= this.#buffer.length ? this.#buffer : Buffer.allocUnsafe(needed);
    const from = target.length - unread.length;
    target.set(unread, from);
    this.#buffer = target;
    this.#from = from;
    this.#to = target.length;
  }
}

import { DiskError, isDiskError, startSha256, type DiskFile } from "../../../host/index.ts";
import type { Redactor } from "../../../model/redact.ts";
import { cutAtCharacter } from "./excerpt.ts";

const writeBytesMax = 1024 * 1024;

/** What was kept of an output. */
export interface KeptOutput {
  readonly bytes: number;
  readonly sha256: string;
  /** Bytes that the command wrote and that were not kept. */
  readonly dropped: number;
  /** Why the disk took no more, where that was so. */
  readonly fault?: string;
}

/** Where an output is kept. */
export interface OutputOptions {
  /** Opened for append, empty. Closed by {@link OutputKeeper.end}. */
  readonly file: DiskFile;
  readonly redactor: Redactor;
  /** Limit of the file; what comes after it is counted. */
  readonly bytesMax: number;
  /** Called when more is in the file. */
  readonly grown: () => void;
}

/**
 * Takes a command's output in order, however fast it comes: decodes it (invalid bytes become U+FFFD), redacts it across
 * chunk borders, and appends it. Never refuses: over the limit, and after the disk's first refusal, it only counts.
 * What waits for the disk is never more than the limit.
 */
export class OutputKeeper {
  readonly #options: OutputOptions;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #encoder = new TextEncoder();
  readonly #masker: ReturnType<Redactor["stream"]>;
  readonly #hash = startSha256();
  readonly #waiting: Uint8Array[] = [];
  #accepted = 0;
  #written = 0;
  #dropped = 0;
  #isFull = false;
  #fault: string | undefined;
  #writing: Promise<void> | undefined;

  constructor(options: OutputOptions) {
    this.#options = options;
    this.#masker = options.redactor.stream();
  }

  /** Takes the next bytes. */
  push(chunk: Uint8Array): void {
    if (this.#isFull) this.#dropped += chunk.byteLength;
    else this.#keep(this.#masker.push(this.#decoder.decode(chunk, { stream: true })));
  }

  /** Takes no more: makes what is kept durable and closes the file. Never rejects; a refusal is the `fault`. */
  async end(): Promise<KeptOutput> {
    if (!this.#isFull) this.#keep(this.#masker.push(this.#decoder.decode()) + this.#masker.end());
    this.#isFull = true;
    await this.#writing;
    await this.#attempt(() => this.#options.file.sync());
    await this.#attempt(() => this.#options.file.close());
    return {
      bytes: this.#written,
      sha256: this.#hash.digest(),
      dropped: this.#dropped,
      ...(this.#fault === undefined ? {} : { fault: this.#fault }),
    };
  }

  #keep(text: string): void {
    if (text === "") return;
    const bytes = this.#encoder.encode(text);
    const room = this.#options.bytesMax - this.#accepted;
    const fitting = bytes.byteLength <= room ? bytes : cutAtCharacter(bytes, room);
    if (fitting.byteLength < bytes.byteLength) {
      this.#isFull = true;
      this.#dropped += bytes.byteLength - fitting.byteLength;
    }
    if (fitting.byteLength === 0) return;
    this.#accepted += fitting.byteLength;
    this.#waiting.push(fitting);
    this.#writing ??= this.#writeWaiting();
  }

  async #writeWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const bytes = this.#takeWaiting();
      if (this.#fault === undefined) await this.#attempt(() => this.#append(bytes));
      else this.#dropped += bytes.byteLength;
    }
    this.#writing = undefined;
  }

  /** Small chunks are joined: a write for each line would be slower than the command. */
  #takeWaiting(): Uint8Array {
    let bytes = 0;
    let count = 0;
    for (const chunk of this.#waiting) {
      if (count > 0 && bytes + chunk.byteLength > writeBytesMax) break;
      bytes += chunk.byteLength;
      count++;
    }
    const joined = new Uint8Array(bytes);
    let at = 0;
    for (const chunk of this.#waiting.splice(0, count)) {
      joined.set(chunk, at);
      at += chunk.byteLength;
    }
    return joined;
  }

  async #append(bytes: Uint8Array): Promise<void> {
    let done = 0;
    try {
      while (done < bytes.byteLength) {
        const count = await this.#options.file.write(bytes.subarray(done));
        if (count === 0) throw new DiskError("SHORT_WRITE", "write", this.#options.file.path);
        this.#hash.update(bytes.subarray(done, done + count));
        done += count;
        this.#written += count;
      }
    } finally {
      this.#dropped += bytes.byteLength - done;
      this.#options.grown();
    }
  }

  async #attempt(effect: () => Promise<void>): Promise<void> {
    try {
      await effect();
    } catch (error) {
      this.#isFull = true;
      this.#fault ??= isDiskError(error) ? error.code : String(error);
    }
  }
}

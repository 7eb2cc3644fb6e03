import type { Disk, DiskFile } from "../host/index.ts";
import { isDiskError, isUtf8, readWhole, utf8Bytes, utf8Text, writeAll } from "../host/index.ts";

/**
 * The pieces of the answer in flight, kept so that a death does not take with it what was read already. A spool and no
 * log: it is never synced, each answer begins it anew, and where the disk refuses it there is none.
 *
 *     {"v":1,"seq":41}\n              the line of the log that asked
 *     {"part":"text","text":"…"}\n    a piece, its secrets masked
 */

/** A piece of an answer. */
export interface LivePiece {
  readonly part: "text" | "reasoning";
  readonly text: string;
}

/** What is kept of one answer at most. */
const liveBytesMax = 16 * 1024 * 1024;

/** The spool of a session's holder. */
export class LiveFile {
  readonly #disk: Disk;
  readonly #path: string;
  #file: DiskFile | undefined;
  #pending: string[] = [];
  #position = 0;
  #writing: Promise<void> | undefined;
  #isFull = false;

  constructor(disk: Disk, path: string) {
    this.#disk = disk;
    this.#path = path;
  }

  /** Begins with the answer to the call that stands in line `seq`. Writes nothing before there is a piece. */
  async begin(seq: number): Promise<void> {
    await this.settled();
    this.#pending = [`${JSON.stringify({ v: 1, seq })}\n`];
    this.#position = 0;
    this.#isFull = false;
  }

  /** Keeps a piece, soon: what comes while another one is being written is written together. */
  add(piece: LivePiece): void {
    if (this.#isFull) return;
    this.#pending.push(`${JSON.stringify(piece)}\n`);
    this.#writing ??= this.#write();
  }

  /** Resolves when everything that was added is written, or given up. */
  async settled(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  /** The pieces of the answer to the call in line `seq`, as far as they are there; none where another one is. */
  async read(seq: number): Promise<LivePiece[]> {
    try {
      const bytes = await readWhole(this.#disk, this.#path, liveBytesMax);
      return bytes === undefined ? [] : piecesOf(bytes, seq);
    } catch (error) {
      if (isDiskError(error)) return [];
      throw error;
    }
  }

  /** Lets go of the file. */
  async close(): Promise<void> {
    this.#isFull = true;
    await this.settled();
    const file = this.#file;
    this.#file = undefined;
    try {
      await file?.close();
    } catch (error) {
      if (!isDiskError(error)) throw error;
    }
  }

  async #write(): Promise<void> {
    try {
      while (this.#pending.length > 0) {
        const bytes = utf8Bytes(this.#pending.join(""));
        this.#pending = [];
        if (this.#position + bytes.length > liveBytesMax) this.#isFull = true;
        else await this.#append(bytes);
      }
    } catch (error) {
      if (!isDiskError(error)) throw error;
      // No answer fails for want of its spool.
      this.#isFull = true;
    } finally {
      this.#writing = undefined;
    }
  }

  async #append(bytes: Uint8Array): Promise<void> {
    const file = (this.#file ??= await this.#open());
    if (this.#position === 0) await file.truncate(0);
    await writeAll(file, bytes, this.#position);
    this.#position += bytes.length;
  }

  async #open(): Promise<DiskFile> {
    try {
      return await this.#disk.open(this.#path, "create");
    } catch (error) {
      if (!isDiskError(error, "EEXIST")) throw error;
      return await this.#disk.open(this.#path, "update");
    }
  }
}

/** The last line may be torn, also within a character; what cannot be read ends it. */
function piecesOf(bytes: Uint8Array, seq: number): LivePiece[] {
  const pieces: LivePiece[] = [];
  let isHead = true;
  for (const line of wholeLines(bytes)) {
    const value = isUtf8(line) ? parse(utf8Text(line)) : undefined;
    if (isHead) {
      if ((value as { seq?: unknown } | null | undefined)?.seq !== seq) return [];
      isHead = false;
      continue;
    }
    const { part, text } = (value ?? {}) as Partial<LivePiece>;
    if ((part !== "text" && part !== "reasoning") || typeof text !== "string") break;
    pieces.push({ part, text });
  }
  return pieces;
}

function* wholeLines(bytes: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; ;) {
    const end = bytes.indexOf(0x0a, from);
    if (end === -1) return;
    yield bytes.subarray(from, end);
    from = end + 1;
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

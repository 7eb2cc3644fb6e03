import type { DiskFile } from "../host/index.ts";
import { BackChain } from "./back-chain.ts";
import type { ChainHead } from "./chain.ts";
import { advance } from "./chain.ts";
import type { Envelope } from "./line.ts";
import { formatVersion, lineBytesMax, raisesEpoch, readEnvelope } from "./line.ts";
import type { Remainder } from "./scan.ts";
import { classifyRemainder, isStill, readRemainder, startScan } from "./scan.ts";
import { TailLines } from "./tail-lines.ts";

/** An accepted line, met from behind; its bytes are valid until the next one is asked for. */
export interface WalkedLine {
  readonly envelope: Envelope;
  readonly bytes: Uint8Array;
  readonly offset: number;
}

/** A void line, met from behind: the number of a line is not known there. */
export interface WalkedVoid {
  readonly offset: number;
  readonly seq: number;
  readonly epoch: number;
}

/** What to walk over. */
export interface WalkOptions {
  readonly file: DiskFile;
  readonly session: string;
  /** The sum of what precedes line 0; absent where nobody needs to know. */
  readonly before?: string | undefined;
  /** The file is read as if it ended here. */
  readonly end: number;
  /** The head at `end`, where something else than the file names it. */
  readonly expected?: Pick<ChainHead, "seq" | "sum"> | undefined;
  /** Where the void lines stand, once a forward reading has found out. */
  readonly voidOffsets?: ReadonlySet<number> | undefined;
  /** Size of the first read. */
  readonly chunkBytes: number;
  /** The bytes of the whole file, up to `end`, where they are read already. */
  readonly whole?: Buffer | undefined;
}

/** Walks over the accepted lines of one file from its end to its start. */
export class BackwardWalk {
  readonly #options: WalkOptions;
  readonly #lines: TailLines;
  readonly #chain: BackChain;
  readonly #voids: WalkedVoid[] = [];
  /** The head, not yet confirmed: a copy. */
  #held: WalkedLine | undefined;
  /** Read already, to be returned next. */
  #waiting: WalkedLine | undefined;
  #goodEnd: number | undefined;
  #head: ChainHead | undefined;

  constructor(options: WalkOptions) {
    const { file, end, chunkBytes, expected, whole } = options;
    this.#options = options;
    this.#lines = new TailLines(file, end, chunkBytes, whole);
    this.#chain = new BackChain(expected);
  }

  /** True where every void line met so far has found its place. */
  get isSettled(): boolean {
    return this.#chain.isSettled;
  }

  /** The void lines met so far, newest first. */
  get voids(): readonly WalkedVoid[] {
    return this.#voids;
  }

  /** The newest accepted line, once it is returned. */
  get head(): ChainHead | undefined {
    return this.#head;
  }

  /** Where the newest accepted or void line ends, once there is one. */
  get goodEnd(): number | undefined {
    return this.#goodEnd;
  }

  /**
   * The accepted line before the last one; "start" before line 0, when all void lines have found their place;
   * "undecided" where only a forward reading can tell, or the file changed meanwhile.
   */
  async next(): Promise<WalkedLine | "start" | "undecided"> {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) return waiting;
    for (;;) {
      const piece = await this.#lines.next();
      if (piece === undefined) return this.#finish();
      const envelope = readEnvelope(piece.bytes);
      if (envelope === undefined) {
        if (this.#goodEnd !== undefined || this.#options.end - piece.offset > lineBytesMax)
          return "undecided";
        continue;
      }
      if (envelope.v !== formatVersion || envelope.ses !== this.#options.session) return "undecided";
      this.#goodEnd ??= piece.offset + piece.bytes.length;
      const line = { envelope, ...piece };
      switch (this.#judge(line)) {
        case "undecided":
          return "undecided";
        case "void":
          this.#noteVoid(line);
          break;
        case "head":
          if (this.#held !== undefined) this.#noteVoid(this.#held);
          // A copy, where there is a next read: a Buffer's own slice would be a view of bytes that it replaces.
          this.#held =
            this.#options.whole === undefined ? { ...line, bytes: new Uint8Array(piece.bytes) } : line;
          break;
        case "accepted":
          return this.#release(line);
      }
    }
  }

  #judge(line: WalkedLine) {
    const { voidOffsets } = this.#options;
    if (voidOffsets === undefined) {
      return this.#chain.take({ ...line.envelope, raises: raisesEpoch(line.bytes, line.envelope) });
    }
    if (voidOffsets.has(line.offset)) return "void";
    const verdict = this.#chain.take({ ...line.envelope, raises: raisesEpoch(line.bytes, line.envelope) });
    return verdict === "void" || (this.#held !== undefined && verdict === "head") ? "undecided" : verdict;
  }

  /** The head comes first, since it is confirmed now. */
  #release(line: WalkedLine): WalkedLine {
    const held = this.#held;
    if (held === undefined) return line;
    this.#held = undefined;
    this.#head = advance(held.envelope);
    this.#waiting = line;
    return held;
  }

  #finish(): WalkedLine | "start" | "undecided" {
    if (this.#lines.position !== 0 || !this.#chain.closes(this.#options.before)) return "undecided";
    const held = this.#held;
    if (held === undefined) return "start";
    this.#held = undefined;
    this.#head = advance(held.envelope);
    return held;
  }

  #noteVoid({ envelope, offset }: WalkedLine): void {
    this.#voids.push({ offset, seq: envelope.seq, epoch: envelope.epoch });
  }
}

/**
 * What stands after the newest line of a log, once a walk is settled: "undecided" where only a forward reading can
 * tell, "again" where the file changes: a write was in flight.
 */
export async function readWalkRemainder(
  file: DiskFile,
  { goodEnd, head }: Pick<BackwardWalk, "goodEnd" | "head">,
  { session, end }: { session: string; end: number },
): Promise<Remainder | "undecided" | "again"> {
  if (goodEnd === undefined || head === undefined) return "undecided";
  if (goodEnd === end) return { state: "none" };
  const bytes = await readRemainder(file, goodEnd, end);
  const isAsItWas = await isStill(file, goodEnd, bytes, Number.MAX_SAFE_INTEGER);
  if (!isAsItWas || bytes.length !== end - goodEnd) return "again";
  const remainder = classifyRemainder(bytes, { ...startScan(session, head.sum), head, end: goodEnd });
  return remainder.state === "damaged" ? "undecided" : remainder;
}

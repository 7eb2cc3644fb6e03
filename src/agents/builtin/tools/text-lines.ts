/** Text files as lines, read in pieces: a line of any length costs only what is kept of it. */
import type { DiskFile } from "../../../host/index.ts";
import { piecesOf } from "./file-bytes.ts";

/** One line, without its ending. */
export interface Line {
  /** Its text, cut where it is longer than was asked for. */
  readonly text: string;
  /** Its real length in UTF-16 units. */
  readonly length: number;
  readonly ending: "lf" | "crlf" | "none";
}

/** Why a file cannot be read as text. */
export type NotText = "binary" | "not_utf8";

/** How lines are read. */
export interface LineOptions {
  /** UTF-16 units that are kept of a line. */
  readonly lineLengthMax: number;
  /** Refuse bytes that are not UTF-8, else show them as U+FFFD. */
  readonly strict: boolean;
}

/** Thrown by {@link readLines} at the first piece that is no text. */
export class NotTextError extends Error {
  override readonly name = "NotTextError";
  readonly why: NotText;
  constructor(why: NotText) {
    super(why);
    this.why = why;
  }
}

/** The lines of an open file, as many at once as a piece completes. A byte order mark is not shown. */
export async function* readLines(file: DiskFile, options: LineOptions): AsyncGenerator<Line[]> {
  const decoder = new TextDecoder("utf-8", { fatal: options.strict });
  const splitter = startSplitter(options.lineLengthMax);
  for await (const piece of piecesOf(file)) {
    if (piece.includes(0)) throw new NotTextError("binary");
    yield splitter.push(decode(decoder, piece));
  }
  const rest = splitter.push(decode(decoder));
  yield [...rest, ...splitter.end()];
}

function decode(decoder: InstanceType<typeof TextDecoder>, piece?: Uint8Array): string {
  try {
    return piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true });
  } catch (error) {
    if (error instanceof TypeError) throw new NotTextError("not_utf8");
    throw error;
  }
}

interface Splitter {
  push(text: string): Line[];
  end(): Line[];
}

function startSplitter(lineLengthMax: number): Splitter {
  let held = "";
  let length = 0;
  let endsInReturn = false;
  const take = (text: string): void => {
    if (text === "") return;
    length += text.length;
    endsInReturn = text.endsWith("\r");
    if (held.length <= lineLengthMax) held += text.slice(0, lineLengthMax + 1 - held.length);
  };
  const finish = (ending: "lf" | "none"): Line => {
    const isCrlf = ending === "lf" && endsInReturn;
    const real = isCrlf ? length - 1 : length;
    const line: Line = {
      text: held.slice(0, Math.min(real, lineLengthMax)),
      length: real,
      ending: isCrlf ? "crlf" : ending,
    };
    held = "";
    length = 0;
    endsInReturn = false;
    return line;
  };
  return {
    push(text) {
      const lines: Line[] = [];
      let from = 0;
      for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
        take(text.slice(from, at));
        lines.push(finish("lf"));
        from = at + 1;
      }
      take(text.slice(from));
      return lines;
    },
    end: () => (length > 0 ? [finish("none")] : []),
  };
}

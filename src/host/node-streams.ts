import { fstatSync, writeSync } from "node:fs";
import type { OutputStream } from "./streams.ts";
import { StreamError } from "./streams.ts";

/** How a standard stream is written. */
export interface OutputOptions {
  /**
   * True where this process has more to do than to write: a reader that stops reading then holds up nothing else. False
   * for what only answers, which is sooner done without the stream of Node, and may be held up.
   */
  readonly isBusy: boolean;
}

/**
 * A standard stream. A file, and for what only answers a pipe too, is written at once: the stream of Node costs more
 * than a short command. It is opened for a terminal, and where the reader makes us wait.
 */
export function nodeOutput(descriptor: 1 | 2, { isBusy }: OutputOptions): OutputStream {
  let stream = isWrittenAtOnce(descriptor, isBusy) ? undefined : openStream(descriptor);
  return {
    isTerminal: stream?.isTTY === true,
    get columns() {
      return stream?.columns ?? 80;
    },
    async write(text) {
      let rest: string | Uint8Array = text;
      if (stream === undefined) {
        rest = writeAtOnce(descriptor, Buffer.from(text));
        if (rest.length === 0) return;
        stream = openStream(descriptor);
      }
      await writeToStream(stream, rest);
    },
  };
}

/** All of standard input; rejects with a RangeError where it has more than `bytesMax`. */
export async function readNodeInput(bytesMax: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bytesMax) throw new RangeError(`standard input is longer than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A terminal, or whatever else is no pipe and no file, is not; nor is what cannot be told. */
function isWrittenAtOnce(descriptor: number, isBusy: boolean): boolean {
  try {
    const kind = fstatSync(descriptor);
    return kind.isFile() || (!isBusy && (kind.isFIFO() || kind.isSocket()));
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}

/** Writes what can be written without waiting; returns what could not. */
function writeAtOnce(descriptor: number, bytes: Uint8Array): Uint8Array {
  let rest = bytes;
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
    return rest;
  } catch (error) {
    if (codeOf(error) === "EAGAIN") return rest;
    if (codeOf(error) === "EPIPE") return new Uint8Array();
    throw new StreamError(codeOf(error), error);
  }
}

function openStream(descriptor: 1 | 2): NodeJS.WriteStream {
  const stream = descriptor === 1 ? process.stdout : process.stderr;
  // Each write is told of its own failure.
  stream.on("error", () => undefined);
  return stream;
}

async function writeToStream(stream: NodeJS.WriteStream, text: string | Uint8Array): Promise<void> {
  await new Promise<void>((done, fail) => {
    stream.write(text, (error) => {
      // A reader that closed the pipe wants no more: that is no fault of ours.
      if (error === null || error === undefined || codeOf(error) === "EPIPE") done();
      else fail(new StreamError(codeOf(error), error));
    });
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}

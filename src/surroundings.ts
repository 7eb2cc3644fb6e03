import { fstatSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import envPaths from "env-paths";
import type { LightOutside, OutputStream } from "./cli/index.ts";
import { HoldfastError } from "./model/errors.ts";
import { nodeClock, nodeDisk, nodeLocks } from "./host/index.ts";
import { SessionIndex } from "./store/index.ts";

/** What this process stands in: its streams, its directory, its environment. Small enough to be there at once. */
export function lightOutside(environment: NodeJS.ProcessEnv): LightOutside {
  const host = { disk: nodeDisk(), locks: nodeLocks(), clock: nodeClock() };
  return {
    host,
    stateDirectory: stateDirectoryOf(environment),
    currentDirectory: currentDirectory(environment),
    stdout: outputStream(1),
    stderr: outputStream(2),
    mayColour: (environment["NO_COLOR"] ?? "") === "",
    debug: (environment["HOLDFAST_DEBUG"] ?? "") !== "",
    openList: (stateDirectory) => ({ host, store: new SessionIndex(host, stateDirectory) }),
  };
}

function stateDirectoryOf(environment: NodeJS.ProcessEnv): string {
  const named = environment["HOLDFAST_STATE_DIR"] ?? "";
  return named === "" ? envPaths("holdfast", { suffix: "" }).data : resolve(named);
}

/**
 * A standard stream. Written at once as long as the system takes it, for the stream of Node costs more than a short
 * command; it is opened for a terminal, and where the reader makes us wait.
 */
function outputStream(descriptor: 1 | 2): OutputStream {
  let stream = isDevice(descriptor) ? openStream(descriptor) : undefined;
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

/** A terminal, or whatever else is no pipe and no file; true where that cannot be told. */
function isDevice(descriptor: number): boolean {
  try {
    const kind = fstatSync(descriptor);
    return !kind.isFile() && !kind.isFIFO() && !kind.isSocket();
  } catch (error) {
    if (error instanceof Error) return true;
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
    throw cannotWrite(error);
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
      else fail(cannotWrite(error));
    });
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}

function cannotWrite(cause: unknown): HoldfastError {
  return new HoldfastError("io_error", `the output cannot be written: ${codeOf(cause)}`, { cause });
}

/** Where we are; of a directory that was removed under us, the name that it had. */
function currentDirectory(environment: NodeJS.ProcessEnv): string {
  try {
    return process.cwd();
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    return environment["PWD"] ?? "/";
  }
}

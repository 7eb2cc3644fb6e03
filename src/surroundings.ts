import { fstatSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import envPaths from "env-paths";
import type { LightOutside, OutputStream } from "./cli/index.ts";
import { nodeClock, nodeDisk, nodeLocks } from "./host/index.ts";
import { SessionIndex } from "./store/index.ts";

/** What this process stands in: its streams, its directory, its environment. Small enough to be there at once. */
export function lightOutside(environment: NodeJS.ProcessEnv): LightOutside {
  const host = { disk: nodeDisk(), locks: nodeLocks(), clock: nodeClock() };
  return {
    host,
    stateDirectory: stateDirectoryOf(environment),
    currentDirectory: process.cwd(),
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
      const open = stream;
      await new Promise<void>((done) => void open.write(rest, () => done()));
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
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EAGAIN") return rest;
    if (code === "EPIPE") return new Uint8Array();
    throw error;
  }
}

function openStream(descriptor: 1 | 2): NodeJS.WriteStream {
  const stream = descriptor === 1 ? process.stdout : process.stderr;
  // A reader that closed the pipe wants no more: that is no fault of ours.
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
  return stream;
}

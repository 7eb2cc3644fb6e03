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
    stdout: outputStream(process.stdout),
    stderr: outputStream(process.stderr),
    mayColour: (environment["NO_COLOR"] ?? "") === "",
    debug: (environment["HOLDFAST_DEBUG"] ?? "") !== "",
    openList: (stateDirectory) => ({ host, store: new SessionIndex(host, stateDirectory) }),
  };
}

function stateDirectoryOf(environment: NodeJS.ProcessEnv): string {
  const named = environment["HOLDFAST_STATE_DIR"] ?? "";
  return named === "" ? envPaths("holdfast", { suffix: "" }).data : resolve(named);
}

function outputStream(stream: NodeJS.WriteStream): OutputStream {
  // A reader that closed the pipe wants no more: that is no fault of ours.
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
  return {
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.columns ?? 80;
    },
    write: (text) => new Promise((done) => void stream.write(text, () => done())),
  };
}

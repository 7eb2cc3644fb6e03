import { resolve } from "node:path";
import envPaths from "env-paths";
import type { LightOutside } from "./cli/index.ts";
import type { OutputOptions } from "./host/index.ts";
import { nodeClock, nodeDisk, nodeLocks, nodeOutput } from "./host/index.ts";
import { SessionIndex } from "./store/index.ts";

/** What this process stands in: its streams, its directory, its environment. Small enough to be there at once. */
export function lightOutside(environment: NodeJS.ProcessEnv, output: OutputOptions): LightOutside {
  const host = { disk: nodeDisk(), locks: nodeLocks(), clock: nodeClock() };
  return {
    host,
    stateDirectory: stateDirectoryOf(environment),
    currentDirectory: currentDirectory(environment),
    stdout: nodeOutput(1, output),
    stderr: nodeOutput(2, output),
    mayColour: (environment["NO_COLOR"] ?? "") === "",
    debug: (environment["HOLDFAST_DEBUG"] ?? "") !== "",
    openList: (stateDirectory) => ({ host, store: new SessionIndex(host, stateDirectory) }),
  };
}

function stateDirectoryOf(environment: NodeJS.ProcessEnv): string {
  const named = environment["HOLDFAST_STATE_DIR"] ?? "";
  return named === "" ? envPaths("holdfast", { suffix: "" }).data : resolve(named);
}

/** Where we are; of a directory that was removed under us, the name that it had. */
function currentDirectory(environment: NodeJS.ProcessEnv): string {
  try {
    return process.cwd();
  } catch (error) {
    const isGone = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (!isGone) throw error;
    return environment["PWD"] ?? "/";
  }
}

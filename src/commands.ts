import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import envPaths from "env-paths";
import type { Outside, OutputStream } from "./cli/index.ts";
import { runCommandLine } from "./cli/index.ts";
import { nodeHost } from "./host/index.ts";
import { openEngine } from "./open.ts";

/** The command line as it really is: standard streams, signals, environment. Sets the exit code when it is done. */
export async function main(version: string): Promise<void> {
  const environment = process.env;
  const host = nodeHost({ environment });
  const here = fileURLToPath(new URL(".", import.meta.url));
  const program = (name: string) => ({ file: process.execPath, args: [join(here, name)] });
  const outside: Outside = {
    version,
    host,
    stateDirectory: stateDirectoryOf(environment),
    currentDirectory: process.cwd(),
    temporaryDirectory: tmpdir(),
    stdout: outputStream(process.stdout),
    stderr: outputStream(process.stderr),
    mayColour: (environment["NO_COLOR"] ?? "") === "",
    debug: (environment["HOLDFAST_DEBUG"] ?? "") !== "",
    stdinIsTerminal: process.stdin.isTTY === true,
    readStdin,
    open: ({ stateDirectory, singleWriter }) =>
      openEngine({
        host,
        stateDirectory,
        singleWriter,
        environment,
        version,
        supervisorProgram: program("supervisor.cjs"),
      }),
    self: { ...program("main.cjs"), env: definedOf(environment) },
    onSignal,
    exit: (code) => process.exit(code),
  };
  process.exitCode = await runCommandLine(process.argv.slice(2), outside);
}

function stateDirectoryOf(environment: NodeJS.ProcessEnv): string {
  const named = environment["HOLDFAST_STATE_DIR"] ?? "";
  return named === "" ? envPaths("holdfast", { suffix: "" }).data : resolve(named);
}

function definedOf(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
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

async function readStdin(bytesMax: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bytesMax) throw new RangeError(`standard input is longer than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function onSignal(interrupted: (signal: string) => void): () => void {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, interrupted);
  return () => {
    for (const signal of signals) process.off(signal, interrupted);
  };
}

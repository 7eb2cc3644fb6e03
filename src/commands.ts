import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Outside } from "./cli/index.ts";
import { runCommandLine } from "./cli/index.ts";
import { nodeHost } from "./host/index.ts";
import { openEngine } from "./open.ts";
import { lightOutside } from "./surroundings.ts";

/** The command line as it really is: standard streams, signals, environment. Sets the exit code when it is done. */
export async function main(version: string): Promise<void> {
  const environment = process.env;
  const host = nodeHost({ environment });
  const here = fileURLToPath(new URL(".", import.meta.url));
  const program = (name: string) => ({ file: process.execPath, args: [join(here, name)] });
  const supervisorProgram = program("supervisor.cjs");
  const outside: Outside = {
    ...lightOutside(environment),
    version,
    host,
    temporaryDirectory: tmpdir(),
    stdinIsTerminal: process.stdin.isTTY === true,
    readStdin,
    open: (options) => openEngine({ host, ...options, environment, version, supervisorProgram }),
    self: { ...program("main.cjs"), env: definedOf(environment) },
    onSignal,
    exit: (code) => process.exit(code),
  };
  process.exitCode = await runCommandLine(process.argv.slice(2), outside);
}

function definedOf(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
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

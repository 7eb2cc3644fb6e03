import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { EndSignal, Outside } from "./cli/index.ts";
import { runCommandLine } from "./cli/index.ts";
import { nodeHost, openNodeKeys, outliveTerminal, readNodeInput } from "./host/index.ts";
import { openEngine } from "./open.ts";
import { lightOutside } from "./surroundings.ts";

/** The command line as it really is: standard streams, signals, environment. Sets the exit code when it is done. */
export async function main(version: string): Promise<void> {
  outliveTerminal();
  const environment = process.env;
  const host = nodeHost({ environment });
  const here = fileURLToPath(new URL(".", import.meta.url));
  const program = (name: string) => ({ file: process.execPath, args: [join(here, name)] });
  const supervisorProgram = program("supervisor.cjs");
  const outside: Outside = {
    ...lightOutside(environment, { isBusy: true }),
    version,
    host,
    temporaryDirectory: tmpdir(),
    stdinIsTerminal: process.stdin.isTTY === true,
    readStdin: readNodeInput,
    openKeys: openNodeKeys,
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

function onSignal(told: (signal: EndSignal) => void): () => void {
  const listeners = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => {
    const listener = (): void => told(signal);
    process.on(signal, listener);
    return () => void process.off(signal, listener);
  });
  return () => listeners.forEach((stop) => stop());
}

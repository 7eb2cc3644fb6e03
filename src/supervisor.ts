import { parseArgs } from "node:util";
import { runSupervisor } from "./agents/builtin/exec/index.ts";
import { nodeHost } from "./host/index.ts";

/** The program of a session's supervisor: nothing secret in its arguments, nothing at all in its environment. */

const { values } = parseArgs({
  options: { session: { type: "string" }, socket: { type: "string" }, nonce: { type: "string" } },
});
const { session, socket, nonce } = values;
if (session === undefined || socket === undefined || nonce === undefined) {
  throw new Error("The supervisor is started by Holdfast, with --session, --socket and --nonce.");
}

// A machine that goes down tells everybody at once: what our commands do about it is still to be recorded.
const ending = new AbortController();
process.on("SIGTERM", () => ending.abort());
for (const signal of ["SIGINT", "SIGHUP"] as const) process.on(signal, () => undefined);

runSupervisor(
  nodeHost(),
  { session, socket, nonce, report: (message) => process.stderr.write(`${message}\n`) },
  ending.signal,
).catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runSupervisor } from "../../src/agents/builtin/exec/index.ts";
import { nodeHost } from "../../src/host/index.ts";
import { changingHost } from "./changing-host.ts";
import { Changes, type Mishap } from "./mishap.ts";

/** A supervisor that something befalls at a change of a plan's choice. */
export interface RunSupervisorOptions {
  /** Where it says that it lives, by making `supervisor-<pid>`. */
  readonly folder: string;
  readonly lingerMs: number;
  readonly mishap?: Mishap;
}

const { values } = parseArgs({
  options: {
    options: { type: "string" },
    session: { type: "string" },
    socket: { type: "string" },
    nonce: { type: "string" },
  },
});
const { session = "", socket = "", nonce = "" } = values;
const { folder, lingerMs, mishap } = JSON.parse(values.options ?? "{}") as RunSupervisorOptions;
writeFileSync(join(folder, `supervisor-${process.pid}`), "");
const changes = new Changes(mishap);
const ending = new AbortController();
process.on("SIGTERM", () => ending.abort());
void runSupervisor(
  changingHost(nodeHost(), changes.before),
  { graceMs: 300, drainMs: 300, lingerMs, session, socket, nonce },
  ending.signal,
);

import type { Host } from "./host.ts";
import { nodeClock } from "./node-clock.ts";
import { nodeDisk } from "./node-disk.ts";
import { nodeIds } from "./node-ids.ts";
import { nodeLocks } from "./node-locks.ts";
import { nodeProcesses } from "./node-processes.ts";
import { nodeSockets } from "./node-sockets.ts";

/** What the host takes from outside. */
export interface NodeHostOptions {
  /** The process's environment; only XDG_RUNTIME_DIR is read. Without it sockets live under /tmp. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** The outside as it really is. Opens and starts nothing by itself; the lock package is loaded at the first lock. */
export function nodeHost({ environment = {} }: NodeHostOptions = {}): Host {
  return {
    disk: nodeDisk(),
    locks: nodeLocks(),
    clock: nodeClock(),
    ids: nodeIds(),
    processes: nodeProcesses(),
    sockets: nodeSockets(environment["XDG_RUNTIME_DIR"]),
    fetch: (input, init) => globalThis.fetch(input, init),
  };
}

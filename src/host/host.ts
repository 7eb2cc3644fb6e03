import type { Clock } from "./clock.ts";
import type { Disk } from "./disk.ts";
import type { Ids } from "./ids.ts";
import type { Locks } from "./locks.ts";
import type { Processes } from "./processes.ts";
import type { Sockets } from "./sockets.ts";

/** Everything outside the program. All effects on the world go through these, so that tests can count and cut them. */
export interface Host {
  readonly disk: Disk;
  readonly locks: Locks;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly processes: Processes;
  readonly sockets: Sockets;
  /** HTTP, as the web's `fetch`. */
  readonly fetch: typeof fetch;
}

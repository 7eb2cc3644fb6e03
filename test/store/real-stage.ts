import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Host, nodeHost } from "../../src/host/index.ts";
import { Actor, Oracle } from "./actor.ts";
import type { Stage } from "./go-on.ts";

/** A state directory on the real disk. Its actors share this process; for more there are peers. */
export class RealStage implements Stage {
  readonly oracle: Oracle;
  readonly directory: string;

  constructor(directory: string, oracle = new Oracle()) {
    this.directory = directory;
    this.oracle = oracle;
  }

  actor(_name: string, change: (host: Host) => Host = (host) => host): Actor {
    return new Actor(change(nodeHost()), { directory: this.directory, oracle: this.oracle });
  }

  /** A file of a session. */
  path(session: string, name: string): string {
    return join(this.directory, "sessions", session, name);
  }

  /** The same in a copy of the whole directory, as `cp -r` makes it. */
  copiedTo(directory: string): RealStage {
    cpSync(this.directory, directory, { recursive: true });
    return new RealStage(directory, this.oracle.copy());
  }
}

/**
 * A new directory under the system's one for temporary files, and what removes it; `inMemory` where there is a file
 * system in memory, for tests with hundreds of syncs that prove nothing about them.
 */
export function temporaryDirectory(options: { inMemory?: boolean } = {}): {
  path: string;
  remove: () => void;
} {
  const memory = "/dev/shm";
  const parent = options.inMemory === true && existsSync(memory) ? memory : tmpdir();
  const path = mkdtempSync(join(parent, "holdfast-store-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** A held session of two messages on a state directory of its own under `root`. */
export async function heldSession(root: string) {
  const stage = new RealStage(mkdtempSync(join(root, "state-")));
  const actor = stage.actor("before");
  const session = await actor.create();
  await actor.hold();
  await actor.say("one");
  await actor.say("two");
  return { stage, actor, session, log: stage.path(session, "log.jsonl") };
}

import type { HeldLock, Host } from "../host/index.ts";
import { isDiskError, isUtf8, utf8Bytes, utf8Text } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
import { readWhole } from "./files.ts";
import type { SessionFolder } from "./session-folder.ts";

/**
 * The lease: a kernel lock on `lease`, and one on `alive` for probes. Only a would-be holder touches `lease`, so that a
 * probe never takes it away from one. What the file says about its owner is for messages and decides nothing.
 */

const takeForMs = 250;
const appendForMs = 2000;
const pauseMs = 10;
const ownerBytesMax = 1024;

/** The locks of a holder. */
export interface Lease {
  readonly lock: HeldLock;
  readonly alive: HeldLock;
}

/** Takes the lease, trying for 250 ms. Rejects `busy`, naming the owner, or `deleted`. */
export async function takeLease(host: Host, folder: SessionFolder): Promise<Lease> {
  const lock = await retry(host, takeForMs, () => host.locks.tryLock(folder.lease));
  if (lock === undefined) throw await busy(host, folder);
  try {
    await refuseDeleted(host, folder);
    await writeOwner(host, folder);
    // A probe shares it for a moment, again and again where somebody lists in a loop.
    const alive = await retry(host, appendForMs, () => host.locks.tryLock(folder.alive));
    if (alive === undefined) throw await busy(host, folder);
    return { lock, alive };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Lets go of the lease. */
export async function releaseLease(lease: Lease): Promise<void> {
  await lease.alive.release();
  await lease.lock.release();
}

/** True where somebody holds the session. Reads only; never touches `lease`, never creates a file. */
export async function isHeld(host: Pick<Host, "locks">, folder: SessionFolder): Promise<boolean> {
  try {
    const probe = await host.locks.tryLock(folder.alive, { shared: true });
    if (probe === undefined) return true;
    await probe.release();
    return false;
  } catch (error) {
    if (isDiskError(error, "ENOENT", "EACCES", "EROFS")) return false;
    throw error;
  }
}

/** Takes the queue's append lock, waiting at most 2 s. Rejects `busy` or `deleted`. */
export async function takeAppendLock(host: Host, folder: SessionFolder): Promise<HeldLock> {
  const lock = await retry(host, appendForMs, () => host.locks.tryLock(folder.append));
  if (lock === undefined) {
    throw new HoldfastError("busy", `the queue of session ${folder.id} is being written by another process`, {
      hint: "Run the same command again.",
    });
  }
  try {
    await refuseDeleted(host, folder);
    return lock;
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function retry(
  host: Host,
  forMs: number,
  attempt: () => Promise<HeldLock | undefined>,
): Promise<HeldLock | undefined> {
  const until = host.clock.monotonicMs() + forMs;
  for (;;) {
    const lock = await attempt();
    if (lock !== undefined || host.clock.monotonicMs() >= until) return lock;
    await host.clock.sleep(pauseMs + ((host.ids.random(1)[0] ?? 0) % pauseMs));
  }
}

async function refuseDeleted(host: Host, folder: SessionFolder): Promise<void> {
  if ((await host.disk.statLink(folder.tombstone)) === undefined) return;
  throw new HoldfastError("deleted", `session ${folder.id} was deleted`);
}

async function writeOwner(host: Host, folder: SessionFolder): Promise<void> {
  const { pid, host: name } = host.processes.self;
  const text = JSON.stringify({ pid, host: name }).padEnd(255, " ");
  try {
    const file = await host.disk.open(folder.lease, "update");
    try {
      await file.write(utf8Bytes(`${text}\n`), 0);
    } finally {
      await file.close();
    }
  } catch (error) {
    // On a full disk the name is missing from a message; the lock holds all the same.
    if (!isDiskError(error)) throw error;
  }
}

async function busy(host: Host, folder: SessionFolder): Promise<HoldfastError> {
  const owner = await readOwner(host, folder);
  const who = owner === undefined ? "another process" : `process ${owner.pid} on ${owner.host}`;
  return new HoldfastError("busy", `session ${folder.id} is being run by ${who}`, {
    hint: "Wait for it to end, then run the same command again.",
  });
}

async function readOwner(
  host: Host,
  folder: SessionFolder,
): Promise<{ pid: number; host: string } | undefined> {
  const bytes = await readWhole(host.disk, folder.lease, ownerBytesMax);
  if (bytes === undefined || bytes.length === 0 || !isUtf8(bytes)) return undefined;
  try {
    return JSON.parse(utf8Text(bytes)) as { pid: number; host: string };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

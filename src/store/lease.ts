import { dirname } from "node:path";
import type { HeldLock, Host } from "../host/index.ts";
import { isDiskError, isUtf8, noLocks, utf8Bytes, utf8Text, readWhole } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
import type { SessionFolder } from "./session-folder.ts";
import { onStorage } from "./write-errors.ts";

/**
 * The lease: a kernel lock on `lease`, and one on `alive` for probes. Only a would-be holder touches `lease`, so that a
 * probe never takes it away from one. What the file says about its owner is for messages and decides nothing.
 */

const leaseForMs = 250;
/**
 * Longer than for the lease: whoever has that knows that nobody else holds the session, and waits only for those who
 * look at it to leave a gap. Beside two who look without a pause, on two busy processors, 250 ms were not enough.
 */
const aliveForMs = 2000;
/** How long an appender waits for the queue, its turn in this process included. */
export const appendForMs = 2000;
/** Between two attempts; short enough to find a gap between others that come and go. */
const pauseMs = 1;
const ownerBytesMax = 1024;
const ownerTextBytes = 255;

/** The locks of a holder. */
export interface Lease {
  readonly lock: HeldLock;
  readonly alive: HeldLock;
}

/** Takes the lease, trying for 250 ms. Rejects `busy`, naming the owner, `deleted`, `not_found` or a storage error. */
export async function takeLease(host: Host, folder: SessionFolder): Promise<Lease> {
  const now = () => host.clock.monotonicMs();
  const lock = await retry(host, now() + leaseForMs, () => tryLock(host, folder, folder.lease));
  if (lock === undefined) throw await busy(host, folder);
  try {
    await refuseDeleted(host, folder);
    await writeOwner(host, folder);
    const alive = await retry(host, now() + aliveForMs, () => tryLock(host, folder, folder.alive));
    if (alive === undefined) throw probed(folder);
    return { lock, alive };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Lets go of the lease. */
export async function releaseLease(lease: Lease): Promise<void> {
  try {
    await lease.alive.release();
  } finally {
    await lease.lock.release();
  }
}

/** True where somebody holds the session. Reads only; never touches `lease`, never creates a file. */
export async function isHeld(host: Pick<Host, "locks">, folder: SessionFolder): Promise<boolean> {
  try {
    const probe = await host.locks.tryLock(folder.alive, { shared: true });
    if (probe === undefined) return true;
    await probe.release();
    return false;
  } catch (error) {
    if (isDiskError(error, "ENOENT", "EACCES", "EROFS", noLocks)) return false;
    throw error;
  }
}

/**
 * Takes the queue's append lock, trying until `untilMs` on the monotonic clock and at least once. Rejects `busy`,
 * `not_found` or a storage error.
 */
export async function takeAppendLock(host: Host, folder: SessionFolder, untilMs: number): Promise<HeldLock> {
  const lock = await retry(host, untilMs, () => tryLock(host, folder, folder.append));
  if (lock !== undefined) return lock;
  throw new HoldfastError("busy", `the queue of session ${folder.id} is being written by another process`, {
    hint: "A process that is stopped or suspended may hold it. What was recorded before is intact.",
  });
}

/** True where the session is being deleted, or was. Asked under a lock, before anything is written. */
export async function isDeleted(host: Host, folder: SessionFolder): Promise<boolean> {
  return (await onStorage(folder.tombstone, () => host.disk.statLink(folder.tombstone))) !== undefined;
}

/** Rejects `deleted` where {@link isDeleted}. */
export async function refuseDeleted(host: Host, folder: SessionFolder): Promise<void> {
  if (await isDeleted(host, folder)) throw deleted(folder);
}

/** The typed error for a session that is being deleted, or was. */
export function deleted(folder: SessionFolder): HoldfastError {
  return new HoldfastError("deleted", `session ${folder.id} was deleted`);
}

/** Rejects `not_found`, or `deleted`, where the session has no folder. */
export async function requireFolder(host: Host, folder: SessionFolder): Promise<void> {
  const stat = await onStorage(folder.root, () => host.disk.stat(folder.root));
  if (stat?.kind === "directory") return;
  await refuseDeleted(host, folder);
  const directory = dirname(dirname(folder.root));
  throw new HoldfastError("not_found", `there is no session ${folder.id} in ${directory}`, {
    hint: "See which there are with: holdfast session list",
  });
}

async function tryLock(host: Host, folder: SessionFolder, path: string): Promise<HeldLock | undefined> {
  return await onStorage(path, async () => {
    try {
      return await host.locks.tryLock(path);
    } catch (error) {
      // The lock file is made where it is missing, so what is missing is the folder.
      if (isDiskError(error, "ENOENT", "ENOTDIR")) await requireFolder(host, folder);
      throw error;
    }
  });
}

async function retry(
  host: Host,
  untilMs: number,
  attempt: () => Promise<HeldLock | undefined>,
): Promise<HeldLock | undefined> {
  for (;;) {
    const lock = await attempt();
    if (lock !== undefined || host.clock.monotonicMs() >= untilMs) return lock;
    // Not in step with whoever comes and goes at a steady pace.
    await host.clock.sleep(pauseMs + ((host.ids.random(1)[0] ?? 0) % 2));
  }
}

async function writeOwner(host: Host, folder: SessionFolder): Promise<void> {
  const { pid, host: name } = host.processes.self;
  const text = JSON.stringify({ pid, host: name }).padEnd(ownerTextBytes, " ");
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

function probed(folder: SessionFolder): HoldfastError {
  return new HoldfastError("busy", `other processes look at session ${folder.id} without a pause`, {
    hint: "Run the same command again.",
  });
}

async function readOwner(
  host: Host,
  folder: SessionFolder,
): Promise<{ pid: number; host: string } | undefined> {
  try {
    const bytes = await readWhole(host.disk, folder.lease, ownerBytesMax);
    if (bytes === undefined || !isUtf8(bytes)) return undefined;
    const owner = JSON.parse(utf8Text(bytes)) as { pid?: unknown; host?: unknown } | null;
    if (typeof owner?.pid !== "number" || typeof owner.host !== "string") return undefined;
    return { pid: owner.pid, host: owner.host };
  } catch (error) {
    // It only names somebody; what cannot be read names nobody.
    if (error instanceof SyntaxError || isDiskError(error)) return undefined;
    throw error;
  }
}

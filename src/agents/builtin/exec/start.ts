import { isDiskError, type Disk, type DiskFile, type HeldLock, type Host } from "../../../host/index.ts";
import { linkClaim, readClaim, type StartClaim } from "./claim.ts";
import type { RefusalReason, Start } from "./messages.ts";
import { spoolFiles } from "./spool.ts";
import { allocateStatus } from "./status.ts";

/**
 * The supervisor's way to a claim: lock `alive`, allocate the status, open the output, link the claim. Killed before the
 * link, nothing was started and nothing will be; from the link on, only the status tells how it ended.
 */

/** What a supervisor needs of the outside. */
export type SupervisorHost = Pick<Host, "disk" | "locks" | "clock" | "ids" | "processes" | "sockets">;

/** A start that is ours alone. The claim's name is not yet durable. */
export interface TakenStart {
  readonly taken: true;
  readonly alive: HeldLock;
  readonly status: DiskFile;
  readonly output: DiskFile;
}

/** Why there is nothing to start here. */
export interface RefusedStart {
  readonly taken: false;
  readonly reason: RefusalReason;
  readonly message: string;
}

// A recovery that looks whether we live holds the lock for a moment.
const aliveTries = 40;
const aliveRetryMs = 50;

/** Takes the start, or leaves it to whoever has it. Never rejects; holds nothing where it refuses. */
export async function takeStart(
  host: SupervisorHost,
  request: Start,
  claim: StartClaim,
): Promise<TakenStart | RefusedStart> {
  let alive: HeldLock | undefined;
  try {
    alive = await lockAlive(host, request.spool);
    const opened = alive === undefined ? undefined : await openAndClaim(host, request.spool, claim);
    if (alive !== undefined && opened !== undefined) return { taken: true, alive, ...opened };
    await alive?.release();
    return { taken: false, reason: "claimed_elsewhere", message: "Somebody else has claimed it." };
  } catch (error) {
    await alive?.release();
    return { taken: false, reason: "spool", message: error instanceof Error ? error.message : String(error) };
  }
}

async function lockAlive({ locks, clock }: SupervisorHost, spool: string): Promise<HeldLock | undefined> {
  for (let tries = 1; ; tries++) {
    const lock = await locks.tryLock(spoolFiles(spool).alive);
    if (lock !== undefined || tries === aliveTries) return lock;
    await clock.sleep(aliveRetryMs);
  }
}

async function openAndClaim(
  { disk, ids }: SupervisorHost,
  spool: string,
  claim: StartClaim,
): Promise<{ status: DiskFile; output: DiskFile } | undefined> {
  // The status of a command that was claimed before must not be made blank again.
  if ((await readClaim(disk, spool)).state !== "absent") return undefined;
  const files: DiskFile[] = [];
  let isOurs = false;
  try {
    const status = await allocateStatus(disk, spool);
    files.push(status);
    const output = await openOutput(disk, spool);
    files.push(output);
    isOurs = await linkClaim(disk, spool, claim, Buffer.from(ids.random(8)).toString("hex"));
    return isOurs ? { status, output } : undefined;
  } finally {
    if (!isOurs) for (const file of files) await file.close();
  }
}

/** Empty: what an attempt that died before its claim left is not this command's. */
async function openOutput(disk: Disk, spool: string): Promise<DiskFile> {
  const path = spoolFiles(spool).output;
  try {
    return await disk.open(path, "create_append");
  } catch (error) {
    if (!isDiskError(error, "EEXIST")) throw error;
  }
  const file = await disk.open(path, "append");
  await file.truncate(0);
  return file;
}

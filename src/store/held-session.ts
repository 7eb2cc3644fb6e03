import { join } from "node:path";
import { type HoldfastError, isHoldfastError } from "../model/errors.ts";
import type { Fact } from "../model/facts.ts";
import type { Appended } from "./appender.ts";
import type { Blobs } from "./blobs.ts";
import type { Lease } from "./lease.ts";
import { releaseLease, takeLease } from "./lease.ts";
import { LiveFile } from "./live-file.ts";
import type { OpenOptions, Opening, RaisedEpoch, SessionPlace } from "./opening.ts";
import { logRecovery, raiseEpoch, readOpening, recordEnd } from "./opening.ts";
import { QueueFile } from "./queue-file.ts";
import { recoverTail } from "./tail-recovery.ts";
import { onStorage } from "./write-errors.ts";

/**
 * A session whose lease this process holds: the only appender of its log (A4). Taking it is
 *
 *     lease, alive → unsure? → strict read → head → tail recovery → epoch.raised
 *
 * and a clean end is `lease.released`, `head`, then the locks.
 */

/** Who takes the lease and what it wants to see. */
export interface TakeOptions extends OpenOptions {
  /** A person accepts that the log is shorter than it was known to be. */
  readonly acceptRollback: boolean;
  /**
   * Asked when the history was read, before anything of ours is written; rejects to leave every byte as it is.
   */
  accept?(): Promise<void>;
}

/** A session that this process may write. */
export interface HeldSession {
  readonly id: string;
  readonly epoch: number;
  readonly blobs: Blobs;
  readonly queue: QueueFile;
  /**
   * Appends one line to the log; see {@link Appender.append}. Facts that begin with a message which is there already
   * write nothing and resolve to the line that holds it; rejects `message_id_conflict` where any of its facts is another.
   */
  append(facts: readonly Fact[]): Promise<Appended>;
  /** Why nothing can be appended any more; undefined while it can. */
  readonly ended: HoldfastError | undefined;
  /** The pieces of the answer in flight. */
  readonly live: LiveFile;
  /** Where an operation keeps its spool, and the session its trash. */
  spool(operation: string): string;
  readonly trash: string;
  /**
   * Lets go in good order, if `mayLetGo` (asked under the append lock, the queue folded) says so; resolves to whether
   * it did. Not asked where the session is being deleted. A disk that does not take the good-bye takes nothing back:
   * the lease goes as at a death, still under the append lock. After a rejection the session is still held: `busy`
   * where the append lock cannot be had, `fenced`, `durability_unknown`, or the queue's failures.
   */
  release(mayLetGo: () => boolean): Promise<boolean>;
  /**
   * Lets go without a word and without the append lock, as a death would: whoever admitted a moment ago may have seen
   * a holder who does not see what he admitted. What he admitted waits for the next holder.
   */
  abandon(): Promise<void>;
}

/**
 * Takes the lease. Rejects `busy`, `deleted`, `log_damaged`, `rolled_back`, `durability_unknown` or a storage error.
 */
export async function holdSession(place: SessionPlace, options: TakeOptions): Promise<HeldSession> {
  const { host, folder, keeper } = place;
  const lease = await takeLease(host, folder);
  try {
    return await onStorage(folder.root, async () => {
      await keeper.refuseUnsure(await keeper.read(), "log");
      const opening = await readOpening(place, lease, options);
      await options.accept?.();
      const repaired = await recoverTail(logRecovery(opening));
      const facts = [...(repaired === undefined ? [] : [repaired]), ...opening.rollback];
      return heldSession(opening, await raiseEpoch(opening, facts));
    });
  } catch (error) {
    await releaseLease(lease);
    throw error;
  }
}

/** The session of whoever has raised its epoch. */
export function heldSession(
  { place, options, lease }: Opening,
  { appender, raised, epoch }: RaisedEpoch,
): HeldSession {
  const { host, folder, keeper, recoveryDirectory, turns } = place;
  const queue = new QueueFile({
    host,
    folder,
    keeper,
    recoveryDirectory,
    turns,
    visit: options.visitQueue,
    holder: { epoch, raised },
  });
  const live = new LiveFile(host.disk, folder.live);
  const append = (facts: readonly Fact[]) => appender.append(facts, { epoch, at: host.clock.now() });
  const letGo = async (): Promise<void> => {
    await quietly(async () => await recordEnd(keeper, await append([{ kind: "lease.released" }])));
    await closeAll(appender, lease);
  };
  return {
    id: folder.id,
    epoch,
    blobs: place.blobs,
    queue,
    live,
    append,
    get ended() {
      return appender.ended;
    },
    spool: (operation) => join(folder.spools, operation),
    trash: folder.trash,
    release: async (mayLetGo) => {
      const work = async ({ deleted }: { deleted: boolean }): Promise<boolean> => {
        if (!deleted && !mayLetGo()) return false;
        // Under the append lock: who admits after us must find nobody, or we would have seen what he admitted.
        await letGo();
        return true;
      };
      const released = await queue.transact(work, { evenDeleted: true });
      if (released) await Promise.all([queue.close(), live.close()]);
      return released;
    },
    abandon: async () => {
      try {
        await Promise.all([queue.close(), live.close()]);
      } finally {
        await closeAll(appender, lease);
      }
    },
  };
}

async function closeAll(appender: RaisedEpoch["appender"], lease: Lease): Promise<void> {
  try {
    await appender.close();
  } finally {
    await releaseLease(lease);
  }
}

/**
 * What was done is on record, and the next holder comes without a good-bye as well. But that it is unknown what is on
 * disk must be told: where the disk did not take the note either, nobody else will know.
 */
async function quietly(goodbye: () => Promise<void>): Promise<void> {
  try {
    await goodbye();
  } catch (error) {
    if (!isHoldfastError(error, "disk_full", "io_error")) throw error;
  }
}

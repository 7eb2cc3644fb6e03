import { dirname, join } from "node:path";
import type { Host } from "../host/index.ts";
import { isDiskError } from "../host/index.ts";
import type { EpochRaised, Fact, Repaired, RollbackAccepted, SessionMoved } from "../model/facts.ts";
import type { Appended } from "./appender.ts";
import { Appender } from "./appender.ts";
import type { Blobs } from "./blobs.ts";
import { findMessage } from "./find-message.ts";
import type { HeadRecord } from "./head-file.ts";
import type { HeadKeeper } from "./head-keeper.ts";
import { judgeEnd } from "./judge-end.ts";
import type { Lease } from "./lease.ts";
import { releaseLease, requireFolder, takeLease } from "./lease.ts";
import { QueueFile } from "./queue-file.ts";
import type { History, HistorySource, VisitCommit } from "./read-log.ts";
import { readStrictly, takeUnfinishedLine } from "./read-log.ts";
import type { VisitQueue } from "./read-queue.ts";
import { readQueue } from "./read-queue.ts";
import type { SessionFolder } from "./session-folder.ts";
import type { StoreIdentity } from "./state-directory.ts";
import { recoverTail } from "./tail-recovery.ts";
import type { AppendTurns } from "./turns.ts";
import { onStorage } from "./write-errors.ts";

/**
 * A session whose lease this process holds: the only appender of its log (A4). Taking it is
 *
 *     lease, alive → unsure? → strict read → head → tail recovery → epoch.raised
 *
 * and a clean end is `lease.released`, `head`, then the locks.
 */

/** Who takes the lease and what it wants to see. */
export interface TakeOptions {
  readonly identity: StoreIdentity;
  readonly version: string;
  /** A person accepts that the log is shorter than it was known to be. */
  readonly acceptRollback: boolean;
  /**
   * Asked when the history was read, before anything of ours is written; rejects to leave every byte as it is.
   */
  accept?(): Promise<void>;
  /** What `session repair` did just before, to be recorded in the first line. */
  readonly repaired?: readonly Repaired[];
  /** Where other processes reach this one. */
  readonly socket?: { readonly path: string; readonly nonce: string };
  /** Takes every line of the log, old and new, in order. */
  readonly visit: VisitCommit;
  /** Takes every line of the queue, whoever appended it. */
  readonly visitQueue: VisitQueue;
}

/** A session that this process may write. */
export interface HeldSession {
  readonly id: string;
  readonly epoch: number;
  readonly blobs: Blobs;
  readonly queue: QueueFile;
  /**
   * Appends one line to the log; see {@link Appender.append}. Facts that begin with a message which is there already
   * write nothing and resolve to the line that holds it; rejects `message_id_conflict` where its content is another.
   */
  append(facts: readonly Fact[]): Promise<Appended>;
  /** The sum of the accepted line `seq`; undefined beyond the head. */
  sumAt(seq: number): string | undefined;
  /** Where an operation keeps its spool, and the session its trash. */
  spool(operation: string): string;
  readonly trash: string;
  /**
   * Lets go in good order, if `mayLetGo` (asked under the append lock, the queue folded) says so; resolves to whether
   * it did. Not asked where the session is being deleted. After a rejection the session is still held.
   */
  release(mayLetGo: () => boolean): Promise<boolean>;
  /** Lets go without a word, as a death would. */
  abandon(): Promise<void>;
}

/** What is needed to open a session, found by the store. */
export interface SessionPlace {
  readonly host: Host;
  readonly folder: SessionFolder;
  readonly recoveryDirectory: string;
  readonly keeper: HeadKeeper;
  readonly turns: AppendTurns;
  readonly blobs: Blobs;
  source(): Promise<HistorySource>;
}

/**
 * Takes the lease. Rejects `not_found`, `busy`, `deleted`, `log_damaged`, `rolled_back`, `durability_unknown` or a
 * storage error.
 */
export async function holdSession(place: SessionPlace, options: TakeOptions): Promise<HeldSession> {
  const { host, folder } = place;
  await requireFolder(host, folder);
  const lease = await takeLease(host, folder);
  try {
    return await onStorage(folder.root, () => openHeld(place, options, lease));
  } catch (error) {
    await releaseLease(lease);
    throw error;
  }
}

interface Opening {
  readonly place: SessionPlace;
  readonly options: TakeOptions;
  readonly lease: Lease;
  readonly source: HistorySource;
  readonly history: History;
  readonly head: HeadRecord | undefined;
  readonly watched: Watched;
}

async function openHeld(place: SessionPlace, options: TakeOptions, lease: Lease): Promise<HeldSession> {
  const { host, folder, keeper } = place;
  const head = await keeper.read();
  await keeper.refuseUnsure(head, "log");
  const watched = watchHistory(options.visit);
  const source = await place.source();
  const history = await readStrictly(source, watched.visit);
  const { accepted } = watched;
  const { acceptRollback } = options;
  const rollback = await judgeEnd(host, { folder, history, head, accepted, acceptRollback });
  const { end } = history.scan;
  takeUnfinishedLine(source, history, watched.visit);
  await options.accept?.();
  const repaired = await recoverTail({
    host,
    session: folder.id,
    file: "log",
    path: folder.log,
    end,
    remainder: history.remainder,
    guard: lease.lock,
    unsure: keeper.unsureBytes("log"),
    recoveryDirectory: place.recoveryDirectory,
  });
  const repairs = [...(options.repaired ?? []), ...(repaired === undefined ? [] : [repaired])];
  const opening = { place, options, lease, source, history, head, watched };
  return await raiseEpoch(opening, [...repairs, ...rollback]);
}

/** Opens the log for append and writes the first line of a new epoch, with `facts` about what was found. */
async function raiseEpoch(opening: Opening, facts: readonly Fact[]): Promise<HeldSession> {
  const { place, options, lease, source, history, watched } = opening;
  const { host, folder, keeper } = place;
  // Whoever made the session may have died before its name was durable; a second line says that it is.
  if (history.scan.head.seq <= 0) await host.disk.syncDirectory(dirname(folder.root));
  const file = await host.disk.open(folder.log, "append");
  const epoch = (await highestEpoch(opening)) + 1;
  const appender = new Appender({
    disk: host.disk,
    file,
    scan: history.scan,
    rules: history.rules,
    guard: lease.lock,
    unsure: keeper.unsureBytes("log"),
    epoch: () => epoch,
    accepted: (commit, place) => watched.visit(commit, { own: true, ...place }) ?? undefined,
    find: (line) => onStorage(folder.log, () => findMessage(source, history.rules.messages, line)),
  });
  try {
    await appender.catchUp();
    const raised = epochRaised(host, options);
    const line = [raised, ...movedFact(watched.store(), options), ...facts];
    await appender.append(line, { epoch, at: host.clock.now() });
    if (facts.some((fact) => fact.kind === "rollback.accepted")) await recordEnd(keeper, appender);
    return heldSession({ place, options, lease, appender, raised, epoch });
  } catch (error) {
    await appender.close();
    throw error;
  }
}

/**
 * The queue and `head` count as well: a log that was rolled back knows a lower epoch than they do, and a holder below
 * the queue's would be taken for a stale one.
 */
async function highestEpoch({ place, history, head }: Opening): Promise<number> {
  const queue = await readQueue(place.host, place.folder, () => undefined);
  return Math.max(history.scan.head.epoch, queue.scan.head.epoch, head?.epoch ?? 0);
}

/** `head` is evidence: without it a clean end is as clean, and only a later rollback may go unnoticed. */
async function recordEnd(keeper: HeadKeeper, appender: Appender): Promise<void> {
  try {
    await keeper.recordEnd(appender.scan.head, appender.scan.end);
  } catch (error) {
    if (!isDiskError(error)) throw error;
  }
}

interface Watched {
  readonly visit: VisitCommit;
  store(): string | undefined;
  readonly accepted: RollbackAccepted[];
}

/** Follows which store held the session last, and which heads were accepted as gone. */
function watchHistory(visit: VisitCommit): Watched {
  let store: string | undefined;
  const accepted: RollbackAccepted[] = [];
  return {
    visit: (commit, position) => {
      for (const fact of commit.facts) {
        if (fact.kind === "epoch.raised") store = (fact as EpochRaised).store;
        else if (fact.kind === "rollback.accepted") accepted.push(fact as RollbackAccepted);
      }
      return visit(commit, position);
    },
    store: () => store,
    accepted,
  };
}

function epochRaised(host: Host, options: TakeOptions): EpochRaised {
  const { pid, host: name, bootId, startTime } = host.processes.self;
  const { store, device } = options.identity;
  const { version, socket } = options;
  // Never twice the same line: of two who take the lease at once, if locks fail them, only one may find its own.
  const nonce = socket?.nonce ?? Buffer.from(host.ids.random(16)).toString("hex");
  const where = { ...(socket && { socket: socket.path }), nonce };
  return { kind: "epoch.raised", store, device, host: name, bootId, pid, startTime, version, ...where };
}

/** A session that another store held last moves here. */
function movedFact(from: string | undefined, options: TakeOptions): SessionMoved[] {
  const to = options.identity.store;
  return from === undefined || from === to ? [] : [{ kind: "session.moved", from, to }];
}

function heldSession(context: {
  place: SessionPlace;
  options: TakeOptions;
  lease: Lease;
  appender: Appender;
  raised: EpochRaised;
  epoch: number;
}): HeldSession {
  const { place, options, lease, appender, raised, epoch } = context;
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
  const append = (facts: readonly Fact[]) => appender.append(facts, { epoch, at: host.clock.now() });
  const close = async () => {
    try {
      await queue.close();
      await appender.close();
    } finally {
      await releaseLease(lease);
    }
  };
  return {
    id: folder.id,
    epoch,
    blobs: place.blobs,
    queue,
    append,
    sumAt: (seq) => appender.scan.sums.at(seq),
    spool: (operation) => join(folder.spools, operation),
    trash: folder.trash,
    release: async (mayLetGo) => {
      const letGo = async ({ deleted }: { deleted: boolean }): Promise<boolean> => {
        if (!deleted && !mayLetGo()) return false;
        await append([{ kind: "lease.released" }]);
        await recordEnd(keeper, appender);
        await appender.close();
        // Before the append lock: who admits after us must find nobody, or we would have seen what he admitted.
        await releaseLease(lease);
        return true;
      };
      const released = await queue.transact(letGo, { evenDeleted: true });
      if (released) await queue.close();
      return released;
    },
    abandon: close,
  };
}

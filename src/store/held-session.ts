import { join } from "node:path";
import type { Host } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
import type {
  EpochRaised,
  Fact,
  OpaqueFact,
  Repaired,
  RollbackAccepted,
  SessionMoved,
} from "../model/facts.ts";
import type { Appended } from "./appender.ts";
import { Appender } from "./appender.ts";
import type { Blobs } from "./blobs.ts";
import type { HeadRecord } from "./head-file.ts";
import { judgeHead } from "./head-file.ts";
import { HeadKeeper } from "./head-keeper.ts";
import type { Lease } from "./lease.ts";
import { releaseLease, takeLease } from "./lease.ts";
import { QueueFile } from "./queue-file.ts";
import type { VisitQueue } from "./queue-file.ts";
import type { History, HistorySource, VisitCommit } from "./read-log.ts";
import { readStrictly } from "./read-log.ts";
import type { SessionFolder } from "./session-folder.ts";
import type { StoreIdentity } from "./state-directory.ts";
import { recoverTail } from "./tail-recovery.ts";

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
  /** Appends one line to the log; see {@link Appender.append}. */
  append(facts: readonly Fact[]): Promise<Appended>;
  /** The sum of the accepted line `seq`; undefined beyond the head. */
  sumAt(seq: number): string | undefined;
  /** Where an operation keeps its spool, and the session its trash. */
  spool(operation: string): string;
  readonly trash: string;
  /**
   * Lets go in good order, if `mayLetGo` (asked under the append lock, the queue folded) says so; resolves to whether
   * it did.
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
  readonly blobs: Blobs;
  source(): Promise<HistorySource>;
}

/** Takes the lease. Rejects `busy`, `deleted`, `log_damaged`, `rolled_back`, `durability_unknown` or a storage error. */
export async function holdSession(place: SessionPlace, options: TakeOptions): Promise<HeldSession> {
  const { host, folder } = place;
  const lease = await takeLease(host, folder);
  try {
    return await openHeld(place, options, lease);
  } catch (error) {
    await releaseLease(lease);
    throw error;
  }
}

async function openHeld(place: SessionPlace, options: TakeOptions, lease: Lease): Promise<HeldSession> {
  const { host, folder } = place;
  const keeper = new HeadKeeper(host, folder);
  const head = await keeper.read();
  await keeper.refuseUnsure(head, "log");
  const watched = watchStores(options.visit);
  const source = await place.source();
  const history = await readStrictly(source, watched.visit);
  const rollback = await judgeEnd({ place, history, head, accepted: watched.accepted, options });
  await options.accept?.();
  const guard = { path: lease.lock.path, inode: lease.lock.inode };
  const repaired = await recoverTail({
    disk: host.disk,
    ids: host.ids,
    session: folder.id,
    path: folder.log,
    end: history.scan.end,
    remainder: history.remainder,
    guard,
    recoveryDirectory: place.recoveryDirectory,
  });
  // A completed line is folded by the appender's first look, so the epoch is counted from there.
  const file = await host.disk.open(folder.log, "append");
  let epoch = Number.MAX_SAFE_INTEGER;
  const appender = new Appender({
    disk: host.disk,
    file,
    scan: history.scan,
    counters: history.counters,
    guard,
    epoch: () => epoch,
    noteUnsure: (size) => keeper.note("log", size),
    accepted: (commit, offset) => watched.visit(commit, { own: true, offset }),
  });
  try {
    await appender.catchUp();
    epoch = appender.scan.head.epoch + 1;
    const raised = epochRaised(host, options);
    const repairs = [...(options.repaired ?? []), ...(repaired === undefined ? [] : [repaired])];
    const facts = [raised, ...movedFact(watched.store(), options), ...repairs, ...rollback];
    await appender.append(facts, { epoch, at: host.clock.now() });
    if (rollback.length > 0) await keeper.recordEnd(appender.scan.head, appender.scan.end);
    return heldSession({ place, options, lease, appender, keeper, raised, epoch });
  } catch (error) {
    await appender.close();
    throw error;
  }
}

/** Follows which store held the session last, and which heads were accepted as gone. */
function watchStores(visit: VisitCommit): {
  visit: VisitCommit;
  store(): string | undefined;
  accepted: RollbackAccepted[];
} {
  let store: string | undefined;
  const accepted: RollbackAccepted[] = [];
  return {
    visit: (commit, position) => {
      for (const fact of commit.facts) {
        if (fact.kind === "epoch.raised") store = (fact as EpochRaised).store;
        else if (fact.kind === "rollback.accepted") accepted.push(fact as RollbackAccepted);
      }
      visit(commit, position);
    },
    store: () => store,
    accepted,
  };
}

/** Compares the log's end with `head`; resolves to the fact of a rollback that a person accepts here. */
async function judgeEnd(context: {
  place: SessionPlace;
  history: History;
  head: HeadRecord | undefined;
  accepted: readonly RollbackAccepted[];
  options: TakeOptions;
}): Promise<RollbackAccepted[]> {
  const { place, history, head, accepted, options } = context;
  const { folder, host } = place;
  const fileBytes = (await host.disk.stat(folder.log))?.size ?? 0;
  const { scan } = history;
  const log = { sumAt: (seq: number) => scan.sums.at(seq), lastSeq: scan.head.seq, fileBytes };
  const verdict = judgeHead(head, log, accepted);
  if (verdict === "good" || head === undefined) return [];
  if (verdict === "log_damaged") {
    throw new HoldfastError(
      "log_damaged",
      `${folder.log}: byte ${scan.end}: lines up to seq ${head.seq} were known`,
      {
        hint: `What is intact can be read: holdfast session show ${folder.id}`,
        at: { file: folder.log, line: scan.lines + 1, offset: scan.end },
      },
    );
  }
  if (options.acceptRollback) return [{ kind: "rollback.accepted", seq: head.seq, sum: head.sum }];
  throw new HoldfastError(
    "rolled_back",
    `the log of session ${folder.id} ends at seq ${scan.head.seq}, but seq ${head.seq} was known to be on disk`,
    {
      hint: `If the older state is meant, go on from it with: holdfast resume ${folder.id} --accept-rollback`,
    },
  );
}

function epochRaised(host: Host, options: TakeOptions): EpochRaised {
  const { pid, host: name, bootId, startTime } = host.processes.self;
  const { store, device } = options.identity;
  const socket = options.socket && { socket: options.socket.path, nonce: options.socket.nonce };
  const { version } = options;
  return { kind: "epoch.raised", store, device, host: name, bootId, pid, startTime, version, ...socket };
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
  keeper: HeadKeeper;
  raised: EpochRaised;
  epoch: number;
}): HeldSession {
  const { place, options, lease, appender, keeper, raised, epoch } = context;
  const { host, folder } = place;
  const queue = new QueueFile({
    host,
    folder,
    keeper,
    recoveryDirectory: place.recoveryDirectory,
    visit: options.visitQueue,
    holder: { epoch, raised },
  });
  const append = (facts: readonly (Fact | OpaqueFact)[]) =>
    appender.append(facts, { epoch, at: host.clock.now() });
  const close = async () => {
    await queue.close();
    await appender.close();
    await releaseLease(lease);
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
      const released = await queue.transact(async () => {
        if (!mayLetGo()) return false;
        await append([{ kind: "lease.released" }]);
        await keeper.recordEnd(appender.scan.head, appender.scan.end);
        await releaseLease(lease);
        return true;
      });
      if (released) {
        await queue.close();
        await appender.close();
      }
      return released;
    },
    abandon: close,
  };
}

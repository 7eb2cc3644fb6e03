import { dirname } from "node:path";
import type { Host } from "../host/index.ts";
import { isDiskError, randomHex } from "../host/index.ts";
import type { EpochRaised, Fact, RollbackAccepted, Row, SessionMoved } from "../model/facts.ts";
import type { Appended } from "./appender.ts";
import { Appender } from "./appender.ts";
import type { Blobs } from "./blobs.ts";
import { findMessage } from "./find-message.ts";
import type { HeadRecord } from "./head-file.ts";
import type { HeadKeeper } from "./head-keeper.ts";
import { judgeEnd } from "./judge-end.ts";
import type { Lease } from "./lease.ts";
import type { History, HistorySource, VisitCommit } from "./read-log.ts";
import { readStrictly, takeUnfinishedLine } from "./read-log.ts";
import type { VisitQueue } from "./read-queue.ts";
import { readQueue } from "./read-queue.ts";
import type { SessionFolder } from "./session-folder.ts";
import type { StoreIdentity } from "./state-directory.ts";
import type { TailRecovery } from "./tail-recovery.ts";
import type { AppendTurns } from "./turns.ts";
import { onStorage } from "./write-errors.ts";

/** How a session is opened for writing by whoever has its lease: read, judged, and its epoch raised. */

/** What a would-be holder wants to see, and says of itself. */
export interface OpenOptions {
  /** Version of the program. */
  readonly version: string;
  /** Takes every line of the log, old and new, in order; also one that only lacks its newline, before it is completed. */
  readonly visit: VisitCommit;
  /** Takes every line of the queue, whoever appended it. */
  readonly visitQueue: VisitQueue;
  /** The list row after these facts, which begin an epoch; undefined where they change nothing of it. */
  row?(facts: readonly Fact[]): Row | undefined;
}

/** What is needed to open a session, found by the store. */
export interface SessionPlace {
  readonly host: Host;
  readonly identity: StoreIdentity;
  readonly folder: SessionFolder;
  readonly recoveryDirectory: string;
  readonly keeper: HeadKeeper;
  readonly turns: AppendTurns;
  readonly blobs: Blobs;
  source(): Promise<HistorySource>;
}

/** A history as whoever takes the session reads and judges it. */
export interface JudgedHistory {
  readonly source: HistorySource;
  readonly history: History;
  readonly head: HeadRecord | undefined;
  /** Where the last whole line of the log ended: what stands behind it is to be recovered. */
  readonly end: number;
  /** The fact of a rollback that is accepted here. */
  readonly rollback: readonly RollbackAccepted[];
  readonly watched: Watched;
}

/** A session that was read strictly, under its lease, and found whole. */
export interface Opening extends JudgedHistory {
  readonly place: SessionPlace;
  readonly options: OpenOptions;
  readonly lease: Lease;
}

/** Reads a session whose lease is held. Writes nothing. Rejects damage, `rolled_back`, or with a DiskError. */
export async function readOpening(
  place: SessionPlace,
  lease: Lease,
  options: OpenOptions & { readonly acceptRollback: boolean },
): Promise<Opening> {
  return { place, options, lease, ...(await readJudged(place, options)) };
}

/** Reads a history strictly and compares its end with what was known of it. Rejects as {@link readOpening} does. */
export async function readJudged(
  { host, folder, keeper, source: find }: Pick<SessionPlace, "host" | "folder" | "keeper" | "source">,
  { visit, acceptRollback }: Pick<OpenOptions, "visit"> & { readonly acceptRollback: boolean },
): Promise<JudgedHistory> {
  const head = await keeper.read();
  const watched = watchHistory(visit, head?.seq);
  const source = await find();
  const history = await readStrictly(source, watched.visit);
  const { end } = history.scan;
  const rollback = await judgeEnd(host, {
    folder,
    history,
    head,
    headEnd: watched.headEnd(),
    accepted: watched.accepted,
    acceptRollback,
  });
  takeUnfinishedLine(source, history, watched.visit);
  return { source, history, head, end, rollback, watched };
}

/** What tail recovery needs to know of the log. */
export function logRecovery({ place, lease, history, end }: Opening): TailRecovery {
  const { host, folder, keeper, recoveryDirectory } = place;
  return {
    host,
    session: folder.id,
    file: "log",
    path: folder.log,
    end,
    remainder: history.remainder,
    guard: lease.lock,
    unsure: keeper.unsureBytes("log"),
    recoveryDirectory,
  };
}

/** The writer of a log, in an epoch that it has raised. */
export interface RaisedEpoch {
  readonly appender: Appender;
  readonly raised: EpochRaised;
  readonly epoch: number;
}

/** Opens the log for append and writes the first line of a new epoch, with `facts` about what was found. */
export async function raiseEpoch(opening: Opening, facts: readonly Fact[]): Promise<RaisedEpoch> {
  const { place, options, lease, source, history, watched } = opening;
  const { host, folder, keeper, identity } = place;
  // Whoever made the session may have died before its name was durable; a second line says that it is.
  if (history.scan.head.seq <= 0) await host.disk.syncDirectory(dirname(folder.root));
  const epoch = (await highestEpoch(opening)) + 1;
  const appender = new Appender({
    disk: host.disk,
    file: await host.disk.open(folder.log, "append"),
    scan: history.scan,
    rules: history.rules,
    guard: lease.lock,
    unsure: keeper.unsureBytes("log"),
    epoch: () => epoch,
    accepted: (commit, at) => watched.visit(commit, { own: true, ...at }) ?? undefined,
    find: (line) => onStorage(folder.log, () => findMessage(source, history.rules.messages, line)),
  });
  try {
    const raised = epochRaised(host, identity, options.version);
    const line = [raised, ...movedFact(watched.store(), identity), ...facts];
    const row = options.row?.(line);
    const appended = await appender.append(row === undefined ? line : [...line, row], {
      epoch,
      at: host.clock.now(),
    });
    if (facts.some((fact) => fact.kind === "rollback.accepted")) await recordEnd(keeper, appended);
    return { appender, raised, epoch };
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
export async function recordEnd(keeper: HeadKeeper, last: Appended): Promise<void> {
  try {
    await keeper.recordEnd(last.commit, last.end);
  } catch (error) {
    if (!isDiskError(error)) throw error;
  }
}

/** What is followed while a history is read, and after. */
export interface Watched {
  readonly visit: VisitCommit;
  /** The store that held the session last. */
  store(): string | undefined;
  /** Where the line ends that `head` names. */
  headEnd(): number | undefined;
  /** The heads that were accepted as gone. */
  readonly accepted: readonly RollbackAccepted[];
}

function watchHistory(visit: VisitCommit, headSeq: number | undefined): Watched {
  let store: string | undefined;
  let headEnd: number | undefined;
  const accepted: RollbackAccepted[] = [];
  return {
    visit: (commit, position) => {
      if (position.own && commit.seq === headSeq) headEnd = position.end;
      for (const fact of commit.facts) {
        if (fact.kind === "epoch.raised") store = (fact as EpochRaised).store;
        else if (fact.kind === "rollback.accepted") accepted.push(fact as RollbackAccepted);
      }
      return visit(commit, position);
    },
    store: () => store,
    headEnd: () => headEnd,
    accepted,
  };
}

function epochRaised(host: Host, { store, device }: StoreIdentity, version: string): EpochRaised {
  const { pid, host: name, bootId, startTime } = host.processes.self;
  // Never twice the same line: of two who take the lease at once, if locks fail them, only one may find its own.
  const nonce = randomHex(host.ids, 16);
  return { kind: "epoch.raised", store, device, host: name, bootId, pid, startTime, version, nonce };
}

/** A session that another store held last moves here. */
function movedFact(from: string | undefined, { store: to }: StoreIdentity): SessionMoved[] {
  return from === undefined || from === to ? [] : [{ kind: "session.moved", from, to }];
}

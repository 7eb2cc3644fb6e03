import { isDeepStrictEqual } from "node:util";
import { SessionFold } from "../../src/engine/worker.ts";
import { sha256 } from "../../src/host/index.ts";
import { canonicalJson } from "../../src/model/canonical-json.ts";
import type { Commit } from "../../src/model/commit.ts";
import { applyToQueue, emptyQueueState, openRequests, type QueueState } from "../../src/model/delivery.ts";
import { isHoldfastError } from "../../src/model/errors.ts";
import type { Row } from "../../src/model/facts.ts";
import type { SessionState } from "../../src/model/fold.ts";
import { openOperations, openRun } from "../../src/model/fold.ts";
import { timeOfId } from "../../src/model/ids.ts";
import { next } from "../../src/model/next-step.ts";
import { blobsOfPrompt, projectPrompt } from "../../src/model/projection.ts";
import { viewBranch, viewRow, viewRun } from "../../src/model/views.ts";
import { Store } from "../../src/store/index.ts";
import type { MemoryDisk } from "../crash/memory-disk.ts";
import { memoryHost } from "../crash/memory-host.ts";
import { LockTable, MemoryLocks } from "../crash/memory-locks.ts";
import { stateDirectory } from "./session-files.ts";

/** Why something is refused, and where. */
export interface Refusal {
  readonly code: string;
  readonly line?: number;
  readonly offset?: number;
}

/** What a build makes of a session's files: every build must make the same of them. */
export interface Opened {
  /** Set where a strict reading refuses the log. */
  readonly strict?: Refusal;
  /** Set where only whoever would hold the session is refused. */
  readonly holder?: Refusal;
  /** Set where reading the queue is refused. */
  readonly queue?: Refusal;
  /** Accepted lines, those of bases included, up to where the history is whole. */
  readonly lines: number;
  readonly voids: number;
  /** What stands behind the last line. */
  readonly remainder: "none" | "complete" | "torn" | "damaged";
  /** Absent where nothing of the log can be read. */
  readonly told?: {
    readonly rev: number;
    readonly msgs: number;
    readonly openUnknowns: number;
    /** Of the open run; `none` where no run is open. */
    readonly nextStep: string;
    readonly row: Row;
    /** How many deliveries are in which state, and how many requests nobody has answered. */
    readonly deliveries: Readonly<Record<string, number>>;
    readonly requests: number;
    /** SHA-256 of the canonical JSON of the conversation as a model is sent it, the views and the queue. */
    readonly projection: string;
  };
}

/** A store that reads a disk in memory. */
export function storeOn(disk: MemoryDisk): Store {
  const host = memoryHost({ disk, locks: new MemoryLocks(disk, new LockTable()) });
  return new Store(host, { directory: stateDirectory, singleWriter: false });
}

/** Opens a session on a disk in every way that only reads. */
export async function openSession(disk: MemoryDisk, session: string): Promise<Opened> {
  const store = storeOn(disk);
  const fold = new SessionFold(session);
  let last: Commit | undefined;
  let lines = 0;
  const { history, damage } = await store.readHistory(session, (commit) => {
    const fault = fold.take(commit);
    if (fault !== undefined) return fault;
    last = commit;
    lines++;
    return undefined;
  });
  const strict = await refusalOf(store.readStrictly(session, foldOf(session)));
  const holder = await refusalOf(store.readAsHolder(session, foldOf(session)));
  const queue = emptyQueueState();
  const queueRefused = await refusalOf(store.readQueue(session, (commit) => applyToQueue(queue, commit)));
  return {
    ...(strict !== undefined && { strict }),
    ...(holder !== undefined && !isDeepStrictEqual(holder, strict) && { holder }),
    ...(queueRefused !== undefined && { queue: queueRefused }),
    lines,
    voids: history.voids.length,
    remainder: damage === undefined ? history.remainder.state : "damaged",
    ...(last !== undefined && { told: await tell(store, { state: fold.state, last, queue }) }),
  };
}

function foldOf(session: string): (commit: Commit) => string | undefined {
  const fold = new SessionFold(session);
  return (commit) => fold.take(commit);
}

interface Folded {
  readonly state: SessionState;
  readonly last: Commit;
  readonly queue: QueueState;
}

async function tell(store: Store, { state, last, queue }: Folded): Promise<NonNullable<Opened["told"]>> {
  const deliveries: Record<string, number> = {};
  for (const { at } of queue.deliveries.values()) deliveries[at] = (deliveries[at] ?? 0) + 1;
  const { rev, msgs } = last;
  return {
    rev,
    msgs,
    openUnknowns: state.row.openUnknowns,
    nextStep: nextStepOf(state),
    row: state.row,
    deliveries,
    requests: openRequests(queue).length,
    projection: sha256(canonicalJson(await project(store, state, queue))),
  };
}

function nextStepOf(state: SessionState): string {
  const run = openRun(state);
  if (run === undefined) return "none";
  const holder = { epoch: state.epoch + 1, limits: {}, elapsedMs: 0, needsApproval: () => false };
  return next(run, openOperations(state), holder).do;
}

async function project(store: Store, state: SessionState, queue: QueueState): Promise<unknown> {
  const { id, row, created, at, messages } = state;
  const rest = { createdAt: timeOfId(id), updatedAt: at, active: false, messages: messages.length };
  const blobs = new Map<string, Uint8Array>();
  let missing: string | undefined;
  for (const reference of blobsOfPrompt(state)) {
    const found = await store
      .blobs(id)
      .get(reference)
      .catch((error: unknown) => codeOf(error));
    if (typeof found === "string") missing = `${reference.sha256}: ${found}`;
    else blobs.set(reference.sha256, found);
  }
  const bytes = (sha: string) => Buffer.from(blobs.get(sha) ?? []);
  const prompt =
    missing ??
    projectPrompt(state, {
      text: ({ sha256: sha }) => bytes(sha).toString(),
      base64: ({ sha256: sha }) => bytes(sha).toString("base64"),
    });
  return {
    prompt,
    row: viewRow(id, row, rest),
    branch: viewBranch(id, created, false),
    runs: [...state.runs.values()].map((run) => viewRun(state, run, false)),
    messages: messages.map(({ message, seq, at: saidAt }) => ({ message, seq, at: saidAt })),
    policy: state.policy,
    queue: {
      order: queue.order,
      deliveries: [...queue.deliveries.values()],
      requests: [...queue.requests.values()],
    },
  };
}

/** The code, line and offset that something is refused with; undefined where it is not. Other errors pass. */
export async function refusalOf(attempt: Promise<unknown>): Promise<Refusal | undefined> {
  try {
    await attempt;
    return undefined;
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    const { at } = error.details;
    return { code: error.code, ...(at !== undefined && { line: at.line, offset: at.offset }) };
  }
}

function codeOf(error: unknown): string {
  if (!isHoldfastError(error)) throw error;
  return error.code;
}

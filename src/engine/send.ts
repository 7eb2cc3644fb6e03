import { isDiskError } from "../host/index.ts";
import type { DeliveryState } from "../model/delivery.ts";
import { applyToQueue, emptyQueueState } from "../model/delivery.ts";
import { HoldfastError, isHoldfastError } from "../model/errors.ts";
import type { QueueHold } from "../model/queue-hold.ts";
import { blockedWords, judgeQueue, nextCommandOf } from "../model/queue-hold.ts";
import type { Submission } from "./admit.ts";
import { admit } from "./admit.ts";
import type { EngineContext } from "./context.ts";
import { readQueue } from "./read-queue.ts";
import { readSession } from "./read-session.ts";
import { refuseArchived, refuseByRow } from "./resume-verdict.ts";
import { refuseBlank } from "./run-task.ts";
import { SessionFold } from "./worker.ts";

/** A message for a session, from somebody who does not hold it. */
export interface SendRequest {
  /** A whole id, or an unambiguous part of one. */
  readonly selector: string;
  readonly text: string;
  /** Same key and text, same delivery: whoever does not know whether it arrived sends it again. */
  readonly key?: string;
}

/** What became of a message that was sent. */
export interface SendReport {
  session: string;
  /** Id of the delivery; durable. */
  delivery: string;
  /** How far it is. */
  state: DeliveryState["at"];
  /** True where a process holds the session: it has seen the message when it lets go. */
  live: boolean;
  /** True where that one works on a run: it takes the message when the run completes. */
  underWay: boolean;
  /** Why it is not taken, where it is not. */
  held?: QueueHold;
  /** The command that has it taken, where nobody is known to take it. */
  next?: string;
}

/**
 * Admits a message to a session's queue, once for each key. Wakes nobody: looks for a holder only when the line is
 * synced and the lock released, so that a holder who lets go meanwhile has either seen it or is found gone. Rejects
 * `usage`, `not_found`, `deleted`, `not_resumable`, `message_id_conflict`, and `log_damaged`, `queue_damaged` or another
 * storage error, having admitted nothing.
 */
export async function send(context: EngineContext, request: SendRequest): Promise<SendReport> {
  const { store } = context;
  refuseBlank(request.text);
  const submission: Submission = { text: request.text, source: "user", ...keyOf(request.key) };
  const session = await store.find(request.selector);
  const logSeq = await readLogEnd(context, session);
  const queue = emptyQueueState();
  const delivery = await store.appendToQueue(
    session,
    (commit) => applyToQueue(queue, commit),
    (transaction) => {
      const target = { session, queue, blobs: store.blobs(session), logSeq };
      return admit(context, target, transaction, submission);
    },
  );
  return await look(context, session, delivery);
}

const keyLengthMax = 200;

function keyOf(key: string | undefined): { idempotencyKey?: string } {
  if (key === undefined) return {};
  const isGood = key.trim() !== "" && key.length <= keyLengthMax && key.isWellFormed();
  if (isGood) return { idempotencyKey: key };
  const message = `the key is blank, longer than ${keyLengthMax} characters, or no text`;
  throw new HoldfastError("usage", message, { hint: "Leave it out where the message is sent once." });
}

/** Where the log ends, read as whoever takes the session would read it. Rejects where nobody may go on with it. */
async function readLogEnd({ store }: EngineContext, session: string): Promise<number> {
  const fold = new SessionFold(session);
  try {
    await store.readAsHolder(session, (commit) => fold.take(commit));
  } catch (error) {
    if (isHoldfastError(error)) await refuseArchived(store, session);
    throw error;
  }
  refuseByRow(session, fold.state.row);
  return fold.state.seq;
}

/** What the message meets. It is admitted whatever is found here, or cannot be found. */
async function look(context: EngineContext, session: string, delivery: string): Promise<SendReport> {
  try {
    const read = await readSession(context, session);
    const { state, active: live, resume } = read;
    const queue = await readQueue(context.store, session);
    const outlook = judgeQueue({ state, queue, live, resume });
    const { held, underWay } = outlook;
    const admitted = queue.deliveries.get(delivery);
    const at = admitted?.at ?? "admitted";
    const report = { session, delivery, state: at, live, underWay };
    if (admitted?.at === "blocked") {
      const next = `holdfast queue list ${session}`;
      return { ...report, held: { reason: "blocked", why: blockedWords(admitted), next }, next };
    }
    if (at !== "admitted" && at !== "claimed") return report;
    const next = nextCommandOf(session, outlook);
    return { ...report, ...(held !== undefined && { held }), ...(next !== undefined && { next }) };
  } catch (error) {
    if (!isHoldfastError(error) && !isDiskError(error)) throw error;
    const next = `holdfast resume ${session} --explain`;
    return { session, delivery, state: "admitted", live: false, underWay: false, next };
  }
}

import type { DeliveryState } from "../model/delivery.ts";
import { claimedDelivery, nextDelivery } from "../model/delivery.ts";
import { HoldfastError, isHoldfastError } from "../model/errors.ts";
import type { Message } from "../model/facts.ts";
import type { SessionState } from "../model/fold.ts";
import type { Discrepancy } from "../model/reconcile.ts";
import { findDiscrepancies } from "../model/reconcile.ts";
import type { Store } from "../store/index.ts";
import { storedText } from "./read-payload.ts";
import { readQueue } from "./read-queue.ts";
import type { Worker } from "./worker.ts";

/**
 * From the queue into the conversation, in separate durable steps:
 *
 *     X R delivery.claimed (queue) → X R message, run.created (log) → X R delivery.acknowledged (queue)
 *
 * The message carries the delivery's id, so after a death at any X the log tells what is missing, and nothing is
 * appended twice or lost.
 */

/**
 * Compares log and queue before anything is written. Rejects `queue_damaged` or `rolled_back` where they are not of one
 * past; resolves to what differs where a person accepts that.
 */
export async function compareWithQueue(
  store: Store,
  state: SessionState,
  acceptRollback: boolean,
): Promise<Discrepancy[]> {
  const found = findDiscrepancies(await readQueue(store, state.id), state);
  const [first] = found;
  if (first === undefined || acceptRollback) return found;
  const { delivery, older, what } = first;
  const hint = `If the older state is meant, go on with: holdfast resume ${state.id} --accept-rollback`;
  if (older === "log") {
    throw new HoldfastError("queue_damaged", `delivery ${delivery} ${what}, which the log lacks`, { hint });
  }
  const message = `delivery ${delivery} ${what} in the queue, but the log holds its message: the queue was put back`;
  throw new HoldfastError("rolled_back", message, { hint });
}

/** Finishes what a dead holder began, and records what becomes of deliveries where a rollback was accepted. */
export async function settleQueue(worker: Worker, accepted: readonly Discrepancy[]): Promise<void> {
  for (const { delivery, older } of accepted) {
    if (older === "queue") await acknowledgeAnew(worker, delivery);
    else await worker.appendToQueue([{ kind: "delivery.blocked", delivery, reason: "rolled_back" }]);
  }
  const claimed = claimedDelivery(worker.queue);
  if (claimed === undefined) return;
  const there = worker.state.deliveries.get(claimed.delivery);
  if (there !== undefined) return await acknowledge(worker, claimed, there);
  await worker.appendToQueue([{ kind: "delivery.released", delivery: claimed.delivery }]);
}

/** Takes the next delivery into the conversation as a run; resolves to the run's id, or undefined where none waits. */
export async function deliverNext(worker: Worker): Promise<string | undefined> {
  for (;;) {
    const delivery = nextDelivery(worker.queue);
    if (delivery === undefined) return undefined;
    const run = worker.id("run");
    const message = await messageOf(worker, delivery, run);
    const { delivery: id } = delivery;
    if (typeof message === "string") {
      await worker.appendToQueue([{ kind: "delivery.blocked", delivery: id, reason: message }]);
      continue;
    }
    await worker.appendToQueue([{ kind: "delivery.claimed", delivery: id, logSeq: worker.state.seq }]);
    const { seq, sum } = await worker.commit([message, { kind: "run.created", run, message: message.id }]);
    await acknowledge(worker, delivery, { seq, sum });
    return run;
  }
}

/** The message of a delivery; or why there is none and will be none, however often it is tried. */
async function messageOf(worker: Worker, delivery: DeliveryState, run: string): Promise<Message | string> {
  const { delivery: id, admittedAt, original } = delivery;
  let whole: string;
  try {
    whole = await storedText(worker.held.blobs, delivery);
  } catch (error) {
    if (!isHoldfastError(error, "log_damaged")) throw error;
    return `its text cannot be read: ${error.message}`;
  }
  const stored = await worker.payloads().text(whole);
  const part = { type: "text" as const, ...stored, ...(original !== undefined && { original }) };
  return {
    kind: "message",
    id: worker.id("msg"),
    role: "user",
    parts: [part],
    run,
    delivery: id,
    admittedAt,
  };
}

async function acknowledge(
  worker: Worker,
  delivery: DeliveryState,
  position: { seq: number; sum: string },
): Promise<void> {
  const { seq, sum } = position;
  await worker.appendToQueue([
    { kind: "delivery.acknowledged", delivery: delivery.delivery, logSeq: seq, sum },
  ]);
}

/** A queue that was put back learns again what the log has: nothing is delivered a second time. */
async function acknowledgeAnew(worker: Worker, delivery: string): Promise<void> {
  const there = worker.state.deliveries.get(delivery);
  if (there === undefined) return;
  const { seq, sum } = there;
  const blocked = worker.queue.deliveries.get(delivery)?.at === "blocked";
  await worker.appendToQueue([
    ...(blocked ? [{ kind: "delivery.unblocked", delivery, by: "rollback" } as const] : []),
    { kind: "delivery.claimed", delivery, logSeq: worker.state.seq },
    { kind: "delivery.acknowledged", delivery, logSeq: seq, sum },
  ]);
}

import { utf8Text } from "../host/index.ts";
import type { DeliveryState } from "../model/delivery.ts";
import { claimedDelivery, nextDelivery } from "../model/delivery.ts";
import { HoldfastError } from "../model/errors.ts";
import type { Fact, Message } from "../model/facts.ts";
import type { Worker } from "./worker.ts";
import { PayloadWriter } from "./payloads.ts";

/**
 * From the queue into the conversation, in separate durable steps:
 *
 *     X R delivery.claimed (queue) → X R message, run.created (log) → X R delivery.acknowledged (queue)
 *
 * The message carries the delivery's id, so after a death at any X the log tells what is missing, and nothing is
 * appended twice or lost.
 */

/** Finishes what a dead holder began, and checks that the log has what the queue says it was given. */
export async function settleQueue(worker: Worker, acceptRollback: boolean): Promise<void> {
  await checkAcknowledged(worker, acceptRollback);
  const claimed = claimedDelivery(worker.queue);
  if (claimed === undefined) return;
  const there = worker.state.deliveries.get(claimed.delivery);
  if (there === undefined) {
    await appendToQueue(worker, [{ kind: "delivery.released", delivery: claimed.delivery }]);
    return;
  }
  await acknowledge(worker, claimed, there);
}

/** Takes the oldest delivery into the conversation as a run; resolves to the run's id, or undefined where none waits. */
export async function deliverNext(worker: Worker): Promise<string | undefined> {
  const delivery = nextDelivery(worker.queue);
  if (delivery === undefined) return undefined;
  const { delivery: id } = delivery;
  await appendToQueue(worker, [{ kind: "delivery.claimed", delivery: id, logSeq: worker.state.seq }]);
  const run = worker.id("run");
  const message = await messageOf(worker, delivery, run);
  const { seq, sum } = await worker.commit([message, { kind: "run.created", run, message: message.id }]);
  await acknowledge(worker, delivery, { seq, sum });
  return run;
}

async function messageOf(worker: Worker, delivery: DeliveryState, run: string): Promise<Message> {
  const { delivery: id, admittedAt, blob, text = "" } = delivery;
  const whole = blob === undefined ? text : utf8Text(await worker.held.blobs.get(blob));
  const { original: _, ...stored } = await new PayloadWriter(worker.held.blobs).text(whole);
  const parts: Message["parts"] = [{ type: "text", ...stored }];
  return { kind: "message", id: worker.id("msg"), role: "user", parts, run, delivery: id, admittedAt };
}

async function acknowledge(
  worker: Worker,
  delivery: DeliveryState,
  position: { seq: number; sum: string },
): Promise<void> {
  const { seq, sum } = position;
  await appendToQueue(worker, [
    { kind: "delivery.acknowledged", delivery: delivery.delivery, logSeq: seq, sum },
  ]);
}

/** An acknowledged message that the log lacks means that log and queue are not of one past. */
async function checkAcknowledged(worker: Worker, acceptRollback: boolean): Promise<void> {
  for (const delivery of worker.queue.deliveries.values()) {
    const position = delivery.at === "acknowledged" ? delivery.acknowledged : undefined;
    if (position === undefined || worker.held.sumAt(position.seq) === position.sum) continue;
    if (!acceptRollback) {
      const { delivery: id } = delivery;
      const { seq } = position;
      throw new HoldfastError(
        "queue_damaged",
        `delivery ${id} was acknowledged at seq ${seq}, which the log lacks`,
        {
          hint: `If the log was put back to an older state, go on with: holdfast resume ${worker.state.id} --accept-rollback`,
        },
      );
    }
    await appendToQueue(worker, [
      { kind: "delivery.blocked", delivery: delivery.delivery, reason: "rolled_back" },
    ]);
  }
}

async function appendToQueue(worker: Worker, facts: readonly Fact[]): Promise<void> {
  await worker.held.queue.transact((queue) => queue.append(facts));
}

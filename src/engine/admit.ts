import { utf8Text } from "../host/index.ts";
import type { DeliveryState, QueueState } from "../model/delivery.ts";
import { HoldfastError } from "../model/errors.ts";
import type { Fact } from "../model/facts.ts";
import { makeId } from "../model/ids.ts";
import type { Blobs, QueueTransaction } from "../store/index.ts";
import type { EngineContext } from "./context.ts";
import { PayloadWriter } from "./payloads.ts";

/** Admission: a message becomes durable in the queue, once for each idempotency key. */

/** A message that somebody sends. */
export interface Submission {
  readonly text: string;
  readonly source: "user" | "schedule" | "teammate" | "task";
  /** Same key, same delivery. A new one where absent. */
  readonly idempotencyKey?: string;
}

/** What stands in the queue of a message; `put` stores its payload where that is long. */
export async function admittedFact(
  context: EngineContext,
  put: Blobs["put"],
  submission: Submission & { readonly logSeq: number },
): Promise<Extract<Fact, { kind: "delivery.admitted" }>> {
  const { clock, ids } = context.host;
  const delivery = makeId("dlv", clock.now(), ids.random(10));
  const { idempotencyKey = delivery, logSeq, source } = submission;
  const redactor = await context.openRedactor();
  const redact = (text: string) => redactor.text(text);
  const { original, ...stored } = await new PayloadWriter({ blobs: { put }, redact }).text(submission.text);
  return {
    kind: "delivery.admitted",
    delivery,
    idempotencyKey,
    logSeq,
    source,
    ...stored,
    ...(original !== undefined && { original }),
    mode: "queue",
  };
}

/** Admits a message under the queue's append lock; resolves to the delivery's id, an old one where the key is known. */
export async function admit(
  context: EngineContext,
  target: { queue: QueueState; blobs: Blobs; logSeq: number },
  transaction: QueueTransaction,
  submission: Submission,
): Promise<string> {
  const { idempotencyKey } = submission;
  const known = [...target.queue.deliveries.values()].find(
    (one) => idempotencyKey !== undefined && one.idempotencyKey === idempotencyKey,
  );
  if (known !== undefined) {
    const redactor = await context.openRedactor();
    const text = redactor.text(submission.text).toWellFormed();
    return (await refuseOther(target.blobs, known, text)).delivery;
  }
  const put = (bytes: Uint8Array) => target.blobs.put(bytes);
  const fact = await admittedFact(context, put, { ...submission, logSeq: target.logSeq });
  await transaction.append([fact]);
  return fact.delivery;
}

/** The same key with another text is somebody else's message. */
async function refuseOther(blobs: Blobs, known: DeliveryState, stored: string): Promise<DeliveryState> {
  const text = known.blob === undefined ? (known.text ?? "") : utf8Text(await blobs.get(known.blob));
  if (text === stored) return known;
  throw new HoldfastError(
    "message_id_conflict",
    `delivery ${known.delivery} has the same key and another text`,
  );
}

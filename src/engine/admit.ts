import type { DeliveryState, QueueState } from "../model/delivery.ts";
import { HoldfastError } from "../model/errors.ts";
import type { Fact } from "../model/facts.ts";
import { makeId } from "../model/ids.ts";
import type { Blobs, QueueTransaction } from "../store/index.ts";
import type { EngineContext } from "./context.ts";
import { PayloadWriter } from "./payloads.ts";
import { storedText } from "./read-payload.ts";

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
  const { logSeq, source } = submission;
  const redactor = await context.openRedactor();
  const redact = (text: string) => redactor.text(text);
  const idempotencyKey = redact(submission.idempotencyKey ?? delivery);
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

/** The queue that a message goes to. */
export interface AdmissionTarget {
  readonly session: string;
  /** Folded to its end, under its append lock. */
  readonly queue: QueueState;
  readonly blobs: Blobs;
  /** Where the log ended when it was last looked at, or before. */
  readonly logSeq: number;
}

/** Admits a message under the queue's append lock; resolves to the delivery's id, an old one where the key is known. */
export async function admit(
  context: EngineContext,
  target: AdmissionTarget,
  transaction: QueueTransaction,
  submission: Submission,
): Promise<string> {
  const redactor = await context.openRedactor();
  const key = submission.idempotencyKey && redactor.text(submission.idempotencyKey);
  const known = [...target.queue.deliveries.values()].find((one) => one.idempotencyKey === key);
  if (known !== undefined) {
    await refuseOther(target, known, redactor.text(submission.text).toWellFormed());
    return known.delivery;
  }
  const put = (bytes: Uint8Array) => target.blobs.put(bytes);
  const fact = await admittedFact(context, put, { ...submission, logSeq: target.logSeq });
  await transaction.append([fact]);
  return fact.delivery;
}

/** The same key with another text is somebody else's message. */
async function refuseOther(
  { session, blobs }: AdmissionTarget,
  known: DeliveryState,
  stored: string,
): Promise<void> {
  if ((await storedText(blobs, known)) === stored) return;
  const message = `delivery ${known.delivery} has the same key and another text`;
  throw new HoldfastError("message_id_conflict", message, {
    hint: `Give this one another key. See what that one says with: holdfast queue list ${session} --all`,
  });
}

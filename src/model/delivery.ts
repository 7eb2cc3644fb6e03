import { faultOr, queueCorruption } from "./corruption.ts";
import type { Commit } from "./commit.ts";
import type { Fact } from "./facts.ts";
import { isKnownKind } from "./facts.ts";
import type { BlobRef, Json } from "./values.ts";

/**
 * The machine of a delivery, and the fold of the queue.
 *
 *     admitted → claimed → acknowledged          claimed → admitted (released: the log lacks its message)
 *     admitted → blocked → admitted              admitted | blocked → removed
 *
 * D1 Claim, append and acknowledge are separate durable steps; the message carries the delivery's id, so after any
 *    death the log tells whether it was appended.
 */

/** One message that waits, or waited. */
export interface DeliveryState {
  readonly at: "admitted" | "claimed" | "acknowledged" | "blocked" | "removed";
  readonly delivery: string;
  readonly idempotencyKey: string;
  readonly admittedAt: number;
  readonly source: string;
  readonly mode: "queue" | "interrupt";
  readonly text: string | undefined;
  readonly blob: BlobRef | undefined;
  /** The text as it came, where it was not well-formed. */
  readonly original: BlobRef | undefined;
  /** The log's seq at the last claim: its message is later than that. */
  readonly claimedSeq: number | undefined;
  /** Where its message stands. */
  readonly acknowledged: { readonly seq: number; readonly sum: string } | undefined;
  /** Why it is blocked. */
  readonly reason: string | undefined;
  /** Who allowed it to wake the session, and until when; absent where nobody did, or it may no more. */
  readonly authorisation: Json | undefined;
}

/** Somebody's request to the holder. */
export interface RequestState {
  readonly request: string;
  readonly verb: string;
  readonly args: Json;
  readonly by: string;
  readonly madeAt: number;
  /** What became of it, once its holder has said so. */
  readonly answer: RequestAnswer | undefined;
}

/** The holder's word about a request. */
export interface RequestAnswer {
  readonly ok: boolean;
  /** The error's code and message, where it was not done. */
  readonly code: string | undefined;
  readonly message: string | undefined;
}

/** The queue, as far as its lines tell. Deliveries stand in the order in which they go out. */
export interface QueueState {
  readonly deliveries: Map<string, DeliveryState>;
  readonly order: string[];
  /** The keys of all deliveries: each has its own. */
  readonly keys: Set<string>;
  readonly requests: Map<string, RequestState>;
}

/** A queue without lines. */
export function emptyQueueState(): QueueState {
  return { deliveries: new Map(), order: [], keys: new Set(), requests: new Map() };
}

/** Takes one line of the queue in. Where it says something impossible it returns why, as words; the state is then void. */
export function applyToQueue(queue: QueueState, commit: Commit): string | undefined {
  const taken = faultOr(() => {
    for (const fact of commit.facts) {
      if (isKnownKind(fact.kind)) applyFact(queue, fact as Fact, commit.at);
    }
    return queue;
  });
  return typeof taken === "string" ? taken : undefined;
}

function applyFact(queue: QueueState, fact: Fact, at: number): void {
  switch (fact.kind) {
    case "delivery.admitted":
      if (queue.deliveries.has(fact.delivery))
        throw queueCorruption(`delivery ${fact.delivery} is admitted twice`);
      if (queue.keys.has(fact.idempotencyKey))
        throw queueCorruption(`delivery ${fact.delivery} has the key of another one`);
      queue.keys.add(fact.idempotencyKey);
      queue.deliveries.set(fact.delivery, admitted(fact, at));
      queue.order.push(fact.delivery);
      return;
    case "delivery.moved": {
      const from = queue.order.indexOf(fact.delivery);
      if (from === -1) throw queueCorruption(`delivery ${fact.delivery} was never admitted`);
      queue.order.splice(from, 1);
      const to = fact.before === undefined ? -1 : queue.order.indexOf(fact.before);
      queue.order.splice(to === -1 ? queue.order.length : to, 0, fact.delivery);
      return;
    }
    case "request.made":
      if (queue.requests.has(fact.request)) throw queueCorruption(`request ${fact.request} is made twice`);
      queue.requests.set(fact.request, {
        request: fact.request,
        verb: fact.verb,
        args: fact.args,
        by: fact.by,
        madeAt: at,
        answer: undefined,
      });
      return;
    case "request.answered": {
      const request = queue.requests.get(fact.request);
      if (request === undefined) throw queueCorruption(`request ${fact.request} was never made`);
      if (request.answer !== undefined) throw queueCorruption(`request ${fact.request} is answered twice`);
      const { ok, code, message } = fact;
      queue.requests.set(fact.request, { ...request, answer: { ok, code, message } });
      return;
    }
    case "delivery.edited":
    case "delivery.claimed":
    case "delivery.released":
    case "delivery.acknowledged":
    case "delivery.blocked":
    case "delivery.unblocked":
    case "delivery.removed":
    case "delivery.armed":
    case "delivery.disarmed": {
      const state = queue.deliveries.get(fact.delivery);
      if (state === undefined) throw queueCorruption(`delivery ${fact.delivery} was never admitted`);
      queue.deliveries.set(fact.delivery, evolveDelivery(state, fact));
      return;
    }
    default:
      return;
  }
}

/** The facts that move a delivery. */
export type DeliveryFact = Extract<
  Fact,
  {
    kind: `delivery.${
      | "edited"
      | "claimed"
      | "released"
      | "acknowledged"
      | "blocked"
      | "unblocked"
      | "removed"
      | "armed"
      | "disarmed"}`;
  }
>;

/** The state after a fact. Throws on an impossible pair. */
export function evolveDelivery(state: DeliveryState, fact: DeliveryFact): DeliveryState {
  const from = allowedFrom[fact.kind];
  if (!from.includes(state.at))
    throw queueCorruption(`${fact.kind} of delivery ${state.delivery}, which is ${state.at}`);
  switch (fact.kind) {
    case "delivery.edited":
      return { ...state, text: fact.text, blob: fact.blob, original: undefined };
    case "delivery.claimed":
      return { ...state, at: "claimed", claimedSeq: fact.logSeq };
    case "delivery.released":
      return { ...state, at: "admitted" };
    case "delivery.acknowledged":
      return { ...state, at: "acknowledged", acknowledged: { seq: fact.logSeq, sum: fact.sum } };
    case "delivery.blocked":
      return { ...state, at: "blocked", reason: fact.reason };
    case "delivery.unblocked":
      return { ...state, at: "admitted", reason: undefined };
    case "delivery.removed":
      return { ...state, at: "removed" };
    case "delivery.armed":
      return { ...state, authorisation: fact.authorisation };
    case "delivery.disarmed":
      return { ...state, authorisation: undefined };
  }
}

const everywhere: readonly DeliveryState["at"][] = [
  "admitted",
  "claimed",
  "acknowledged",
  "blocked",
  "removed",
];

const allowedFrom: Record<DeliveryFact["kind"], readonly DeliveryState["at"][]> = {
  "delivery.edited": ["admitted", "blocked"],
  "delivery.claimed": ["admitted"],
  "delivery.released": ["claimed"],
  "delivery.acknowledged": ["claimed"],
  // An acknowledged one is blocked where its message is gone after an accepted rollback.
  "delivery.blocked": ["admitted", "claimed", "acknowledged"],
  "delivery.unblocked": ["blocked"],
  "delivery.removed": ["admitted", "blocked"],
  // What it may do is said of it at any time: whoever says so need not know that it has just gone out.
  "delivery.armed": everywhere,
  "delivery.disarmed": everywhere,
};

function admitted(fact: Extract<Fact, { kind: "delivery.admitted" }>, at: number): DeliveryState {
  return {
    at: "admitted",
    delivery: fact.delivery,
    idempotencyKey: fact.idempotencyKey,
    admittedAt: at,
    source: fact.source,
    mode: fact.mode,
    text: fact.text,
    blob: fact.blob,
    original: fact.original,
    claimedSeq: undefined,
    acknowledged: undefined,
    reason: undefined,
    authorisation: undefined,
  };
}

/** True where its message is still to be said: not yet claimed, or claimed by somebody who died before he said it. */
export function waitsToBeSaid(
  { at, delivery }: Pick<DeliveryState, "at" | "delivery">,
  said: { has(delivery: string): boolean },
): boolean {
  return at === "admitted" || (at === "claimed" && !said.has(delivery));
}

/** The delivery that goes out next: what interrupts goes before what waits in the queue, each in its order. */
export function nextDelivery(queue: QueueState): DeliveryState | undefined {
  let first: DeliveryState | undefined;
  for (const id of queue.order) {
    const delivery = queue.deliveries.get(id);
    if (delivery?.at !== "admitted") continue;
    if (delivery.mode === "interrupt") return delivery;
    first ??= delivery;
  }
  return first;
}

/** The requests that nobody has answered, oldest first. */
export function openRequests(queue: QueueState): RequestState[] {
  return [...queue.requests.values()].filter((request) => request.answer === undefined);
}

/** The delivery that a dead holder left claimed. */
export function claimedDelivery(queue: QueueState): DeliveryState | undefined {
  return [...queue.deliveries.values()].find((delivery) => delivery.at === "claimed");
}

import type { DeliveryState, QueueState } from "../model/delivery.ts";
import { waitsToBeSaid } from "../model/delivery.ts";
import { isHoldfastError } from "../model/errors.ts";
import type { SessionState } from "../model/fold.ts";
import type { QueueHold } from "../model/queue-hold.ts";
import { blockedWords, judgeQueue, nextCommandOf } from "../model/queue-hold.ts";
import type { BlobRef, Json } from "../model/values.ts";
import type { EngineContext } from "./context.ts";
import { storedText } from "./read-payload.ts";
import { readQueue } from "./read-queue.ts";
import { readSession } from "./read-session.ts";

/** One message of a queue as it is shown. */
export interface DeliveryView {
  /** Id of the delivery. */
  id: string;
  /** When it was admitted, in milliseconds since 1970. */
  at: number;
  /** What it came from. */
  source: string;
  /** What it says, whole; "" where its blob cannot be read. */
  text: string;
  /** How far it is. */
  state: DeliveryState["at"];
  /** Whether it waits for the active run to end, or interrupts it. */
  mode: DeliveryState["mode"];
  /** Who allowed it to wake the session, where somebody did. */
  authorisation?: Json;
  /** Where the text stands, where it is too long for the queue itself. */
  blob?: BlobRef;
  /** Why it is blocked, or why its text cannot be read. */
  reason?: string;
}

/** The queue of a session. */
export interface QueueView {
  session: string;
  /** In the order in which they go out. */
  deliveries: DeliveryView[];
  /** True while a process holds the session. */
  live: boolean;
  /** True while that one works on a run: it takes the next message when the run completes. */
  underWay: boolean;
  /** Why nothing is taken, where nothing is. */
  held?: QueueHold;
  /** The command that has the next message taken, where nobody is known to take it. */
  next?: string;
}

/**
 * The messages of a session: those that wait or are blocked, or `all` that it ever had. Takes no lock and writes
 * nothing. Rejects `queue_damaged`, or as {@link readSession} does.
 */
export async function listQueue(
  context: EngineContext,
  request: { readonly selector: string; readonly all: boolean },
): Promise<QueueView> {
  const read = await readSession(context, request.selector);
  const { state, active: live, resume } = read;
  const queue = await readQueue(context.store, state.id);
  const outlook = judgeQueue({ state, queue, live, resume });
  const { held, underWay } = outlook;
  const next = nextCommandOf(state.id, outlook);
  const deliveries: DeliveryView[] = [];
  for (const delivery of listed(queue, state, request.all)) {
    deliveries.push(await viewDelivery(context, state.id, delivery));
  }
  return {
    session: state.id,
    deliveries,
    live,
    underWay,
    ...(held !== undefined && { held }),
    ...(next !== undefined && { next }),
  };
}

/** What a person can still do something about, unless all are asked for. */
function listed(queue: QueueState, { deliveries: said }: SessionState, all: boolean): DeliveryState[] {
  const whole = queue.order.flatMap((id) => queue.deliveries.get(id) ?? []);
  if (all) return whole;
  return whole.filter((delivery) => delivery.at === "blocked" || waitsToBeSaid(delivery, said));
}

async function viewDelivery(
  context: EngineContext,
  session: string,
  delivery: DeliveryState,
): Promise<DeliveryView> {
  const { delivery: id, admittedAt, source, at, mode, authorisation, blob } = delivery;
  const { text, fault } = await textOf(context, session, delivery);
  const reason = at === "blocked" ? blockedWords(delivery) : fault;
  return {
    id,
    at: admittedAt,
    source,
    text,
    state: at,
    mode,
    ...(authorisation !== undefined && { authorisation }),
    ...(blob !== undefined && { blob }),
    ...(reason !== undefined && { reason }),
  };
}

/** The text, or why it cannot be read: one that is lost hides no other. */
async function textOf(
  { store }: EngineContext,
  session: string,
  delivery: DeliveryState,
): Promise<{ text: string; fault?: string }> {
  try {
    return { text: await storedText(store.blobs(session), delivery) };
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    return { text: "", fault: `its text cannot be read: ${error.message}` };
  }
}

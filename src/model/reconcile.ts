import type { QueueState } from "./delivery.ts";
import type { SessionState } from "./fold.ts";

/**
 * Log and queue are two files, and a restored backup may put back one of them. What each says of the other tells which:
 * the queue where its claims and acknowledgements point, the log by the deliveries whose messages it holds.
 */

/** A delivery of which log and queue say different things. */
export interface Discrepancy {
  readonly delivery: string;
  /** `log`: the line that the queue points at is gone. `queue`: the message is there, and the queue does not know. */
  readonly older: "log" | "queue";
  /** What the queue says, for people. */
  readonly what: string;
}

/** What a dead holder leaves is none: only what no death explains. */
export function findDiscrepancies(
  queue: QueueState,
  log: Pick<SessionState, "seq" | "deliveries">,
): Discrepancy[] {
  const found: Discrepancy[] = [];
  for (const { at, delivery, acknowledged, claimedSeq } of queue.deliveries.values()) {
    const there = log.deliveries.get(delivery);
    if (at === "acknowledged" && acknowledged !== undefined) {
      const { seq, sum } = acknowledged;
      if (there?.seq === seq && there.sum === sum) continue;
      found.push({ delivery, older: "log", what: `was acknowledged at seq ${seq}` });
    } else if (at === "claimed" && claimedSeq !== undefined && claimedSeq > log.seq) {
      found.push({ delivery, older: "log", what: `was claimed after seq ${claimedSeq}` });
    } else if ((at === "admitted" || at === "blocked") && there !== undefined) {
      found.push({ delivery, older: "queue", what: `is ${at}` });
    }
  }
  return found;
}

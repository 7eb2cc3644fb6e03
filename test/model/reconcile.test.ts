import { describe, expect, test } from "vitest";
import type { DeliveryState } from "../../src/model/delivery.ts";
import { emptyQueueState } from "../../src/model/delivery.ts";
import { findDiscrepancies } from "../../src/model/reconcile.ts";

const sum = "1".repeat(32);
const admitted: DeliveryState = {
  at: "admitted",
  delivery: "dlv_1",
  idempotencyKey: "key",
  admittedAt: 0,
  source: "user",
  mode: "queue",
  text: "Fix it",
  blob: undefined,
  original: undefined,
  claimedSeq: undefined,
  acknowledged: undefined,
  reason: undefined,
  authorisation: undefined,
};
const claimed = { ...admitted, at: "claimed", claimedSeq: 4 } as const;
const acknowledged = { ...claimed, at: "acknowledged", acknowledged: { seq: 5, sum } } as const;

/** What a queue with this delivery and a log up to `seq` say of each other; `there` is the line of its message. */
function found(delivery: DeliveryState, seq: number, there?: { seq: number; sum: string }) {
  const queue = emptyQueueState();
  queue.deliveries.set(delivery.delivery, delivery);
  const deliveries = new Map(there === undefined ? [] : [["dlv_1", { ...there, message: "msg_1" }]]);
  return findDiscrepancies(queue, { seq, deliveries });
}

describe("log and queue", () => {
  test("agree wherever a holder may have died between its steps", () => {
    expect(found(admitted, 4)).toEqual([]);
    expect(found(claimed, 4)).toEqual([]);
    expect(found(claimed, 5, { seq: 5, sum })).toEqual([]);
    expect(found(acknowledged, 5, { seq: 5, sum })).toEqual([]);
    expect(found({ ...admitted, at: "blocked", reason: "imported" }, 9)).toEqual([]);
    expect(found({ ...admitted, at: "removed" }, 9)).toEqual([]);
  });

  test("show that the log is older where what the queue points at is gone", () => {
    const gone = [{ delivery: "dlv_1", older: "log", what: "was acknowledged at seq 5" }];
    expect(found(acknowledged, 4)).toEqual(gone);
    expect(found(acknowledged, 9)).toEqual(gone);
    expect(found(acknowledged, 9, { seq: 5, sum: "2".repeat(32) })).toEqual(gone);
    expect(found(acknowledged, 9, { seq: 6, sum })).toEqual(gone);
    expect(found(claimed, 3)).toEqual([{ delivery: "dlv_1", older: "log", what: "was claimed after seq 4" }]);
  });

  test("show that the queue is older where it does not know of a message that is there", () => {
    expect(found(admitted, 9, { seq: 5, sum })).toEqual([
      { delivery: "dlv_1", older: "queue", what: "is admitted" },
    ]);
    expect(found({ ...admitted, at: "blocked" }, 9, { seq: 5, sum })).toEqual([
      { delivery: "dlv_1", older: "queue", what: "is blocked" },
    ]);
  });
});

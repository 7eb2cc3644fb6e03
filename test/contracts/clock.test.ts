import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { nodeHost } from "../../src/host/index.ts";

const { clock, ids } = nodeHost();

describe("sleeping", () => {
  test("ends at its time and leaves no listener on the signal", async () => {
    const { signal } = new AbortController();
    const start = clock.monotonicMs();
    for (let round = 0; round < 20; round += 1) await clock.sleep(1, signal);
    expect(clock.monotonicMs()).toBeGreaterThan(start);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("ends when the signal says so, and does not begin after it", async () => {
    const controller = new AbortController();
    const sleeping = Promise.all([
      clock.sleep(3_600_000, controller.signal),
      clock.sleep(1e12, controller.signal),
    ]);
    controller.abort();
    await sleeping;
    await clock.sleep(3_600_000, controller.signal);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  test("for longer than a timer can wait does not end at once", async () => {
    const controller = new AbortController();
    let ended = false;
    const sleeping = clock.sleep(2 ** 40, controller.signal).then(() => (ended = true));
    await clock.sleep(20);
    expect(ended).toBe(false);
    controller.abort();
    await sleeping;
  });
});

test("random bytes have the length asked for and do not repeat", () => {
  expect(ids.random(0)).toHaveLength(0);
  expect(ids.random(16)).toHaveLength(16);
  expect(ids.random(16)).not.toEqual(ids.random(16));
});

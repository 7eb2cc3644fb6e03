import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inOrder } from "./in-order.ts";
import { World } from "./world.ts";

/** Each process goes on for a while before the other one does. */
const orders = fc
  .array(fc.tuple(fc.nat(1), fc.integer({ min: 1, max: 40 })), { minLength: 2, maxLength: 12, size: "max" })
  .map((runs) => runs.flatMap(([who, count]) => Array.from({ length: count }, () => who)));

describe("a message that is admitted while the holder lets go", () => {
  test("is seen by the holder, or its sender finds that nobody holds the session: never neither", async () => {
    const ends = { seen: 0, found: 0 };
    await fc.assert(
      fc.asyncProperty(fc.nat(60), orders, async (later, choices) => {
        const world = new World();
        const holder = world.actor("holder");
        const session = await holder.create();
        await holder.hold();
        await holder.admit("an old one");
        const sender = world.actor("sender");
        const send = async (): Promise<boolean> => {
          await sender.admit("a new one", session);
          return await sender.store.isHeld(session);
        };
        const letGo = async (): Promise<boolean> => {
          for (let count = 0; count < later; count++) await holder.host.disk.stat("/");
          return await holder.held.release(() => !holder.seenQueue.includes("a new one"));
        };
        const [released, isHeld] = await inOrder(world, choices, () => Promise.all([letGo(), send()]));
        expect(released && isHeld).toBe(false);
        ends[released ? "found" : "seen"]++;
      }),
      { numRuns: 300 },
    );
    console.log(ends);
    expect(Math.min(ends.seen, ends.found)).toBeGreaterThan(10);
  });
});

import { describe, expect, test } from "vitest";
import { AppendTurns } from "../../src/store/turns.ts";
import { MemoryClock } from "../crash/memory-host.ts";

/** A clock that remembers how long anybody slept. */
class SleptClock extends MemoryClock {
  readonly sleeps: number[] = [];

  override async sleep(ms: number): Promise<void> {
    this.sleeps.push(ms);
    this.advance(ms);
  }
}

/** Runs `count` turns of a millisecond each, with a pause after each one. */
async function takeTurns(
  clock: SleptClock,
  { count, pauseMs }: { count: number; pauseMs: number },
): Promise<void> {
  const turns = new AppendTurns(clock);
  for (let turn = 0; turn < count; turn++) {
    await turns.run("/queue", async () => clock.advance(1));
    clock.advance(pauseMs);
  }
}

describe("turns to append", () => {
  test("are first come, first served, also after one that fails", async () => {
    const turns = new AppendTurns(new MemoryClock());
    const order: number[] = [];
    const work = [0, 1, 2, 3].map((turn) =>
      turns.run("/queue", async () => {
        // Those that come later are quicker.
        for (let tick = turn; tick < 10; tick++) await Promise.resolve();
        order.push(turn);
        if (turn === 1) throw new Error("fails");
      }),
    );
    const results = await Promise.allSettled(work);
    expect(order).toEqual([0, 1, 2, 3]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
  });

  test("leave a gap for other processes now and then where they come without a pause", async () => {
    const clock = new SleptClock();
    await takeTurns(clock, { count: 200, pauseMs: 0 });
    expect(clock.sleeps.length).toBeGreaterThan(5);
    expect(Math.min(...clock.sleeps)).toBeGreaterThan(4);
  });

  test("wait for nobody where they come with pauses of their own", async () => {
    const clock = new SleptClock();
    await takeTurns(clock, { count: 200, pauseMs: 5 });
    expect(clock.sleeps).toEqual([]);
  });

  test("of different files do not wait for each other", async () => {
    const turns = new AppendTurns(new MemoryClock());
    const never = turns.run("/one", () => new Promise(() => undefined));
    await expect(turns.run("/other", async () => "done")).resolves.toBe("done");
    void never;
  });
});

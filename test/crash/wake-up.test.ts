import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SendReport } from "../../src/engine/index.ts";
import { resume, runTask, send } from "../../src/engine/index.ts";
import { examine } from "../engine/examine.ts";
import { EngineWorld } from "./engine-world.ts";
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

describe("a message that is sent while a process lets go of the session", () => {
  /** A machine with a session that has done its first task and has answers for two more. */
  async function newWorld(): Promise<{ world: EngineWorld; session: string }> {
    const world = new EngineWorld();
    const turns = ["1", "2", "3"].map((text) => ({ text }));
    world.disk.plant("/cassette.json", JSON.stringify({ cassette: 1, turns }));
    world.disk.plant("/project/a.txt", "a\n");
    const { workspace, model } = EngineWorld;
    const request = { workspace, model, agent: "builtin", policy: {}, task: "First." };
    const { session } = await runTask(world.engine(), request, world.observer(), () => undefined);
    return { world, session };
  }

  const goOn = async (world: EngineWorld, selector: string): Promise<string> =>
    (await resume(world.engine(), { selector, acceptRollback: false }, world.observer())).ending;

  const leave = (world: EngineWorld, selector: string): Promise<SendReport> =>
    send(world.engine(), { selector, text: "Second." });

  /** Fails where the process took it and its sender was told of nobody, or nobody took it; then has it taken. */
  async function expectTaken(
    { world, session }: { world: EngineWorld; session: string },
    { ending, sent, label }: { ending: string; sent: SendReport; label: string },
  ): Promise<"seen" | "found"> {
    const isSeen = ending === "completed";
    // Told that a process is there: then that one took it. Told that none is: then it waits for who is told.
    if (sent.live) expect(isSeen, label).toBe(true);
    if (!isSeen) expect([sent.live, sent.next], label).toEqual([false, `holdfast resume ${session}`]);
    expect(await goOn(world, session), label).toBe(isSeen ? "idle" : "completed");
    const { state, queue } = await examine(world.engine(), session);
    const said = state.messages.flatMap(({ message }) =>
      message.role === "user" ? (message.delivery ?? []) : [],
    );
    expect(
      said.filter((delivery) => delivery === sent.delivery),
      label,
    ).toHaveLength(1);
    expect(
      [...queue.deliveries.values()].map(({ at }) => at),
      label,
    ).toEqual(["acknowledged", "acknowledged"]);
    return isSeen ? "seen" : "found";
  }

  test("at each of its steps is taken by that process, or its sender is told that nobody is there", async () => {
    const ends = { seen: 0, found: 0 };
    for (let at = 0, isOver = false; !isOver; at++) {
      const start = await newWorld();
      const world = start.world.killed();
      const { session } = start;
      let [process, steps, tries] = ["", 0, 0];
      let sending: Promise<SendReport> | undefined;
      let go: () => void = () => undefined;
      world.disk.gate = (effect) => {
        if (process === "") process = effect.process;
        // Whoever waits for a lock of the process that waits here gets it only when that goes on.
        if (effect.process !== process) {
          if (effect.verb === "lock" && effect.path.endsWith("/append") && ++tries > 20) go();
          return undefined;
        }
        if (steps++ !== at) return undefined;
        return new Promise<void>((resolve) => {
          go = resolve;
          sending = leave(world, session).finally(resolve);
        });
      };
      const ending = await goOn(world, session);
      world.disk.gate = undefined;
      isOver = sending === undefined;
      const sent = await (sending ?? leave(world, session));
      ends[await expectTaken({ world, session }, { ending, sent, label: `sent before step ${at}` })]++;
    }
    expect(Math.min(ends.seen, ends.found)).toBeGreaterThan(5);
  });
});

import { afterAll, describe, expect, test } from "vitest";
import { everyCrash, type Scenario, type Tally } from "./every-crash.ts";
import type { World } from "./world.ts";

const picture = (seed: number): Uint8Array => new Uint8Array(1000).fill(seed);

/** A session that was held once and let go. */
async function usedSession(world: World): Promise<string> {
  const actor = world.actor("before");
  const session = await actor.create();
  await actor.hold();
  await actor.say("long ago");
  await actor.admit("long waiting");
  await actor.release();
  return session;
}

const sessionOf = (world: World): string => [...world.oracle.sessions][0] ?? "";

const scenarios: Scenario[] = [
  {
    name: "creating a session, with a blob",
    act: async (world) => void (await world.actor("creator").create([picture(1)])),
  },
  {
    name: "appending small lines and one with a blob",
    prepare: async (world) => void (await usedSession(world)),
    act: async (world) => {
      const actor = world.actor("holder");
      await actor.hold(sessionOf(world));
      await actor.say("one");
      await actor.say("two", picture(2));
      await actor.say("three", picture(2));
    },
  },
  {
    name: "taking and releasing the lease",
    prepare: async (world) => void (await world.actor("before").create()),
    act: async (world) => {
      const actor = world.actor("holder");
      await actor.hold(sessionOf(world));
      await actor.release();
      await world.actor("next").hold(sessionOf(world));
    },
  },
  {
    name: "admitting to a new queue from two processes",
    prepare: async (world) => void (await world.actor("before").create()),
    act: async (world) => {
      const session = sessionOf(world);
      const [one, other] = [world.actor("one"), world.actor("other")];
      await Promise.all([one.admit("from one", session), other.admit("from the other", session)]);
      await one.admit("again", session);
    },
  },
];

describe("a crash at any effect, and another one while going on, costs nothing that was acknowledged", () => {
  const tallies: (Tally & { name: string })[] = [];
  afterAll(() => {
    const total = tallies.reduce((sum, { crashes, secondCrashes }) => sum + crashes + secondCrashes, 0);
    console.log(`${total} crashed disks`, tallies);
  });

  test.each(scenarios)("while $name", async (scenario) => {
    const tally = await everyCrash(scenario);
    tallies.push({ name: scenario.name, ...tally });
    expect(tally.effects).toBeGreaterThan(0);
  });
});

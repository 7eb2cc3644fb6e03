import { describe, expect, test } from "vitest";
import { type Actor, textsOf } from "./actor.ts";
import { admitted, newSession } from "./builders.ts";
import { changesDisk } from "../crash/memory-disk.ts";
import { stateDirectory, World } from "../crash/world.ts";

/** What stands on the disk before each effect of `work`, and after it, with everybody dead. */
async function deathsIn(world: World, work: (world: World) => Promise<unknown>): Promise<World[]> {
  const deaths: World[] = [];
  world.disk.gate = (effect) => {
    if (changesDisk(effect)) deaths.push(world.killed());
    return undefined;
  };
  await work(world);
  world.disk.gate = undefined;
  return [...deaths, world.killed()];
}

describe("the identity of a store", () => {
  test("that somebody was told survives a power cut, whoever died while making it", async () => {
    const deaths = await deathsIn(new World(), (world) => world.actor("first").store.identity());
    expect(deaths.length).toBeGreaterThan(5);
    for (const world of deaths) {
      const told = await world.actor("second").store.identity();
      expect(await world.crashed().actor("third").store.identity()).toEqual(told);
    }
  });

  test("that a copy was given survives a power cut, whoever died while giving it", async () => {
    const start = new World();
    await start.actor("before").store.identity();
    const path = `${stateDirectory}/state.json`;
    start.disk.plant(`${path}.copy`, start.disk.peek(path) ?? "");
    await start.disk.rename(`${path}.copy`, path);
    start.disk.settle();
    const adopt = async (world: World) => (await world.actor("adopter").store.adopt()).to;
    const told = await adopt(start.killed());
    expect(told).toMatch(/^sto_/);
    const deaths = await deathsIn(start.killed(), adopt);
    // The last one was told of.
    const last = deaths.at(-1);
    expect((await last?.crashed().actor("next").store.identity())?.store).toBe(
      (await last?.actor("next").store.identity())?.store,
    );
    for (const world of deaths) {
      const to = await adopt(world);
      expect((await world.crashed().actor("next").store.identity()).store).toBe(to);
    }
  });

  test("is one, whichever of two processes makes it", async () => {
    const world = new World();
    const both = ["one", "other"].map((name) => world.actor(name).store.identity());
    const [one, other] = await Promise.all(both);
    expect(one).toEqual(other);
    expect(world.disk.files()).toEqual([`${stateDirectory}/state.json`]);
  });
});

describe("a session that can be seen", () => {
  test("has the first line of its queue, also after a power cut, whoever died while making it", async () => {
    const session = { ...newSession(), queue: [admitted("a task")] };
    const deaths = await deathsIn(new World(), (world) => world.actor("maker").store.create(session));
    let seen = 0;
    for (const world of deaths.map((death) => death.crashed())) {
      const { store } = world.actor("reader");
      for (const id of await store.ids()) {
        seen++;
        const texts: string[] = [];
        await store.readQueue(id, ({ facts }) => void texts.push(...textsOf(facts)));
        expect(texts).toEqual(["a task"]);
      }
    }
    expect(seen).toBe(1);
  });

  test.each([
    ["its first holder's line", async (actor: Actor) => void (await actor.hold())],
    ["somebody's delivery", async (actor: Actor) => void (await actor.admit("one"))],
  ])("survives a power cut with %s, whoever died while making it", async (_name, use) => {
    const deaths = await deathsIn(new World(), (world) => world.actor("maker").create());
    let seen = 0;
    for (const world of deaths) {
      const user = world.actor("user");
      const [session] = await user.store.ids();
      if (session === undefined) continue;
      seen++;
      user.session = session;
      await use(user);
      expect(await world.crashed().actor("next").store.ids()).toEqual([session]);
    }
    expect(seen).toBe(2);
  });
});

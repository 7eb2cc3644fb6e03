import { afterAll, describe, expect, test } from "vitest";
import { isHoldfastError } from "../../src/model/errors.ts";
import { everyCrash, type Scenario, type Tally } from "./every-crash.ts";
import { stateDirectory, type World } from "./world.ts";

const sessionOf = (world: World): string => [...world.oracle.sessions][0] ?? "";
const pathOf = (world: World, file: string): string =>
  `${stateDirectory}/sessions/${sessionOf(world)}/${file}`;

/** A session that died while its log and its queue were being written, so that both end in a piece of a line. */
async function tornSession(world: World, keep: (bytes: Uint8Array) => number): Promise<void> {
  const actor = world.actor("before");
  await actor.create();
  await actor.hold();
  await actor.say("one");
  await actor.admit("waiting");
  actor.die();
  for (const file of ["log.jsonl", "queue.jsonl"]) {
    const bytes = world.disk.peek(pathOf(world, file)) ?? new Uint8Array();
    const last = bytes.subarray(bytes.lastIndexOf(0x0a, bytes.length - 2) + 1);
    const piece = last.subarray(0, keep(last));
    world.disk.plant(pathOf(world, file), new Uint8Array([...bytes, ...piece]));
  }
}

/** A session whose holder's last line and last delivery could neither be synced nor cut. */
async function unsureSession(world: World): Promise<void> {
  const actor = world.actor("before");
  await actor.create();
  await actor.hold();
  await actor.say("one");
  await actor.admit("waiting");
  world.disk.fault = ({ verb, path }) => {
    const fails = verb === "cutTail" || (verb === "sync" && path.endsWith(".jsonl"));
    return fails ? { code: "EIO" } : undefined;
  };
  for (const attempt of [actor.say("unsure"), actor.admit("unsure delivery")]) {
    expect(await codeOf(attempt)).toBe("durability_unknown");
  }
  world.disk.fault = undefined;
  actor.die();
  world.oracle.mayRepair = true;
}

async function codeOf(attempt: Promise<unknown>): Promise<string> {
  return await attempt.then(
    () => "none",
    (error: unknown) => (isHoldfastError(error) ? error.code : String(error)),
  );
}

async function goOnBriefly(world: World): Promise<void> {
  const actor = world.actor("holder");
  await actor.hold(sessionOf(world));
  await actor.admit("and another");
}

const scenarios: Scenario[] = [
  {
    name: "recovering torn ends",
    prepare: (world) => tornSession(world, (line) => line.length >> 1),
    act: goOnBriefly,
  },
  {
    name: "completing ends that only lack their newline",
    prepare: async (world) => {
      await tornSession(world, () => 0);
      for (const file of ["log.jsonl", "queue.jsonl"]) {
        const bytes = world.disk.peek(pathOf(world, file)) ?? new Uint8Array();
        world.disk.plant(pathOf(world, file), bytes.subarray(0, -1));
      }
      // Without its newline nobody can have been told that a line is there.
      for (const name of ["log", "queue"] as const) world.oracle[name](sessionOf(world)).acknowledged.pop();
    },
    act: goOnBriefly,
  },
  {
    name: "repairing a log and a queue whose last sync failed",
    prepare: unsureSession,
    act: async (world) => {
      await world.actor("repairer").store.repair(sessionOf(world));
      await goOnBriefly(world);
    },
  },
  {
    name: "adopting a copied store",
    prepare: async (world) => {
      await tornSession(world, (line) => line.length >> 1);
      const path = `${stateDirectory}/state.json`;
      world.disk.plant(`${path}.copy`, world.disk.peek(path) ?? "");
      await world.disk.rename(`${path}.copy`, path);
      world.oracle.mayAdopt = true;
    },
    act: async (world) => {
      await world.actor("adopter").store.adopt();
      await goOnBriefly(world);
    },
  },
];

describe("a crash at any effect of mending, and another one while going on, costs nothing", () => {
  const tallies: (Tally & { name: string })[] = [];
  afterAll(() => console.log(tallies));

  test.each(scenarios)("$name", async (scenario) => {
    const tally = await everyCrash(scenario);
    tallies.push({ name: scenario.name, ...tally });
    expect(tally.effects).toBeGreaterThan(0);
  });
});

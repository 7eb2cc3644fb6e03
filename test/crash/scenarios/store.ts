import { isHoldfastError } from "../../../src/model/errors.ts";
import { allAtOnce } from "../campaign/at-once.ts";
import type { StoreScenario } from "../campaign/store-scenario.ts";
import { stateDirectory, type World } from "../world.ts";

/** What is crashed, and what is made to fail, at each of its effects. */

const picture = (seed: number): Uint8Array => new Uint8Array(1000).fill(seed);
const sessionOf = (world: World): string => [...world.oracle.sessions][0] ?? "";
const pathOf = (world: World, file: string): string =>
  `${stateDirectory}/sessions/${sessionOf(world)}/${file}`;

/** A session that was held once and let go. */
async function usedSession(world: World): Promise<void> {
  const actor = world.actor("before");
  await actor.create();
  await actor.hold();
  await actor.say("long ago");
  await actor.admit("long waiting");
  await actor.release();
}

async function newSession(world: World): Promise<void> {
  await world.actor("before").create();
}

/** The work of a session that nothing is wrong with. */
export const workingScenarios: readonly StoreScenario[] = [
  {
    name: "creating a session, with a blob",
    act: async (world) => void (await world.actor("creator").create([picture(1)])),
  },
  {
    name: "appending small lines and one with a blob",
    prepare: usedSession,
    act: async (world) => {
      const actor = world.actor("holder");
      await actor.hold(sessionOf(world));
      await actor.say("one");
      await actor.say("two", picture(2));
      await actor.say("three", picture(2));
    },
    again: async (world) => {
      const actor = world.actors.get("holder");
      if (actor?.isHolder !== true) return;
      await actor.say("two", picture(2));
      await actor.say("again");
      await actor.admit("again");
    },
  },
  {
    name: "taking and releasing the lease",
    prepare: newSession,
    act: async (world) => {
      const actor = world.actor("holder");
      await actor.hold(sessionOf(world));
      await actor.release();
      await world.actor("next").hold(sessionOf(world));
    },
  },
  {
    name: "admitting to a new queue from two processes",
    prepare: newSession,
    act: async (world) => {
      const session = sessionOf(world);
      const [one, other] = [world.actor("one"), world.actor("other")];
      await allAtOnce([one.admit("from one", session), other.admit("from the other", session)]);
      await one.admit("again", session);
    },
    again: async (world) => void (await world.actors.get("one")?.admit("once more", sessionOf(world))),
  },
  {
    name: "admitting behind somebody who died before his sync",
    prepare: newSession,
    act: async (world) => {
      const actor = world.actor("holder");
      await actor.hold(sessionOf(world));
      await actor.admit("one");
      await writeWithoutSync(world, "of somebody dead", world.killed());
      await actor.admit("two");
    },
  },
  {
    name: "admitting behind a stale line that nobody synced",
    prepare: newSession,
    act: async (world) => {
      const actor = world.actor("holder");
      await actor.hold(sessionOf(world));
      await actor.admit("one");
      const stale = world.killed();
      await actor.admit("two");
      await writeWithoutSync(world, "of somebody stale", stale);
      await actor.admit("three");
    },
  },
];

/** Writes a delivery as a sender does who saw the queue as it stands in `seen`, and dies between write and sync. */
async function writeWithoutSync(world: World, text: string, seen: World): Promise<void> {
  const session = sessionOf(world);
  const path = pathOf(world, "queue.jsonl");
  world.oracle.queue(session).tried.add(text);
  const before = seen.disk.peek(path)?.length ?? 0;
  await seen.actor("sender").admit(text, session);
  const file = await world.disk.open(path, "append");
  await file.write((seen.disk.peek(path) ?? new Uint8Array()).subarray(before));
  await file.close();
}

/** A session that died while its log and its queue were being written, so that both end in a piece of a line. */
async function tornSession(world: World): Promise<void> {
  const actor = world.actor("before");
  await actor.create();
  await actor.hold();
  await actor.say("one");
  await actor.admit("waiting");
  actor.die();
  for (const file of ["log.jsonl", "queue.jsonl"]) {
    const bytes = world.disk.peek(pathOf(world, file)) ?? new Uint8Array();
    const last = bytes.subarray(bytes.lastIndexOf(0x0a, bytes.length - 2) + 1);
    world.disk.plant(pathOf(world, file), new Uint8Array([...bytes, ...last.subarray(0, last.length >> 1)]));
  }
}

/** A session whose log and queue end in a whole line that only lacks its newline. */
async function unfinishedSession(world: World): Promise<void> {
  const actor = world.actor("before");
  await actor.create();
  await actor.hold();
  await actor.say("one");
  await actor.admit("waiting");
  actor.die();
  for (const name of ["log", "queue"] as const) {
    const path = pathOf(world, `${name}.jsonl`);
    world.disk.plant(path, (world.disk.peek(path) ?? new Uint8Array()).subarray(0, -1));
    // Without its newline nobody can have been told that a line is there.
    world.oracle[name](sessionOf(world)).acknowledged.pop();
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
  await expectUnknown(actor.say("unsure"));
  await expectUnknown(actor.admit("unsure delivery"));
  world.disk.fault = undefined;
  actor.die();
  world.oracle.mayRepair = true;
}

async function expectUnknown(attempt: Promise<unknown>): Promise<void> {
  try {
    await attempt;
  } catch (error) {
    if (isHoldfastError(error, "durability_unknown")) return;
    throw error;
  }
  throw new Error("a sync that fails must not be acknowledged");
}

/** A store that was copied with everything in it, torn ends included. */
async function copiedStore(world: World): Promise<void> {
  await tornSession(world);
  const path = `${stateDirectory}/state.json`;
  world.disk.plant(`${path}.copy`, world.disk.peek(path) ?? "");
  await world.disk.rename(`${path}.copy`, path);
  world.oracle.mayAdopt = true;
}

async function goOnBriefly(world: World): Promise<void> {
  const actor = world.actor("holder");
  await actor.hold(sessionOf(world));
  await actor.admit("and another");
}

/** Mending what a death, a failing disk or a copy left. */
export const mendingScenarios: readonly StoreScenario[] = [
  { name: "recovering torn ends", prepare: tornSession, act: goOnBriefly },
  { name: "completing ends that only lack their newline", prepare: unfinishedSession, act: goOnBriefly },
  {
    name: "repairing a log and a queue whose last sync failed",
    prepare: unsureSession,
    act: async (world) => {
      await world.actor("repairer").repair(sessionOf(world));
      await goOnBriefly(world);
    },
  },
  {
    name: "adopting a copied store",
    prepare: copiedStore,
    act: async (world) => {
      await world.actor("adopter").store.adopt();
      await goOnBriefly(world);
    },
  },
];

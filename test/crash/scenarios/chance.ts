import type { Random } from "../campaign/random.ts";
import type { StoreScenario } from "../campaign/store-scenario.ts";
import type { Actor } from "../../store/actor.ts";
import { isHoldfastError } from "../../../src/model/errors.ts";
import type { World } from "../world.ts";

/** Work on one session that chance makes up: a holder and those who send, in one order and never twice the same. */

/** One thing that somebody does. */
type Deed =
  | { readonly does: "say"; readonly size: number; readonly picture?: number }
  | { readonly does: "admit"; readonly by: "holder" | "sender"; readonly size: number }
  | { readonly does: "release" | "die" | "create" }
  /** A sync of that file fails, once; the line is taken back. */
  | { readonly does: "fail"; readonly file: "log" | "queue" };

const sizes = [1, 40, 900, 4_000, 31_000];

/** A scenario of so many deeds before and during what is crashed. */
export function chanceScenario(random: Random): StoreScenario {
  const before = deeds(random, random.below(4));
  const during = deeds(random, 2 + random.below(4));
  return {
    name: "whatever comes",
    prepare: async (world) => {
      const first = world.actor("first");
      await first.create();
      await doAll(world, before);
      world.actors.get("holder")?.die();
    },
    act: (world) => doAll(world, during),
  };
}

function deeds(random: Random, count: number): Deed[] {
  return Array.from({ length: count }, () => deed(random));
}

function deed(random: Random): Deed {
  const size = random.of(sizes);
  switch (random.below(10)) {
    case 0:
    case 1:
    case 2:
      return random.oneIn(4) ? { does: "say", size, picture: random.below(5) } : { does: "say", size };
    case 3:
    case 4:
      return { does: "admit", by: "holder", size };
    case 5:
    case 6:
      return { does: "admit", by: "sender", size };
    case 7:
      return { does: random.oneIn(2) ? "release" : "die" };
    case 8:
      return { does: "fail", file: random.oneIn(2) ? "log" : "queue" };
    default:
      return { does: "create" };
  }
}

async function doAll(world: World, all: readonly Deed[]): Promise<void> {
  for (const [index, one] of all.entries()) await doOne(world, one, `${world.oracle.sessions.size}.${index}`);
}

async function doOne(world: World, deed: Deed, name: string): Promise<void> {
  const [session = ""] = world.oracle.sessions;
  const tried = world.oracle.log(session).tried.size + world.oracle.queue(session).tried.size;
  const text = (size: number): string => `${tried} ${name} ${"x".repeat(size)}`;
  switch (deed.does) {
    case "say": {
      const picture = deed.picture === undefined ? undefined : new Uint8Array(3000).fill(deed.picture);
      return void (await (await holder(world, session)).say(text(deed.size), picture));
    }
    case "admit": {
      const actor = deed.by === "holder" ? await holder(world, session) : world.actor("sender");
      return void (await actor.admit(text(deed.size), session));
    }
    case "release":
      return void (await (await holder(world, session)).release());
    case "die":
      return world.actors.get("holder")?.die();
    case "create":
      return void (await world.actor("creator").create());
    case "fail":
      return await failOnce(world, session, { file: deed.file, text: text(20) });
  }
}

/** Whoever holds the session, or takes it now. */
async function holder(world: World, session: string): Promise<Actor> {
  const present = world.actors.get("holder");
  if (present?.isHolder === true && !present.isDead) return present;
  const actor = world.actor("holder");
  await actor.hold(session);
  return actor;
}

async function failOnce(
  world: World,
  session: string,
  { file, text }: { file: "log" | "queue"; text: string },
): Promise<void> {
  const actor = await holder(world, session);
  // Else the sync would be one of somebody dead too, whose line nobody can take back.
  await (file === "log" ? actor.say(`${text} before`) : actor.admit(`${text} before`));
  let isOver = false;
  world.disk.fault = ({ verb, path }) => {
    if (isOver || verb !== "sync" || !path.endsWith(`/${session}/${file}.jsonl`)) return undefined;
    isOver = true;
    return { code: "EIO" };
  };
  try {
    await (file === "log" ? actor.say(text) : actor.admit(text));
  } catch (error) {
    if (!isHoldfastError(error, "io_error")) throw error;
  } finally {
    world.disk.fault = undefined;
  }
}

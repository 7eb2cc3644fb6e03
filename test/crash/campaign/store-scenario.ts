import { compare, goOn } from "../../store/go-on.ts";
import { World } from "../world.ts";
import { promised } from "./finding.ts";
import type { MachineScenario } from "./machine.ts";

/** A scenario of the store alone: who does what to sessions, and when. */
export interface StoreScenario {
  readonly name: string;
  /** What stands before: made by actors of its own, never crashed. */
  readonly prepare?: (world: World) => Promise<void>;
  /** What is crashed at each effect. */
  readonly act: (world: World) => Promise<void>;
  /** What the same processes do next, where one of those effects failed and none fails any more. */
  readonly again?: (world: World) => Promise<void>;
}

/** The same with what always follows: sessions are held, written and compared. */
export function storeScenario({ name, prepare, act, again }: StoreScenario): MachineScenario<World> {
  return {
    name,
    set: async () => {
      const world = new World();
      await prepare?.(world);
      world.disk.settle();
      return world;
    },
    act,
    ...(again !== undefined && { again }),
    reopen,
    goOn: async (world) => {
      await goOn(world);
      await world.actor("creator").create();
    },
    look: (world) => judge(world, true),
    judge: (world) => judge(world, false),
  };
}

/** What going on begins with: each session is held, and each queue is looked at as if to append. */
async function reopen(world: World): Promise<void> {
  for (const session of await world.actor("lister").store.ids()) {
    await world.actor("reopener").holdRepaired(session);
  }
}

async function judge(world: World, mayBeTorn: boolean): Promise<void> {
  const left = await world.actor("lister").store.ids();
  for (const session of world.oracle.sessions)
    promised(left.includes(session), "lost", () => `session ${session} is gone`);
  for (const session of left) await compare(world, session, { mayBeTorn });
}

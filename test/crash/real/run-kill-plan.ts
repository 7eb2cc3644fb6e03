import type { Counts, Plan } from "../campaign/plan.ts";
import { chainAt, chainCase, chainsOf, type KillChain, type LifeLengths } from "./kill-chain.ts";
import { Room } from "./room.ts";
import { commands, fileChanges, Performance, type Play } from "./run-play.ts";

/** A worker is killed at its n-th change, the worker that recovers at its m-th, and so on; then the run goes on. */
export function runKillPlans(): Plan[] {
  return [killPlanOf(fileChanges), killPlanOf(commands)];
}

function killPlanOf(play: Play): Plan {
  const room = new Room();
  let lengths: Promise<LifeLengths> | undefined;
  const run = (chain: KillChain): Promise<Partial<Counts>> => killAlong(room, play, chain);
  return {
    scenario: `run-${play.name}`,
    mishap: "kill",
    isReal: true,
    async *cases(extent) {
      lengths ??= measure(room, play);
      const choice = { kills: 5, small: 1, step: 60 };
      for (const chain of chainsOf(await lengths, extent, choice)) yield chainCase(chain, run);
    },
    caseAt: async (address) => chainCase(chainAt(address), run),
    end: () => room.end(),
  };
}

/** Changes of a whole run; and how many of a recovery are looked at: it is a run of its own that begins later. */
async function measure(room: Room, play: Play): Promise<LifeLengths> {
  const staged = new Performance(room, play);
  try {
    const first = Number((await staged.live()).lines.at(-1)?.["changes"]);
    return { first, later: Math.min(first, 60) };
  } finally {
    await staged.home.end();
  }
}

async function killAlong(room: Room, play: Play, chain: KillChain): Promise<Partial<Counts>> {
  const staged = new Performance(room, play);
  let kills = 0;
  try {
    for (const at of chain) {
      // A run that is over leaves nothing to kill.
      const end = await staged.live({ is: "die", at });
      if (!end.killed) break;
      kills++;
    }
    await staged.finish();
  } finally {
    await staged.home.end();
  }
  return { kills };
}

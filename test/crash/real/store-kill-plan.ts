import type { StoreStep, StoreWorkerOptions } from "../../peers/store-worker.ts";
import type { Case, Counts, Extent, Plan } from "../campaign/plan.ts";
import { chainAt, chainCase, chainsOf, type KillChain, type LifeLengths } from "./kill-chain.ts";
import { draw } from "./draw.ts";
import { Room } from "./room.ts";
import { expectDone, StoreStory } from "./store-story.ts";

/** A process that works on a store is killed at its n-th change, whoever recovers at its m-th, and so on. */
export function storeKillPlan(): Plan {
  const room = new Room();
  let lengths: Promise<LifeLengths> | undefined;
  const run = (chain: KillChain): Promise<Partial<Counts>> => killAlong(room, chain);
  return {
    scenario: "store-work",
    mishap: "kill",
    isReal: true,
    async *cases(extent) {
      lengths ??= measure(room);
      for (const chain of chainsOf(await lengths, extent, { kills: 4, small: 3, step: 3 }))
        yield chainCase(chain, run);
    },
    caseAt: async (address) => chainCase(chainAt(address), run),
    end: () => room.end(),
  };
}

async function measure(room: Room): Promise<LifeLengths> {
  const story = new StoreStory(room);
  const count = async (): Promise<number> => Number((await story.live()).lines.at(-1)?.["changes"]);
  const lengths = { first: await count(), later: await count() };
  story.end();
  return lengths;
}

async function killAlong(room: Room, chain: KillChain): Promise<Partial<Counts>> {
  const story = new StoreStory(room);
  let kills = 0;
  try {
    for (const at of chain) if ((await story.live({ is: "die", at })).killed) kills++;
    await story.judge();
  } finally {
    story.end();
  }
  return { kills };
}

/** Lives that one case of random moments has. */
const lives = 4;

/** A process that works on a store without a pause is killed from outside, whenever that may be. */
export function storeMomentPlan(): Plan {
  const room = new Room();
  const caseOf = (seed: number): Case => ({
    address: String(seed),
    run: () => killAtMoments(room, seed),
  });
  return {
    scenario: "store-moments",
    mishap: "kill",
    isReal: true,
    async *cases({ seed, size }: Extent) {
      const count = size === "endless" ? Infinity : size === "full" ? 150 : 1;
      for (let index = 0; index < count; index++) yield caseOf(seed * 1_000_000 + index);
    },
    caseAt: async (address) => caseOf(Number(address)),
    end: () => room.end(),
  };
}

async function killAtMoments(room: Room, seed: number): Promise<Partial<Counts>> {
  const story = new StoreStory(room);
  const { store } = await room.programs();
  let kills = 0;
  try {
    expectDone(await story.live());
    for (let life = 0; life < lives; life++) {
      const steps: StoreStep[] = [
        { do: "open" },
        { do: "hold" },
        { do: "say", text: `said ${life}` },
        { do: "say", text: `with a blob ${life}`, blobBytes: 40_000 },
        { do: "admit", text: `admitted ${life}` },
        { do: "release" },
      ];
      const options: StoreWorkerOptions = { directory: story.stage.directory, steps, rounds: 100_000 };
      const child = room.peer(store, options);
      await child.line((line) => "begins" in line);
      // In steps of a few microseconds, over some rounds.
      const momentMs = draw(10_000, seed, life) / 500;
      await new Promise((resolve) => setTimeout(resolve, momentMs));
      const until = performance.now() + (momentMs % 1);
      while (performance.now() < until);
      const end = await child.kill();
      if (end.killed) kills++;
      story.note(end.lines);
    }
    await story.judge();
  } finally {
    story.end();
  }
  return { kills };
}

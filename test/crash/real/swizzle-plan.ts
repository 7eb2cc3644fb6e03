import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { StoreStep, StoreWorkerOptions } from "../../peers/store-worker.ts";
import { RealStage } from "../../store/real-stage.ts";
import { promised } from "../campaign/finding.ts";
import type { Case, Counts, Extent, Plan } from "../campaign/plan.ts";
import type { Child } from "./child.ts";
import { draw } from "./draw.ts";
import { Room } from "./room.ts";
import { expectRefused, goOnOrFind, noteToldAtOnce } from "./store-story.ts";

const sessions = 3;
const processes = 6;

/** Six processes work on three sessions; one after the other is stopped, and let go on in an order of chance. */
export function swizzlePlan(): Plan {
  const room = new Room();
  const caseOf = (seed: number): Case => ({ address: String(seed), run: () => swizzle(room, seed) });
  return {
    scenario: "swizzle",
    mishap: "locks",
    isReal: true,
    async *cases({ seed, size }: Extent) {
      const count = size === "endless" ? Infinity : size === "full" ? 60 : 1;
      for (let index = 0; index < count; index++) yield caseOf(seed * 1_000_000 + index);
    },
    caseAt: async (address) => caseOf(Number(address)),
    end: () => room.end(),
  };
}

async function swizzle(room: Room, seed: number): Promise<Partial<Counts>> {
  const folder = room.folder();
  const stage = new RealStage(join(folder, "state"));
  try {
    const ids: string[] = [];
    for (let index = 0; index < sessions; index++) ids.push(await stage.actor("before").create());
    const children: Child[] = [];
    for (let index = 0; index < processes; index++) {
      children.push(await startOne(room, stage, ids[index % sessions] ?? "", index));
    }
    await Promise.all(children.map((child) => child.line((line) => "begins" in line)));
    await stopAndGoOn(children, seed);
    let kills = 0;
    const all = [];
    for (const child of children) {
      const end = await child.kill();
      if (end.killed) kills++;
      promised(end.killed, "untyped", () => `a process failed with ${end.code ?? end.signal}: ${end.stderr}`);
      expectRefused(end.lines, "busy");
      all.push(end.lines);
    }
    noteToldAtOnce(stage, all);
    await goOnOrFind(stage);
    return { kills, orders: 1 };
  } finally {
    room.remove(folder);
  }
}

async function startOne(room: Room, stage: RealStage, session: string, index: number): Promise<Child> {
  const steps: StoreStep[] = [
    { do: "open", session },
    { do: "admit", text: `from outside ${index}` },
    { do: "hold" },
    { do: "say", text: `said ${index}` },
    { do: "admit", text: `admitted ${index}` },
    { do: "say", text: `with a blob ${index}`, blobBytes: 40_000 + index },
    { do: "release" },
  ];
  const options: StoreWorkerOptions = { directory: stage.directory, steps, rounds: 100_000 };
  return room.peer((await room.programs()).store, options);
}

/** All are stopped, one by one; then all go on, in another order. */
async function stopAndGoOn(children: readonly Child[], seed: number): Promise<void> {
  const inOrder = (word: string): Child[] =>
    children
      .map((child, index) => ({ child, place: draw(1000, seed, word, index) }))
      .toSorted((one, other) => one.place - other.place)
      .map(({ child }) => child);
  for (const [index, child] of inOrder("stop").entries()) {
    await sleep(draw(30, seed, "before stop", index));
    child.signal("SIGSTOP");
  }
  for (const [index, child] of inOrder("go on").entries()) {
    await sleep(draw(40, seed, "before going on", index));
    child.signal("SIGCONT");
  }
  await sleep(100);
}

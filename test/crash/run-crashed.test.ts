import { expect, test } from "vitest";
import { begin, expectDoneOnce, goOn, newWorld } from "./engine-story.ts";
import type { EngineWorld } from "./engine-world.ts";
import { changesDisk, type Fate, type UnsyncedChange } from "./memory-disk.ts";

interface Snapshot {
  world: EngineWorld;
  label: string;
}

/** What stands before each effect of `act` that changes the disk. */
async function snapshotsOf(
  start: EngineWorld,
  act: (world: EngineWorld) => Promise<unknown>,
): Promise<Snapshot[]> {
  const world = start.killed();
  const snapshots: Snapshot[] = [];
  world.disk.gate = (effect) => {
    if (changesDisk(effect)) {
      const label = `${effect.index} ${effect.verb} ${effect.path}`;
      snapshots.push({ world: world.killed(), label });
    }
    return undefined;
  };
  await act(world);
  world.disk.gate = undefined;
  return snapshots;
}

type Power = readonly [name: string, choose: (change: UnsyncedChange, index: number) => Fate];

const cuts: readonly Power[] = [
  ["nothing survives", () => "dropped"],
  ["every other change survives", (_change, index) => (index % 2 === 0 ? "kept" : "dropped")],
  ["the others survive", (_change, index) => (index % 2 === 1 ? "kept" : "dropped")],
  ["writes are torn", (change) => (change.kind === "write" ? { torn: change.bytes.length >> 1 } : "kept")],
];

/** A kill and, where something is not synced, a power cut, of each kind in turn. */
function crashesOf({ world, label }: Snapshot, index: number): Snapshot[] {
  const killed = { world: world.killed(), label: `${label}, killed` };
  const [name, choose] = cuts[index % cuts.length] ?? ["", () => "dropped" as const];
  if (world.disk.unsynced().length === 0) return [killed];
  return [killed, { world: world.crashed(choose), label: `${label}, power cut, ${name}` }];
}

/** Of how many states after a crash one is crashed again at each step of its recovery. */
const again = 61;

test("a run survives a kill and a power cut at each of its effects, and at those of the recovery", async () => {
  const whole = newWorld();
  await begin(whole);
  await expectDoneOnce(whole);

  const crashes = (await snapshotsOf(newWorld(), begin)).flatMap(crashesOf);
  expect(crashes.length).toBeGreaterThan(300);
  let index = 0;
  const failures: string[] = [];
  const exam = async ({ world, label }: Snapshot): Promise<void> => {
    try {
      await goOn(world);
      await expectDoneOnce(world);
    } catch (error) {
      failures.push(`${label}: ${String(error)}`);
    }
  };
  for (const crash of crashes) {
    if (index++ % again === 0) {
      const second = await snapshotsOf(crash.world, goOn);
      for (const one of second.flatMap(crashesOf))
        await exam({ ...one, label: `${crash.label}; then ${one.label}` });
    }
    await exam(crash);
  }
  expect(failures.slice(0, 10)).toEqual([]);
}, 300_000);

import { goOnOnce, goOnToEnd } from "./commands-story.ts";
import { judgeCommands } from "./commands-judge.ts";
import type { EngineWorld } from "./engine-world.ts";
import type { Fate, UnsyncedChange } from "./memory-disk.ts";
import { changesMachine, type MemoryProcess } from "./memory-processes.ts";

/** Who dies, alone, on a machine that goes on. */
export type Victim = "worker" | "supervisor" | "both";

/**
 * Has the victim die before the `at`-th change of the machine, goes on to the end and judges. False where there was no
 * such victim at that moment. `start` stays as it is.
 */
export async function dieAt(start: EngineWorld, victim: Victim, at: number): Promise<boolean> {
  const world = start.killed();
  const first = world.process();
  let changes = 0;
  let isHit = false;
  const died = new Promise<void>((resolve) => {
    world.disk.gate = (effect) => {
      if (!changesMachine(effect) || changes++ !== at) return undefined;
      const supervisors = victim === "worker" ? [] : world.supervisors();
      isHit = victim === "worker" || supervisors.length > 0;
      if (!isHit) return undefined;
      for (const supervisor of supervisors) supervisor.die();
      if (victim === "supervisor") return undefined;
      first.die();
      resolve();
      return undefined;
    };
  });
  await world.within(Promise.race([goOnOnce(world, first), died]));
  world.disk.gate = undefined;
  if (isHit) await toTheEnd(world, victim !== "worker");
  world.end();
  return isHit;
}

/** As long as a stopped supervisor stays so, unless the run is over before. */
const stoppedMs = 60_000;

/**
 * Stops the first supervisor at its `at`-th effect, as the system may, and has the worker die; the supervisor goes on
 * when the recovery is over. False where there is no such effect.
 */
export async function delayAt(start: EngineWorld, at: number): Promise<boolean> {
  const world = start.killed();
  const first = world.process();
  let late: MemoryProcess | undefined;
  let effects = 0;
  const stopped = new Promise<void>((resolve) => {
    world.disk.gate = (effect) => {
      const [supervisor] = world.supervisors();
      if (late !== undefined || effect.process !== supervisor?.name || effects++ !== at) return undefined;
      late = supervisor;
      late.disk.stop();
      first.die();
      resolve();
      return undefined;
    };
  });
  await world.within(Promise.race([goOnOnce(world, first), stopped]));
  if (late === undefined) {
    world.end();
    return false;
  }
  void world.clock.sleep(stoppedMs).then(() => late?.disk.goOn());
  await goOnToEnd(world);
  late.disk.goOn();
  await judgeCommands(world, { ofCommands: false });
  world.end();
  return true;
}

/** How many changes of the machine a run makes that nobody disturbs, and how many effects its supervisor has. */
export async function countChanges(start: EngineWorld): Promise<{ changes: number; supervised: number }> {
  const world = start.killed();
  await world.within(goOnOnce(world));
  const { effects } = world.disk;
  const name = world.supervisors()[0]?.name;
  const changes = effects.filter(changesMachine).length;
  world.end();
  return { changes, supervised: effects.filter(({ process }) => process === name).length };
}

/** A machine before one of the changes of a run, and what the change is. */
export interface Moment {
  readonly world: EngineWorld;
  readonly label: string;
}

/** The machine before each change, with all its processes killed. `act` is what goes on there. */
export async function momentsOf(
  start: EngineWorld,
  act: (world: EngineWorld) => Promise<unknown> = goOnOnce,
): Promise<Moment[]> {
  const world = start.killed();
  const moments: Moment[] = [];
  world.disk.gate = (effect) => {
    if (!changesMachine(effect)) return undefined;
    const { index, process, verb, path } = effect;
    moments.push({ world: world.killed(), label: `${index} ${process} ${verb} ${path}` });
    return undefined;
  };
  await world.within(act(world));
  world.disk.gate = undefined;
  world.end();
  return moments;
}

/** Goes on where all processes were killed. */
export async function afterKill({ world }: Moment): Promise<void> {
  const killed = world.killed();
  await toTheEnd(killed, true);
  killed.end();
}

/** Goes on after a power cut. */
export async function afterPowerCut(
  { world }: Moment,
  choose?: (change: UnsyncedChange, index: number) => Fate,
): Promise<void> {
  const crashed = world.crashed(choose);
  await toTheEnd(crashed, true);
  crashed.end();
}

async function toTheEnd(world: EngineWorld, ofCommands: boolean): Promise<void> {
  await goOnToEnd(world);
  await judgeCommands(world, { ofCommands });
}

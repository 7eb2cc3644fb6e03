/**
 * Crashes a scenario at each of its effects, in every way that a kill or a power cut may leave the disk, and looks
 * whether the product needs anything or anybody to go on. The exam is always the same:
 *
 *     crash → reopen → crash again at each effect of the reopening → reopen → go on writing → compare with the oracle
 */
import { isHoldfastError } from "../../src/model/errors.ts";
import { changesDisk, type Effect, type Fate, type UnsyncedChange } from "./memory-disk.ts";
import { World } from "./world.ts";
import { compare, goOn } from "../store/go-on.ts";

/** What is crashed. It must do the same each time that it is run. */
export interface Scenario {
  readonly name: string;
  /** What stands before: made by an actor of its own, durable, never crashed. Resolves to the session, if any. */
  readonly prepare?: (world: World) => Promise<void>;
  /** What is crashed at each effect. */
  readonly act: (world: World) => Promise<void>;
  /** What the same processes do next, where one of those effects failed and none fails any more. */
  readonly again?: (world: World) => Promise<void>;
}

/** How much was looked at. */
export interface Tally {
  effects: number;
  crashes: number;
  secondCrashes: number;
  /** Of both, how many differed in what stood on the disk or in what was known: each of these was gone on with. */
  distinct: number;
}

interface Snapshot {
  readonly world: World;
  readonly label: string;
  /** True in the middle of a write that overwrites. */
  readonly inPlace?: boolean;
}

type Power = readonly [name: string, choose: (change: UnsyncedChange, index: number) => Fate];

const halfOf = (bytes: Uint8Array): number => bytes.length >> 1;

/** What a power cut may make of what was not synced. */
const powerCuts: readonly Power[] = [
  ["nothing survives", () => "dropped"],
  ["all survives", () => "kept"],
  ["every other change survives", (_change, index) => (index % 2 === 0 ? "kept" : "dropped")],
  ["the others survive", (_change, index) => (index % 2 === 1 ? "kept" : "dropped")],
  ["writes are torn", (change) => (change.kind === "write" ? { torn: halfOf(change.bytes) } : "kept")],
  ["writes are garbage", (change) => (change.kind === "write" ? "garbage" : "kept")],
  [
    "writes are zeros",
    (change) => (change.kind === "write" ? { instead: new Uint8Array(change.bytes.length) } : "kept"),
  ],
  [
    "the last byte is missing",
    (change) => (change.kind === "write" ? { torn: change.bytes.length - 1 } : "kept"),
  ],
];

/** The plain ones, for the second of two crashes. That all survives is what a kill looks like. */
const secondCuts = powerCuts.filter(([name]) => /nothing|garbage/.test(name));

/** Crashes the scenario everywhere; throws at the first state that the product does not master, naming it. */
export async function everyCrash(scenario: Scenario): Promise<Tally> {
  const start = await prepared(scenario);
  const tally: Tally = { effects: 0, crashes: 0, secondCrashes: 0, distinct: 0 };
  const snapshots = await snapshotsOf(start, scenario.act);
  tally.effects = snapshots.length - 1;
  const seen = new Set<string>();
  // The second crashes of the plain ones come first: what they look at is not looked at again.
  const plain = snapshots.flatMap((snapshot) => [...crashesOf(snapshot, secondCuts)]);
  const torn = await tornSnapshots(scenario, start);
  const all = [...snapshots, ...torn].flatMap((snapshot) => [...crashesOf(snapshot, powerCuts)]);
  tally.crashes = all.length;
  for (const crashed of plain) tally.secondCrashes += await crashAgain(crashed, seen);
  for (const crashed of all) {
    if (crashesTwice) tally.secondCrashes += await crashAgain(crashed, seen);
    else if (isNew(crashed.world, seen)) await named(crashed.label, () => goOnForGood(crashed.world));
  }
  tally.distinct = seen.size;
  return tally;
}

/** In the full campaign a second crash follows each first one, otherwise only a plain one. */
const crashesTwice = process.env["HOLDFAST_CAMPAIGN"] === "full";

/** What the scenario starts from, durable. */
export async function prepared(scenario: Scenario): Promise<World> {
  const world = new World();
  await scenario.prepare?.(world);
  world.disk.settle();
  return world;
}

/** Runs `act` once and keeps what stood before each effect that changes the disk, and what stands at its end. */
async function snapshotsOf(start: World, act: (world: World) => Promise<void>): Promise<Snapshot[]> {
  const world = start.killed();
  const snapshots: Snapshot[] = [];
  const keep = (label: string): void => void snapshots.push({ world: world.killed(), label });
  world.disk.gate = (effect) => {
    if (changesDisk(effect)) keep(`before ${describe(effect)}`);
    return undefined;
  };
  await act(world);
  world.disk.gate = undefined;
  keep("at the end");
  return snapshots;
}

/** Each write cut after one byte, in the middle and before its last byte, and the process dead. */
async function tornSnapshots(scenario: Scenario, start: World): Promise<Snapshot[]> {
  const snapshots: Snapshot[] = [];
  const writes = await writesOf(scenario, start);
  for (const { index, bytes = 0 } of writes) {
    for (const short of new Set([1, bytes >> 1, bytes - 1])) {
      if (short > 0 && short < bytes) snapshots.push(await tornSnapshot(scenario, start, { index, short }));
    }
  }
  return snapshots;
}

async function writesOf(scenario: Scenario, start: World): Promise<Effect[]> {
  const world = start.killed();
  await scenario.act(world);
  return world.disk.effects.filter(({ verb }) => verb === "write");
}

async function tornSnapshot(
  scenario: Scenario,
  start: World,
  { index, short }: { index: number; short: number },
): Promise<Snapshot> {
  const world = start.killed();
  world.disk.fault = (effect) => (effect.index === index ? { short } : undefined);
  return await new Promise<Snapshot>((resolve, reject) => {
    world.disk.gate = (effect) => {
      if (effect.index <= index) return undefined;
      const { path } = world.disk.effects[index] ?? effect;
      const inPlace = path.endsWith("/head");
      resolve({ world: world.killed(), label: `after ${short} bytes of write ${index} to ${path}`, inPlace });
      return new Promise(() => undefined);
    };
    scenario.act(world).then(() => reject(new Error(`effect ${index} did not come`)), reject);
  });
}

/** Every state that a crash at this moment may leave. */
function* crashesOf({ world, label, inPlace }: Snapshot, cuts: readonly Power[]): Generator<Snapshot> {
  // A kill tears no write of this size; a full disk does, but not where no space is needed.
  if (inPlace !== true) yield { world: world.killed(), label: `${label}, killed` };
  const isClean = world.disk.unsynced().length === 0;
  for (const [name, choose] of isClean ? cuts.slice(0, 1) : cuts) {
    yield { world: world.crashed(choose), label: `${label}, power cut, ${name}` };
  }
}

/** Reopens a crashed world, crashes it again on the way, and goes on. Resolves to the number of second crashes. */
async function crashAgain(crashed: Snapshot, seen: Set<string>): Promise<number> {
  if (!isNew(crashed.world, seen)) return 0;
  const snapshots = await named(crashed.label, () => snapshotsOf(crashed.world, reopen));
  const crashes = snapshots.flatMap((snapshot) => [...crashesOf(snapshot, secondCuts)]);
  for (const again of crashes) {
    if (!isNew(again.world, seen)) continue;
    await named(`${crashed.label}; then ${again.label}`, () => goOnForGood(again.world));
  }
  return crashes.length;
}

/** Goes on, begins something new, and asks whether a power cut that takes all it can leaves what was acknowledged. */
async function goOnForGood(world: World): Promise<void> {
  await goOn(world);
  await world.actor("creator").create();
  const after = world.crashed();
  const left = await after.actor("lister").store.ids();
  for (const session of after.oracle.sessions) {
    if (!left.includes(session)) throw new Error(`session ${session} does not survive a power cut`);
  }
  for (const session of left) await compare(after, session);
}

/** What was gone on with once need not be gone on with again. */
function isNew({ disk, oracle, boot }: World, seen: Set<string>): boolean {
  const known = [oracle.sessions, oracle.logs, oracle.queues].map((part) => [...part].map(String));
  const records = [...oracle.logs.values(), ...oracle.queues.values()].map(({ tried, acknowledged }) => [
    [...tried],
    acknowledged,
  ]);
  const state = JSON.stringify([boot, disk.fingerprint(), known, records]);
  if (seen.has(state)) return false;
  seen.add(state);
  return true;
}

async function named<T>(label: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    const code = isHoldfastError(error) ? `${error.code}: ` : "";
    throw new Error(`${label}: ${code}${what}`, { cause: error });
  }
}

function describe(effect: Effect): string {
  const to = effect.to === undefined ? "" : ` to ${effect.to}`;
  return `effect ${effect.index} (${effect.process}: ${effect.verb} ${effect.path}${to})`;
}

/** What going on begins with: each session is held, and each queue is looked at as if to append. */
async function reopen(world: World): Promise<void> {
  for (const session of await world.actor("lister").store.ids()) {
    await world.actor("reopener").holdRepaired(session);
  }
}

/**
 * Crashes a scenario at each of its steps, and again at each step of what comes next, in every way that a kill or a
 * power cut may leave the disk. The exam is always the same:
 *
 *     crash → reopen → crash again on the way → reopen → go on writing → compare → power cut → compare
 *
 * An address is the first crash, or the first and the second with a `/` between. A crash is the step that did not come
 * (`12`), how many bytes of it came where it is a write (`12t40`), and what happened to what was not synced: `k` where
 * all processes were killed, or `:` and a letter for each change where the power was cut (see power-cut.ts).
 */
import { changesDisk, type UnsyncedChange } from "../memory-disk.ts";
import { fatesOf, namedCuts, randomCut, type Device } from "../power-cut.ts";
import { promised } from "./finding.ts";
import type { Machine, MachineScenario } from "./machine.ts";
import { AddressError, type Case, type Counts, type Extent, type Plan } from "./plan.ts";
import { Random, seedFrom } from "./random.ts";
import { afterTorn, everyPoint, findingAt, stepsOf } from "./steps.ts";

/** A crash, as an address has it. */
interface Crash {
  readonly step: number;
  readonly tornBytes?: number;
  /** The fates of what was not synced; absent where all was killed. */
  readonly cut?: string;
}

/** A step that writes. */
interface Write {
  readonly step: number;
  readonly bytes: number;
  /** It writes over what is there, which needs no space. */
  readonly isInPlace: boolean;
}

/** On the way of going on the power is cut at so many steps at most. */
const looksMax = { small: 3, full: 24, endless: 24 };
/** Work of more steps is not listed. */
const listedStepsMax = 80;
/** Where a full plan has more second crashes, it takes some for each first one. */
const secondCrashesMax = 40_000;

/** The plan of a scenario; `smallCases`: how many a small one tries. */
export function crashPlan<M extends Machine<M>>(
  scenario: MachineScenario<M>,
  { smallCases = 60 }: { smallCases?: number } = {},
): Plan {
  return new CrashPlan(scenario, smallCases);
}

class CrashPlan<M extends Machine<M>> implements Plan {
  readonly mishap = "crash";
  readonly hasChance = true;
  readonly scenario: string;
  readonly #does: MachineScenario<M>;
  readonly #smallCases: number;
  #size: Extent["size"] = "full";
  readonly #seen = new Set<string>();
  #start: M | undefined;
  /** What stands before each step, and after each torn write, by the beginning of the address. */
  #points: M[] | undefined;
  readonly #torn = new Map<string, M>();
  #writes: Write[] = [];
  /** The last first crash and what stood before the steps of its reopening. */
  #reopened: { readonly first: string; readonly points: readonly M[] } | undefined;

  constructor(scenario: MachineScenario<M>, smallCases: number) {
    this.#smallCases = smallCases;
    this.#does = scenario;
    this.scenario = scenario.name;
  }

  async *cases({ size, seed }: Extent): AsyncIterable<Case> {
    this.#size = size;
    const random = new Random(seed ^ seedFrom(this.scenario));
    if (size === "small") yield* this.#some(random);
    else if (size === "full") yield* this.#all(random);
    else for (;;) yield* this.#chance(random);
  }

  /** Some of what can be listed, half of it with a second crash. */
  async *#some(random: Random): AsyncIterable<Case> {
    // Of a single one chance says which it is.
    const half = Math.floor((this.#smallCases + random.below(2)) / 2);
    for (let left = this.#smallCases - half; left > 0; left--)
      yield this.#case([await this.#anyCrash(random)]);
    for (let left = half; left > 0;) {
      const first = await this.#anyCrash(random);
      const seconds = await this.#secondCrashes(first, plainCuts);
      const some = sample(seconds, Math.min(left, 4), random);
      for (const second of some) yield this.#case([first, second]);
      left -= some.length;
    }
  }

  async #anyCrash(random: Random): Promise<Crash> {
    const place = await this.#anyPlace(random);
    const crashes = crashesAt(await this.#pointAt(place), place, usualCuts);
    return random.of(crashes.filter((crash) => this.#mayBe(crash)));
  }

  /** A step, or the middle of one that writes. */
  async #anyPlace(random: Random): Promise<Omit<Crash, "cut">> {
    const points = await this.#pointsOfAct();
    const write = this.#writes.length > 0 && random.oneIn(4) ? random.of(this.#writes) : undefined;
    if (write === undefined) return { step: random.below(points.length) };
    return { step: write.step, tornBytes: 1 + random.below(Math.max(1, write.bytes - 1)) };
  }

  /** A kill tears no write of the usual sizes; a full disk does, but not where no space is needed. */
  #mayBe({ step, tornBytes, cut }: Crash): boolean {
    if (tornBytes === undefined || cut !== undefined) return true;
    return this.#writes.some((write) => write.step === step && !write.isInPlace);
  }

  /** Of long work only what chance makes: to list it all takes longer than any campaign. */
  async *#all(random: Random): AsyncIterable<Case> {
    const points = await this.#pointsOfAct();
    if (points.length > listedStepsMax) for (;;) yield* this.#chance(random);
    const firsts = await this.#firstCrashes(allCuts);
    for (const first of sample(firsts, firsts.length, random)) yield this.#case([first]);
    // Of second crashes an equal part for each first one, where they are too many.
    const eachMax = Math.max(3, Math.ceil(secondCrashesMax / firsts.length));
    for (const first of sample(firsts, firsts.length, random)) {
      if (!this.#isNew("reopened", await this.#crash(first))) continue;
      const seconds = await this.#secondCrashes(first, usualCuts);
      for (const second of sample(seconds, eachMax, random)) yield this.#case([first, second]);
    }
  }

  caseAt(address: string): Promise<Case> {
    return Promise.resolve(this.#case(address.split("/").map(parseCrash)));
  }

  // What can be listed

  async #firstCrashes(cuts: Cuts): Promise<Crash[]> {
    const points = await this.#pointsOfAct();
    const crashes = points.flatMap((machine, step) => crashesAt(machine, { step }, cuts));
    for (const { step, bytes } of this.#writes) {
      for (const tornBytes of new Set([1, bytes >> 1, bytes - 1])) {
        if (tornBytes <= 0 || tornBytes >= bytes) continue;
        const place = { step, tornBytes };
        const torn = crashesAt(await this.#pointAt(place), place, cuts);
        crashes.push(...torn.filter((crash) => this.#mayBe(crash)));
      }
    }
    return crashes;
  }

  async #secondCrashes(first: Crash, cuts: Cuts): Promise<Crash[]> {
    const points = await this.#pointsOfReopening(first);
    return points.flatMap((machine, step) => crashesAt(machine, { step }, cuts));
  }

  /** Some cases that chance makes: one first crash, and a few second ones. */
  async *#chance(random: Random): AsyncIterable<Case> {
    const place = await this.#anyPlace(random);
    const cut = (machine: M | undefined): string =>
      randomCut(machine?.disk.unsynced() ?? [], random.of(devices), () => random.unit());
    const first = { ...place, cut: cut(await this.#pointAt(place)) };
    yield this.#case([first]);
    const reopened = await this.#pointsOfReopening(first);
    for (let round = 0; round < 4; round++) {
      const step = random.below(reopened.length);
      yield this.#case([first, { step, cut: cut(reopened[step]) }]);
    }
  }

  // One case

  #case(crashes: readonly Crash[]): Case {
    const address = crashes.map(writeCrash).join("/");
    return {
      address,
      run: async () => {
        try {
          return await this.#run(crashes, address);
        } catch (error) {
          throw findingAt(`${this.scenario} at ${address}`, error);
        }
      },
    };
  }

  async #run(crashes: readonly Crash[], address: string): Promise<Partial<Counts>> {
    const [first, second] = crashes;
    if (first === undefined) return {};
    const last = second ?? first;
    const machine = second === undefined ? await this.#crash(first) : await this.#crashTwice(first, second);
    if (!this.#isNew("", machine)) return {};
    const isPower = last.cut !== undefined;
    const points = await everyPoint(machine, (on) => this.#does.goOn(on));
    await this.#reading(machine, () => this.#does.judge(machine));
    const after = machine.crashed();
    await this.#reading(after, () => this.#does.judge(after));
    const isNewAfter = this.#isNew("after", after);
    return {
      simulatedKills: isPower ? 0 : 1,
      powerStates: (isPower ? 1 : 0) + (isNewAfter ? 1 : 0) + (await this.#lookAround(points, address)),
      goneOn: 1,
    };
  }

  /** The power is cut on the way too, at some steps: whoever reads then finds all that was acknowledged until there. */
  async #lookAround(points: readonly M[], address: string): Promise<number> {
    const random = new Random(seedFrom(address));
    let looked = 0;
    for (const point of sample(points, looksMax[this.#size], random)) {
      const cut = randomCut(point.disk.unsynced(), random.of(devices), () => random.unit());
      const machine = crashed(point, cut);
      if (!this.#isNew("look", machine)) continue;
      await this.#reading(machine, () => this.#does.look(machine));
      looked++;
    }
    return looked;
  }

  async #reading(machine: M, read: () => Promise<void>): Promise<void> {
    const before = machine.disk.effects.length;
    await read();
    const written = machine.disk.effects.slice(before).find(changesDisk);
    promised(written === undefined, "foreign write", () => `reading did ${written?.verb} ${written?.path}`);
  }

  async #crash(crash: Crash): Promise<M> {
    return crashed(await this.#pointAt(crash), crash.cut);
  }

  async #crashTwice(first: Crash, second: Crash): Promise<M> {
    const points = await this.#pointsOfReopening(first);
    const point = points[second.step];
    if (point === undefined) throw new AddressError(`reopening has no step ${second.step}`);
    return crashed(point, second.cut);
  }

  // Machines at a point

  async #begin(): Promise<M> {
    this.#start ??= await this.#does.set();
    return this.#start.killed();
  }

  async #pointsOfAct(): Promise<readonly M[]> {
    if (this.#points !== undefined) return this.#points;
    const act = (machine: M) => this.#does.act(machine);
    const steps = await stepsOf(await this.#begin(), act);
    this.#writes = steps.flatMap(({ verb, path, bytes = 0 }, step) =>
      verb === "write" && bytes > 1 ? [{ step, bytes, isInPlace: path.endsWith("/head") }] : [],
    );
    this.#points = await everyPoint(await this.#begin(), act);
    return this.#points;
  }

  async #pointAt({ step, tornBytes }: Crash): Promise<M> {
    const points = await this.#pointsOfAct();
    if (tornBytes === undefined) {
      const point = points[step];
      if (point === undefined) throw new AddressError(`${this.scenario} has no step ${step}`);
      return point;
    }
    const key = `${step}t${tornBytes}`;
    const torn =
      this.#torn.get(key) ??
      (await afterTorn(await this.#begin(), (machine) => this.#does.act(machine), {
        step,
        bytes: tornBytes,
      }));
    this.#torn.set(key, torn);
    return torn;
  }

  async #pointsOfReopening(first: Crash): Promise<readonly M[]> {
    const name = writeCrash(first);
    if (this.#reopened?.first === name) return this.#reopened.points;
    const points = await everyPoint(await this.#crash(first), (machine) => this.#does.reopen(machine));
    this.#reopened = { first: name, points };
    return points;
  }

  /** False where the same was done with an equal machine before. */
  #isNew(what: string, machine: M): boolean {
    const state = `${what} ${machine.disk.fingerprint()} ${machine.knows()}`;
    if (this.#seen.has(state)) return false;
    this.#seen.add(state);
    return true;
  }
}

const devices: readonly Device[] = ["sequential", "safe_append", "arbitrary"];

type Cuts = (unsynced: readonly UnsyncedChange[]) => readonly string[];

const allCuts: Cuts = (unsynced) => namedCuts(unsynced, "arbitrary").map(({ letters }) => letters);
/** Those that a name stands for whatever is at stake. */
const usualCuts: Cuts = (unsynced) =>
  namedCuts(unsynced, "arbitrary").flatMap(({ name, letters }) => (/change \d/.test(name) ? [] : [letters]));
/** The plain ones, for the second of two crashes. That all survives is what a kill looks like. */
const plainCuts: Cuts = (unsynced) =>
  namedCuts(unsynced, "arbitrary").flatMap(({ name, letters }) =>
    /^(nothing|each write is garbage)/.test(name) ? [letters] : [],
  );

/** A kill, and each of the cuts where something is at stake. */
function crashesAt<M extends Machine<M>>(machine: M, place: Omit<Crash, "cut">, cuts: Cuts): Crash[] {
  const unsynced = machine.disk.unsynced();
  return [place, ...cuts(unsynced).map((cut) => ({ ...place, cut }))];
}

function crashed<M extends Machine<M>>(point: M, cut: string | undefined): M {
  return cut === undefined ? point.killed() : point.crashed(fatesOf(cut, point.disk.unsynced()));
}

/** So many of them at most, in an order that chance makes. */
function sample<T>(all: readonly T[], max: number, random: Random): readonly T[] {
  const left = [...all];
  for (let index = 0; index < Math.min(max, left.length - 1); index++) {
    const other = index + random.below(left.length - index);
    [left[index], left[other]] = [left[other] as T, left[index] as T];
  }
  return left.slice(0, max);
}

function writeCrash({ step, tornBytes, cut }: Crash): string {
  const torn = tornBytes === undefined ? "" : `t${tornBytes}`;
  return `${step}${torn}${cut === undefined ? "k" : `:${cut}`}`;
}

function parseCrash(text: string): Crash {
  const match = /^(\d+)(?:t(\d+))?(?:k|:([a-z]+|-))$/.exec(text);
  if (match === null)
    throw new AddressError(`${JSON.stringify(text)} is no crash; one is like 12k, 12t40k or 12:dkg`);
  const [, step, tornBytes, cut] = match;
  return {
    step: Number(step),
    ...(tornBytes !== undefined && { tornBytes: Number(tornBytes) }),
    ...(cut !== undefined && { cut }),
  };
}

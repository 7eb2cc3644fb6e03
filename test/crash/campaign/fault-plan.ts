/**
 * Lets the n-th effect of a scenario fail, once and from then on, for n = 0, 1, 2, … until it passes; the same again
 * inside a recovery. Every failure must be told by its name; then the same processes, new ones, and those who come after
 * a power cut must be able to go on, with nothing lost.
 *
 * An address is what fails and when, `EIO@12` once or `EIO@12+` from then on; in a recovery the step at which all died
 * comes first: `7k/EIO@3`.
 */
import type { Effect, Fault, Verb } from "../memory-disk.ts";
import { examineFailed, failureOf } from "./fault-exam.ts";
import type { Machine, MachineScenario } from "./machine.ts";
import { AddressError, type Case, type Counts, type Extent, type Plan } from "./plan.ts";
import { Random, seedFrom } from "./random.ts";
import { everyPoint, findingAt } from "./steps.ts";

/** A way to fail, and the effects that it befalls. */
interface FaultKind {
  readonly fault: Fault;
  readonly verbs: ReadonlySet<Verb>;
}

const opening: readonly Verb[] = ["open", "create", "lock", "list", "fileSystem", "syncDirectory", "cutTail"];
const naming: readonly Verb[] = ["create", "makeDirectory", "rename", "link", "remove", "removeDirectory"];
const touching: readonly Verb[] = ["read", "write", "sync", "truncate", "stat", "statLink", "statFile"];

const kinds: Readonly<Record<string, FaultKind>> = {
  EIO: { fault: { code: "EIO" }, verbs: new Set([...opening, ...naming, ...touching]) },
  cut: { fault: { afterwards: "EIO" }, verbs: new Set<Verb>(["cutTail"]) },
  ENOSPC: { fault: { code: "ENOSPC" }, verbs: new Set<Verb>(["write", "sync", ...naming]) },
  EMFILE: { fault: { code: "EMFILE" }, verbs: new Set(opening) },
  EACCES: { fault: { code: "EACCES" }, verbs: new Set<Verb>(["open", "lock", "list", ...naming]) },
  short: { fault: { short: 7 }, verbs: new Set<Verb>(["write"]) },
};

/** One fault, as an address has it. */
interface Mishap {
  readonly kind: string;
  readonly at: number;
  readonly isLasting: boolean;
  /** The step of the act at which all were killed, where the recovery is what fails. */
  readonly killedAt?: number;
}

/** A full plan goes over the effects so many times, each time over others. */
const sweeps = 16;
/** Of so many deaths the recovery is made to fail in a full plan, each time in another sweep. */
const recoveriesMax = 12;

/** The plan of a scenario; `smallCases`: about how many a small one tries. */
export function faultPlan<M extends Machine<M>>(
  scenario: MachineScenario<M>,
  { smallCases = 60 }: { smallCases?: number } = {},
): Plan {
  return new FaultPlan(scenario, smallCases);
}

class FaultPlan<M extends Machine<M>> implements Plan {
  readonly mishap = "fault";
  readonly scenario: string;
  readonly #does: MachineScenario<M>;
  readonly #smallCases: number;
  #start: M | undefined;
  #points: readonly M[] | undefined;
  /** Whether the last case had nothing left to fail. */
  #passed = false;

  constructor(scenario: MachineScenario<M>, smallCases: number) {
    this.#smallCases = smallCases;
    this.#does = scenario;
    this.scenario = scenario.name;
  }

  async *cases({ size, seed }: Extent): AsyncIterable<Case> {
    const random = new Random(seed ^ seedFrom(`fault ${this.scenario}`));
    if (size === "small") yield* this.#some(random);
    else if (size === "full") yield* this.#all(random);
  }

  /** Some faults of each kind, a few of them in a recovery. */
  async *#some(random: Random): AsyncIterable<Case> {
    const effects = await this.#effectsOfAct();
    const points = (await this.#pointsOfAct()).length;
    for (let round = 0; round < this.#smallCases; round++) {
      const [kind, { verbs }] = random.of(Object.entries(kinds));
      const place = random.oneIn(4) ? { killedAt: random.below(points) } : {};
      const at = random.below(effects.filter(({ verb }) => verbs.has(verb)).length);
      yield this.#case({ ...place, kind, at, isLasting: random.oneIn(2) });
    }
  }

  /** Every fault of every kind, in sweeps: whoever stops early has seen something of everything. */
  async *#all(random: Random): AsyncIterable<Case> {
    const points = await this.#pointsOfAct();
    const first = random.below(sweeps);
    for (let sweep = 0; sweep < sweeps; sweep++) {
      const from = (first + sweep * 7) % sweeps;
      yield* this.#rising({}, from);
      if (sweep < recoveriesMax) yield* this.#rising({ killedAt: random.below(points.length) }, from);
    }
  }

  /** Every kind, once and lasting, at each effect of a sweep until it passes. */
  async *#rising(place: Pick<Mishap, "killedAt">, from: number): AsyncIterable<Case> {
    for (const kind of Object.keys(kinds)) {
      for (const isLasting of [false, true]) {
        this.#passed = false;
        for (let at = from; !this.#passed; at += sweeps) yield this.#case({ ...place, kind, at, isLasting });
      }
    }
  }

  caseAt(address: string): Promise<Case> {
    return Promise.resolve(this.#case(parseMishap(address)));
  }

  #case(mishap: Mishap): Case {
    const address = writeMishap(mishap);
    return {
      address,
      run: async () => {
        try {
          return await this.#run(mishap);
        } catch (error) {
          // What broke once need not be broken by every later one.
          this.#passed = true;
          throw findingAt(`${this.scenario} with ${address}`, error);
        }
      },
    };
  }

  async #run(mishap: Mishap): Promise<Partial<Counts>> {
    const { killedAt } = mishap;
    const isRecovery = killedAt !== undefined;
    const machine = isRecovery ? await this.#pointAt(killedAt) : await this.#begin();
    const work = (on: M) => (isRecovery ? this.#does.goOn(on) : this.#does.act(on));
    const failing = new Failing(mishap);
    machine.disk.fault = (effect) => failing.faultOf(effect);
    const failure = await failureOf(work(machine));
    machine.disk.fault = undefined;
    this.#passed = failing.first === undefined;
    if (failing.first === undefined) return {};
    try {
      await examineFailed(this.#does, machine, { failure, mayActAgain: !isRecovery });
    } catch (error) {
      throw findingAt(`${failing.first} failed`, error);
    }
    return { faults: 1 };
  }

  async #begin(): Promise<M> {
    this.#start ??= await this.#does.set();
    return this.#start.killed();
  }

  /** Effects that may fail in the act, of any kind. */
  async #effectsOfAct(): Promise<readonly Effect[]> {
    const machine = await this.#begin();
    await this.#does.act(machine);
    return machine.disk.effects.filter(({ process }) => process !== "main");
  }

  async #pointsOfAct(): Promise<readonly M[]> {
    this.#points ??= await everyPoint(await this.#begin(), (machine) => this.#does.act(machine));
    return this.#points;
  }

  async #pointAt(step: number): Promise<M> {
    const point = (await this.#pointsOfAct())[step];
    if (point === undefined) throw new AddressError(`${this.scenario} has no step ${step}`);
    return point.killed();
  }
}

/** Says of each effect whether it fails. */
class Failing {
  readonly #kind: FaultKind;
  readonly #mishap: Mishap;
  #count = 0;
  /** The first effect that failed, in words. */
  first: string | undefined;

  constructor(mishap: Mishap) {
    const kind = kinds[mishap.kind];
    if (kind === undefined) throw new AddressError(`nothing fails as ${mishap.kind}`);
    this.#kind = kind;
    this.#mishap = mishap;
  }

  faultOf(effect: Effect): Fault | undefined {
    const { fault, verbs } = this.#kind;
    const { at, isLasting } = this.#mishap;
    // What the scenario does by hand is not the product's.
    if (effect.process === "main" || !verbs.has(effect.verb)) return undefined;
    const index = this.#count++;
    if (index !== at && !(isLasting && index > at)) return undefined;
    this.first ??= `effect ${effect.index} (${effect.process}: ${effect.verb} ${effect.path})`;
    // A short write of less than it would take anyway is none.
    if (fault.short !== undefined && (effect.bytes ?? 0) <= fault.short) return { short: 0 };
    return fault;
  }
}

function writeMishap({ kind, at, isLasting, killedAt }: Mishap): string {
  const place = killedAt === undefined ? "" : `${killedAt}k/`;
  return `${place}${kind}@${at}${isLasting ? "+" : ""}`;
}

function parseMishap(text: string): Mishap {
  const match = /^(?:(\d+)k\/)?(\w+)@(\d+)(\+?)$/.exec(text);
  if (match === null)
    throw new AddressError(`${JSON.stringify(text)} is no fault; one is like EIO@12, EIO@12+, 7k/EIO@3`);
  const [, killedAt, kind = "", at, lasting] = match;
  return {
    kind,
    at: Number(at),
    isLasting: lasting === "+",
    ...(killedAt !== undefined && { killedAt: Number(killedAt) }),
  };
}

/**
 * Has processes of one machine die, stop or lose each other alone, one after the other, while the others go on; and all
 * of them too. An address is the mishaps in order, `worker@12,stop@3`: before which change of the machine, counted
 * from the mishap before.
 */
import { addressOf, mishapKinds, mishapsAt, type Mishap, type MishapKind } from "../mishaps.ts";
import { playUnder, type Mortal, type Passed, type Story } from "../play-under.ts";
import type { Case, Counts, Extent, Plan } from "./plan.ts";
import { Random, seedFrom } from "./random.ts";
import { findingAt } from "./steps.ts";

/** What is played, and how many mishaps a full plan has one after the other. */
export interface MishapScenario<State, Worker extends Mortal> {
  readonly name: string;
  readonly mishapsMax: number;
  /** Of so many places a small plan takes one. */
  readonly smallStride: number;
  story(): Promise<Story<State, Worker>>;
}

/** The plan of a scenario. */
export function mishapPlan<State, Worker extends Mortal>(scenario: MishapScenario<State, Worker>): Plan {
  return new MishapPlan(scenario);
}

/** An endless one has at most so many in a case. */
const endlessMishapsMax = 5;

class MishapPlan<State, Worker extends Mortal> implements Plan {
  readonly mishap = "alone";
  readonly scenario: string;
  readonly #does: MishapScenario<State, Worker>;
  #story: Promise<Story<State, Worker>> | undefined;
  /** How far the last case came. */
  #passed: Passed = { hits: 0, changes: 0 };

  constructor(scenario: MishapScenario<State, Worker>) {
    this.#does = scenario;
    this.scenario = scenario.name;
  }

  async *cases({ size, seed }: Extent): AsyncIterable<Case> {
    const whole = this.#case([]);
    if (size !== "endless") yield whole;
    else await whole.run();
    const { changes } = this.#passed;
    const random = new Random(seed ^ seedFrom(`alone ${this.scenario}`));
    if (size === "endless") yield* this.#byChance(random, changes);
    else if (size === "full") {
      yield* this.#late(changes, 1);
      yield* this.#behind([], changes, this.#does.mishapsMax);
    } else {
      yield* this.#late(changes, this.#does.smallStride);
      yield* this.#sample(random, changes);
    }
  }

  caseAt(address: string): Promise<Case> {
    return Promise.resolve(this.#case(address === quiet ? [] : mishapsAt(address)));
  }

  /** Everything that may befall what is left after these mishaps. */
  async *#behind(before: readonly Mishap[], changes: number, left: number): AsyncIterable<Case> {
    for (const kind of mishapKinds) {
      for (let at = 0; at < changes && isPlaced(kind, before); at++) {
        const mishaps = [...before, { kind, at }];
        yield this.#case(mishaps);
        const { hits, changes: rest } = this.#passed;
        // Where it found nobody, what follows is what would be without it.
        if (left > 1 && hits === mishaps.length) yield* this.#behind(mishaps, rest, left - 1);
      }
    }
  }

  /**
   * A supervisor that stops anywhere, whose worker dies at once, and that goes on anywhere in the recovery: it may be
   * about to start what is found never to have been started.
   */
  async *#late(changes: number, stride: number): AsyncIterable<Case> {
    for (let at = 0; at < changes; at += stride) {
      const before: Mishap[] = [
        { kind: "stop", at },
        { kind: "worker", at: 0 },
      ];
      yield this.#case(before);
      const { hits, changes: rest } = this.#passed;
      if (hits < before.length) continue;
      for (let then = 0; then < rest; then += stride) {
        yield this.#case([...before, { kind: "go-on", at: then }]);
      }
    }
  }

  *#sample(random: Random, changes: number): Iterable<Case> {
    const { smallStride } = this.#does;
    for (const kind of mishapKinds.filter((one) => one !== "sway")) {
      for (let at = random.below(smallStride); at < changes; at += smallStride) {
        yield this.#case([{ kind, at }]);
        yield this.#case([{ kind, at }, this.#anyMishap(random, changes)]);
      }
    }
  }

  *#byChance(random: Random, changes: number): Iterable<Case> {
    for (;;) {
      const count = 2 + random.below(endlessMishapsMax - 1);
      const mishaps = Array.from({ length: count }, () => this.#anyMishap(random, changes));
      const sway: Mishap = { kind: "sway", at: random.below(swaysMax) };
      yield this.#case(random.oneIn(2) ? mishaps : [sway, ...mishaps]);
    }
  }

  #anyMishap(random: Random, changes: number): Mishap {
    // What comes soon after another mishap finds more that is under way.
    const span = random.oneIn(2) ? changes : Math.ceil(changes / 4);
    return { kind: random.of(mishapKinds.filter((kind) => kind !== "sway")), at: random.below(span) };
  }

  #case(mishaps: readonly Mishap[]): Case {
    const address = mishaps.length === 0 ? quiet : addressOf(mishaps);
    const run = async (): Promise<Partial<Counts>> => {
      this.#passed = { hits: 0, changes: 0 };
      try {
        this.#story ??= this.#does.story();
        this.#passed = await playUnder(await this.#story, mishaps);
      } catch (error) {
        throw findingAt(`${this.scenario} with ${address}`, error);
      }
      return countsOf(mishaps.slice(0, this.#passed.hits));
    };
    return { address, run };
  }
}

const swaysMax = 1_000_000;

/** The order of effects is drawn before anything else happens. */
function isPlaced(kind: MishapKind, before: readonly Mishap[]): boolean {
  return kind !== "sway" || before.length === 0;
}

/** The address of the case in which nothing befalls anybody. */
const quiet = "none";

function countsOf(mishaps: readonly Mishap[]): Partial<Counts> {
  const count = (...kinds: MishapKind[]) => mishaps.filter(({ kind }) => kinds.includes(kind)).length;
  return {
    simulatedKills: count("worker", "supervisor", "both", "command", "kill"),
    powerStates: count("power", "power-odd", "power-even"),
    faults: count("break", "fail", "fail-after"),
    orders: count("stop", "stop-worker", "go-on", "sway"),
  };
}

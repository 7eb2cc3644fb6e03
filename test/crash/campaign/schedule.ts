import { isOfEngine, nameOf } from "./catalog.ts";
import type { Plan } from "./plan.ts";
import { Random } from "./random.ts";
import type { Task } from "./task.ts";

/** What is asked of a campaign. */
export interface Wish {
  readonly seed: number;
  readonly size: "small" | "full";
  /** Milliseconds that it may take, where it is full. */
  readonly budgetMs: number;
  /** Processes that work at the same time. */
  readonly jobs: number;
}

/** Of the time of the one process that takes them, what plans with real processes, mounts and waits get. */
const realShare = 0.5;
/** Of the time of all others, what these get; the rest is left to chance at work on the store, the fastest by far. */
const shares = { engineCrashes: 0.1, engineFaults: 0.1, storeCrashes: 0.08, storeFaults: 0.2, others: 0.08 };
const chanceMs = 30_000;

/**
 * Hands out tasks: first every plan, each with its share of the time; then what chance makes, plan after plan, until the
 * time is over. Of the plans that start real processes one process at a time is busy with. A small campaign tries of
 * each plan what that one holds right, however long it takes.
 */
export class Schedule {
  readonly #wish: Wish;
  readonly #random: Random;
  readonly #endMs: number;
  readonly #real: Task[];
  readonly #memory: Task[];
  /** Names of plans in which chance makes cases without end; the fast ones stand there more often. */
  readonly #endless: readonly string[];
  #round = 0;

  constructor(plans: readonly Plan[], wish: Wish) {
    this.#wish = wish;
    this.#random = new Random(wish.seed);
    this.#endMs = performance.now() + wish.budgetMs;
    const real = plans.filter((plan) => plan.isReal === true);
    const memory = plans.filter((plan) => plan.isReal !== true);
    this.#real = this.#tasks(real, wish.budgetMs * realShare);
    const memoryMs = wish.budgetMs * (wish.jobs - (real.length > 0 ? realShare : 0));
    const names = Object.keys(shares) as (keyof typeof shares)[];
    const groups = names.map((name) => ({ name, plans: memory.filter((plan) => groupOf(plan) === name) }));
    const there = groups.filter((group) => group.plans.length > 0);
    const listed = there.flatMap(({ name, plans: some }) =>
      // Where only a few are wanted, they share more of the time.
      this.#tasks(some, memoryMs * (there.length < names.length ? 0.6 / there.length : shares[name])),
    );
    this.#memory = shuffled(listed, this.#random);
    const chance = memory.filter(({ hasChance }) => hasChance === true);
    const fast = chance.filter(({ makesScenarios }) => makesScenarios === true);
    this.#endless = [
      ...chance,
      ...fast.flatMap((plan) => Array.from({ length: chance.length * 4 }, () => plan)),
    ].map(nameOf);
  }

  /** The next task for a process; `isFirst` where it is the one that takes real plans before all others. */
  next(isFirst: boolean): Task | undefined {
    const leftMs = this.#endMs - performance.now();
    const isSmall = this.#wish.size === "small";
    if (!isSmall && leftMs < 2000) return undefined;
    const listed = (isFirst ? this.#real.shift() : undefined) ?? this.#memory.shift() ?? this.#real.shift();
    if (listed !== undefined) return listed;
    if (isSmall || this.#endless.length === 0) return undefined;
    const seed = this.#wish.seed + ++this.#round;
    return {
      plan: this.#random.of(this.#endless),
      extent: { seed, size: "endless" },
      forMs: Math.min(chanceMs, leftMs),
    };
  }

  #tasks(plans: readonly Plan[], forMs: number): Task[] {
    const { seed, size } = this.#wish;
    const each = size === "full" ? { forMs: forMs / plans.length } : {};
    return plans.map((plan) => ({ plan: nameOf(plan), extent: { seed, size }, ...each }));
  }
}

function groupOf(plan: Plan): keyof typeof shares {
  if (isOfEngine(plan)) return plan.mishap === "crash" ? "engineCrashes" : "engineFaults";
  if (plan.mishap === "crash") return "storeCrashes";
  return ["fault", "full", "order"].includes(plan.mishap) ? "storeFaults" : "others";
}

function shuffled<T>(all: readonly T[], random: Random): T[] {
  const left = [...all];
  return all.flatMap(() => left.splice(random.below(left.length), 1));
}

import { nameOf } from "./catalog.ts";
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

/** Of the time of one process, how much goes into what can be listed; the rest is chance's. */
const listedShare = 0.5;
const chanceMs = 45_000;

/**
 * Hands out tasks: first everything that can be listed, each plan with its share of the time; then what chance makes,
 * plan after plan, until the time is over. Of the plans that start real processes one process at a time is busy with.
 */
export class Schedule {
  readonly #wish: Wish;
  readonly #memory: Task[];
  readonly #real: Task[];
  readonly #endless: readonly string[];
  readonly #random: Random;
  readonly #endMs: number;
  #round = 0;

  constructor(plans: readonly Plan[], wish: Wish) {
    this.#wish = wish;
    this.#random = new Random(wish.seed);
    this.#endMs = performance.now() + wish.budgetMs;
    const real = plans.filter((plan) => plan.isReal === true);
    const memory = plans.filter((plan) => plan.isReal !== true);
    const lanes = Math.max(1, wish.jobs - (real.length > 0 ? 1 : 0));
    this.#real = real.map((plan) => this.#listed(plan, (wish.budgetMs * 0.9) / real.length));
    this.#memory = memory.map((plan) =>
      this.#listed(plan, (wish.budgetMs * lanes * listedShare) / memory.length),
    );
    this.#endless = memory.filter(({ hasChance }) => hasChance === true).map(nameOf);
  }

  /** The next task for a process; `isFirst` where it is the one that takes real plans before all others. */
  next(isFirst: boolean): Task | undefined {
    const listed = (isFirst ? this.#real.shift() : undefined) ?? this.#memory.shift() ?? this.#real.shift();
    if (listed !== undefined) return listed;
    const leftMs = this.#endMs - performance.now();
    if (this.#wish.size === "small" || leftMs < 2000 || this.#endless.length === 0) return undefined;
    const seed = this.#wish.seed + ++this.#round;
    return {
      plan: this.#random.of(this.#endless),
      extent: { seed, size: "endless" },
      forMs: Math.min(chanceMs, leftMs),
    };
  }

  #listed(plan: Plan, forMs: number): Task {
    const { seed, size } = this.#wish;
    return { plan: nameOf(plan), extent: { seed, size }, ...(size === "full" && { forMs }) };
  }
}

/**
 * Where several processes work at once: at each step of one of them, that one is held until another one has taken a step
 * of its own, so that each pair of neighbouring changes comes in both orders. At the moment when the held one may go on,
 * all are killed, or the power is cut; and once all goes on to the end. An address is the step that is held.
 */
import { setImmediate as turn } from "node:timers/promises";
import { changesDisk, type Effect } from "../memory-disk.ts";
import { failureOf } from "./fault-exam.ts";
import type { Machine, MachineScenario } from "./machine.ts";
import { numberOf, type Case, type Plan } from "./plan.ts";
import { Random, seedFrom } from "./random.ts";
import { findingAt } from "./steps.ts";

/** Turns of the loop in which nothing happens: then whoever is held is waited for. */
const idleTurns = 4;
/** Fewer than whoever waits for a lock makes before it says that the other one is busy. */
const triesMax = 12;

/** The plan of a scenario, which has no cases where one process works alone; `smallCases`: how many a small one tries. */
export function orderPlan<M extends Machine<M>>(
  scenario: MachineScenario<M>,
  { smallCases = 3 }: { smallCases?: number } = {},
): Plan {
  const caseAt = (start: M, step: number): Case => ({
    address: String(step),
    run: async () => {
      try {
        return { orders: await tryOrder(scenario, start, step) };
      } catch (error) {
        throw findingAt(`${scenario.name} with step ${step} held`, error);
      }
    },
  });
  return {
    mishap: "order",
    scenario: scenario.name,
    async *cases({ size, seed }) {
      if (size === "endless" || (size === "small" && smallCases === 0)) return;
      const start = await scenario.set();
      const steps = await stepsWithOthers(scenario, start.killed());
      const random = new Random(seed ^ seedFrom(scenario.name));
      const few = Array.from({ length: Math.min(smallCases, steps.length) }, () => random.of(steps));
      for (const step of size === "full" ? steps : new Set(few)) yield caseAt(start, step);
    },
    caseAt: async (address) => caseAt(await scenario.set(), numberOf(address)),
  };
}

/** The steps of a process while another one has begun and still has steps to take. */
async function stepsWithOthers<M extends Machine<M>>(
  scenario: MachineScenario<M>,
  machine: M,
): Promise<number[]> {
  const before = machine.disk.effects.length;
  await scenario.act(machine);
  const effects = machine.disk.effects.slice(before);
  const others = (list: readonly Effect[], { process }: Effect): Set<string> =>
    new Set(list.flatMap((effect) => (effect.process === process ? [] : [effect.process])));
  return effects.filter(changesDisk).flatMap((effect, step) => {
    const place = effects.indexOf(effect);
    const begun = others(effects.slice(0, place), effect);
    const goesOn = others(effects.slice(place).filter(changesDisk), effect);
    return [...goesOn].some((name) => begun.has(name)) ? [step] : [];
  });
}

async function tryOrder<M extends Machine<M>>(
  scenario: MachineScenario<M>,
  start: M,
  step: number,
): Promise<number> {
  const machine = start.killed();
  const held = new HeldStep(machine, step);
  machine.disk.gate = (effect) => held.gate(effect);
  const failure = await failureOf(scenario.act(machine));
  machine.disk.gate = undefined;
  if (failure !== undefined) throw new Error(`it failed with ${failure} in that order`);
  const { moment } = held;
  const machines = [machine.killed(), ...(moment === undefined ? [] : [moment.killed(), moment.crashed()])];
  for (const one of machines) {
    await scenario.goOn(one);
    await scenario.judge(one);
  }
  return moment === undefined ? 0 : 1;
}

/** Holds one step until somebody else has taken one, or nobody does anything. */
class HeldStep<M extends Machine<M>> {
  readonly #machine: M;
  readonly #step: number;
  #steps = 0;
  #held: string | undefined;
  #other: string | undefined;
  #effects = 0;
  #tries = 0;
  #release: () => void = () => undefined;
  /** What stood when the other one had taken its step. */
  moment: M | undefined;

  constructor(machine: M, step: number) {
    this.#machine = machine;
    this.#step = step;
  }

  gate(effect: Effect): Promise<void> | undefined {
    this.#effects++;
    if (this.#held === undefined) {
      if (!changesDisk(effect) || this.#steps++ !== this.#step) return undefined;
      this.#held = effect.process;
      const released = new Promise<void>((resolve) => (this.#release = resolve));
      void this.#releaseWhenIdle();
      return released;
    }
    if (effect.process === this.#held || this.moment !== undefined) return undefined;
    // Whoever waits for a lock of the process that is held gets it only when that goes on.
    if (effect.verb === "lock" && ++this.#tries > triesMax) this.#release();
    // Whatever it does next, its step before is done.
    if (effect.process === this.#other) {
      this.moment = this.#machine.killed();
      this.#release();
    } else if (changesDisk(effect)) this.#other ??= effect.process;
    return undefined;
  }

  async #releaseWhenIdle(): Promise<void> {
    for (let idle = 0, seen = -1; idle < idleTurns;) {
      idle = seen === this.#effects ? idle + 1 : 0;
      seen = this.#effects;
      await turn();
    }
    this.#release();
  }
}

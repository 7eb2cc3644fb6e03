/**
 * Lets the disk of a scenario fill up: so many bytes are free, more and more until it passes. Then there is space again,
 * and everybody must be able to go on, with nothing lost. An address is how many bytes were free.
 */
import { examineFailed, failureOf } from "./fault-exam.ts";
import type { Machine, MachineScenario } from "./machine.ts";
import { numberOf, type Case, type Plan } from "./plan.ts";
import { Random, seedFrom } from "./random.ts";
import { findingAt } from "./steps.ts";

/** Bytes by which the space grows from case to case; odd, so that writes are cut everywhere. */
const strideBytes = 211;

/** The plan of a scenario; `smallCases`: how many a small one tries. */
export function fullPlan<M extends Machine<M>>(
  scenario: MachineScenario<M>,
  { smallCases = 3 }: { smallCases?: number } = {},
): Plan {
  /** Resolves to whether anybody was told that there is no space. */
  const run = async (start: M, free: number): Promise<boolean> => {
    const machine = start.killed();
    machine.disk.space = machine.disk.used + free;
    const failure = await failureOf(scenario.act(machine));
    machine.disk.space = undefined;
    await examineFailed(scenario, machine, { failure, mayActAgain: true });
    return failure !== undefined;
  };
  const caseAt = (start: M, free: number): Case => ({
    address: String(free),
    run: async () => {
      try {
        return { faults: (await run(start, free)) ? 1 : 0 };
      } catch (error) {
        throw findingAt(`${scenario.name} with ${free} bytes free`, error);
      }
    },
  });
  return {
    mishap: "full",
    scenario: scenario.name,
    async *cases({ size, seed }) {
      if (size === "endless" || (size === "small" && smallCases === 0)) return;
      const start = await scenario.set();
      const whole = start.killed();
      await scenario.act(whole);
      const needed = whole.disk.used - start.disk.used;
      if (size === "small") {
        const random = new Random(seed ^ seedFrom(scenario.name));
        for (let left = smallCases; left > 0; left--) yield caseAt(start, random.below(needed));
      } else for (let free = 0; free < needed; free += strideBytes) yield caseAt(start, free);
    },
    caseAt: async (address) => caseAt(await scenario.set(), numberOf(address)),
  };
}

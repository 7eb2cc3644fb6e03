import { crashPlan } from "./crash-plan.ts";
import type { Case, Extent, Plan } from "./plan.ts";
import { Random } from "./random.ts";
import type { Machine, MachineScenario } from "./machine.ts";

/** Of each scenario that chance makes so many cases, then the next one. */
const casesEach = { small: 60, full: 250, endless: 250 };
const scenariosMax = { small: 4, full: 400, endless: Infinity };

/**
 * Crashes scenarios that chance makes, each a few times: what nobody thought of. An address is the scenario's seed, a
 * `/`, and then that of a crash plan.
 */
export function chancePlan<M extends Machine<M>>(make: (random: Random) => MachineScenario<M>): Plan {
  const { name } = make(new Random(0));
  const planOf = (seed: number): Plan => crashPlan(make(new Random(seed)));
  return {
    mishap: "crash",
    hasChance: true,
    makesScenarios: true,
    scenario: name,
    async *cases({ seed, size }: Extent): AsyncIterable<Case> {
      const random = new Random(seed);
      for (let round = 0; round < scenariosMax[size]; round++) {
        const own = random.below(1e9);
        let left = casesEach[size];
        for await (const one of planOf(own).cases({ seed: own, size: "endless" })) {
          if (left-- === 0) break;
          yield { address: `${own}/${one.address}`, run: () => one.run() };
        }
      }
    },
    async caseAt(address) {
      const [own = "", ...rest] = address.split("/");
      return await planOf(Number(own)).caseAt(rest.join("/"));
    },
  };
}

import { Finding } from "../crash/campaign/finding.ts";
import type { Case, Extent, Plan } from "../crash/campaign/plan.ts";
import { Random, seedFrom } from "../crash/campaign/random.ts";
import { commandOf, commandsMax, type StoreCommand } from "./store-commands.ts";
import { StorePair } from "./store-pair.ts";

const sizes: Readonly<Record<Extent["size"], number>> = { small: 40, full: 20_000, endless: Infinity };
const lengthMax = 40;

/** Random commands to a store, compared with the reference after each. An address is `<seed>.<number>`. */
export const storeModelPlan: Plan = {
  scenario: "store beside its reference",
  mishap: "model",
  hasChance: true,
  cases: async function* ({ seed, size }) {
    for (let number = 0; number < sizes[size]; number++) yield await caseAt(`${seed}.${number}`);
  },
  caseAt,
};

async function caseAt(address: string): Promise<Case> {
  if (!/^\d+\.\d+$/.test(address)) throw new Error(`there is no case ${address}`);
  const random = new Random(seedFrom(address));
  const length = 1 + random.below(lengthMax);
  const commands = Array.from({ length }, () => commandOf(random.below(commandsMax)));
  return {
    address,
    run: async () => {
      await runCommands(commands);
      return { histories: 1 };
    },
  };
}

/** Runs commands on both; resolves to how often what came of it. Throws a finding that says at which they parted. */
export async function runCommands(commands: readonly StoreCommand[]): Promise<ReadonlyMap<string, number>> {
  const pair = new StorePair();
  const done: string[] = [];
  for (const command of commands) {
    done.push(JSON.stringify(command));
    try {
      await pair.run(command);
    } catch (error) {
      const promise = error instanceof Finding ? error.promise : "untyped";
      throw new Finding(promise, `${String(error)}\nafter ${done.join("\n      ")}`, error);
    }
  }
  return pair.ends;
}

import { appendMutants } from "./append.ts";
import { commandMutants } from "./commands.ts";
import { engineMutants } from "./engine.ts";
import { fileMutants } from "./files.ts";
import { lineMutants } from "./lines.ts";
import { makingMutants } from "./making.ts";
import { mendingMutants } from "./mending.ts";
import type { Mutant } from "./mutant.ts";
import { queueMutants } from "./queues.ts";

/** All of them, by what they damage. */
export const mutants: readonly Mutant[] = [
  ...appendMutants,
  ...lineMutants,
  ...makingMutants,
  ...mendingMutants,
  ...queueMutants,
  ...engineMutants,
  ...fileMutants,
  ...commandMutants,
];

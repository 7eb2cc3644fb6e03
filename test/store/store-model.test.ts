import fc from "fast-check";
import { expect, test } from "vitest";
import { commandOf, commandsMax } from "./store-commands.ts";
import { runCommands } from "./store-model-plan.ts";

const commands = fc.array(fc.nat({ max: commandsMax - 1 }).map(commandOf), {
  minLength: 1,
  maxLength: 40,
  size: "max",
});

/** What must have happened, or a comparison says little. */
const interesting = [
  "create: none",
  "hold: none",
  "hold: busy",
  "hold: deleted",
  "hold: rolled_back",
  "hold: store_copied",
  "hold: durability_unknown",
  "append: none",
  "append: message_id_conflict",
  "log.jsonl: none",
  "log.jsonl: died",
  "log.jsonl: disk_full",
  "log.jsonl: io_error",
  "log.jsonl: durability_unknown",
  "queue.jsonl: none",
  "queue.jsonl: died",
  "queue.jsonl: disk_full",
  "queue.jsonl: durability_unknown",
  "admit: deleted",
  "admit: store_copied",
  "release: none",
  "repair: none",
  "repair: rolled_back",
];

test(
  "a store is always what a reference says that knows no disk, whatever is done to it",
  { timeout: 3_600_000 },
  async () => {
    const ends = new Set<string>();
    const numRuns = Number(process.env["HOLDFAST_RUNS"] ?? 200);
    await fc.assert(
      fc.asyncProperty(commands, async (sequence) => {
        for (const end of (await runCommands(sequence)).keys()) ends.add(end);
      }),
      { numRuns, seed: 1 },
    );
    expect(interesting.filter((end) => !ends.has(end))).toEqual([]);
  },
);

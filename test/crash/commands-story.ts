import { resolveOperation, resume, runTask, type WorkReport } from "../../src/engine/index.ts";
import { promised } from "./campaign/finding.ts";
import { judgeCommands, readCalls } from "./commands-judge.ts";
import { EngineWorld, type WorkerProcess } from "./engine-world.ts";
import type { Story } from "./play-under.ts";
import { Witness } from "./witness.ts";

/** A run with an effect of each class that can be in doubt, on a machine in memory where everybody can die alone. */

const line = (word: string, rest: string): string => `append ${word} ${Witness.path}; ${rest}`;

/** The commands, by the word that they leave with the witness. */
export const commandLines: Readonly<Record<string, string>> = {
  one: line("one", "say one"),
  two: line("two", "sleep 300; say two"),
};

const turns = [
  { calls: Object.values(commandLines).map((command) => ({ tool: "exec", args: { command } })) },
  {
    calls: [
      { tool: "pay", args: { amount: 5 } },
      { tool: "launch", args: { word: "rocket" } },
      { tool: "edit", args: { path: "counter.txt", old: "n", new: "n+" } },
    ],
  },
  { text: "Done." },
];

/** The machine before the task. */
export function newCommandWorld(): EngineWorld {
  const world = new EngineWorld({ commands: true });
  world.disk.plant("/cassette.json", JSON.stringify({ cassette: 1, turns }));
  world.disk.plant("/project/counter.txt", "n\n");
  world.witness.set();
  return world;
}

/** Gives the task to a new process, or one that is given. */
export async function giveTask(world: EngineWorld, process = world.process()): Promise<WorkReport> {
  const { model, workspace } = EngineWorld;
  const policy = { allowShell: true };
  const request = { workspace, model, agent: "builtin", policy, task: "Do it." };
  return await runTask(
    process.engine,
    request,
    world.observer(),
    (session) => void world.begun.push(session),
  );
}

/** The machine, all durable and nobody alive, when the model has asked for its first commands and none has begun. */
export async function askedForCommands(): Promise<EngineWorld> {
  const world = newCommandWorld();
  const process = world.process();
  const asked = new Promise<EngineWorld>((resolve) => {
    world.disk.gate = ({ path }) => {
      if (!path.endsWith("/spool")) return undefined;
      process.die();
      resolve(world.killed());
      return undefined;
    };
  });
  const unasked = giveTask(world, process).then(() => {
    throw new Error("no command was asked for");
  });
  const start = await world.within(Promise.race([asked, unasked]));
  world.end();
  start.disk.settle();
  return start;
}

/** The run from there on, however often somebody dies: who looks what happened when nobody can know, says so. */
export function commandsStory(start: EngineWorld): Story<undefined, WorkerProcess> {
  return {
    start,
    newState: () => undefined,
    worker: (world) => world.process(),
    async live({ world, worker: { engine } }) {
      const [selector = ""] = await engine.store.ids();
      const report = await resume(engine, { selector, acceptRollback: false }, world.observer());
      if (report.ending === "completed" || report.ending === "idle") return true;
      promised(report.ending === "input_required", "other", () => `it ended ${JSON.stringify(report)}`);
      await sayWhatHappened(world);
      return false;
    },
    judge: async (world, _state, happened) => await judgeCommands(world, happened),
  };
}

/** The person waits until no command runs any more, and looks into the witness. */
async function sayWhatHappened(world: EngineWorld): Promise<void> {
  await world.quiet();
  const { session, calls } = await readCalls(world);
  const { engine } = world.process();
  for (const { word, tries } of calls) {
    const operation = tries.at(-1);
    if (operation?.at !== "unknown") continue;
    const outcome = world.witness.count(word) > 0 ? "ok" : "not_executed";
    const resolution = { session, run: operation.run, operation: operation.operation, outcome } as const;
    await world.within(resolveOperation(engine, { ...resolution, output: "looked at by hand" }));
  }
}

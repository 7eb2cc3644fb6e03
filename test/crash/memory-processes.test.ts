import { expect, test } from "vitest";
import { runTask } from "../../src/engine/index.ts";
import { EngineWorld } from "./engine-world.ts";

test("scratch", async () => {
  const turns = [
    {
      calls: [
        { tool: "exec", args: { command: "append one /witness/log; say one" } },
        { tool: "exec", args: { command: "append two /witness/log; sleep 300; say two" } },
      ],
    },
    {
      calls: [
        { tool: "pay", args: {} },
        { tool: "launch", args: { word: "rocket" } },
      ],
    },
    { text: "Done." },
  ];
  for (let i = 0; i < 4; i++) {
    const world = new EngineWorld({ commands: true });
    world.disk.plant("/cassette.json", JSON.stringify({ cassette: 1, turns }));
    world.disk.plant("/project/counter.txt", "n\n");
    world.witness.set();
    world.disk.settle();
    const started = performance.now();
    const report = await world.within(
      runTask(
        world.engine(),
        {
          workspace: EngineWorld.workspace,
          model: EngineWorld.model,
          agent: "builtin",
          policy: { allowShell: true },
          task: "Do it.",
        },
        world.observer(),
        (session) => void world.begun.push(session),
      ),
    );
    console.log(report, world.clock.monotonicMs(), world.disk.effects.length, performance.now() - started);
    console.log(
      world.table?.living.map((p) => p.name),
      world.executions.length,
      world.witness.count("one"),
    );
    await world.quiet();
    console.log(
      world.table?.living.map((p) => p.name),
      performance.now() - started,
      world.clock.monotonicMs(),
    );
    if (i === 0)
      console.log(
        world.disk.effects
          .map((e) => `${e.index} ${e.process} ${e.verb} ${e.path}`)
          .slice(-420)
          .join("\n"),
      );
    if (i === 0)
      for (const c of world.told) for (const f of c.facts) console.log(JSON.stringify(f).slice(0, 300));
  }
});

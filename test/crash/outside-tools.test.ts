import { expect, test } from "vitest";
import { resume, runTask } from "../../src/engine/index.ts";
import { EngineWorld } from "./engine-world.ts";
import { changesMachine } from "./process-verb.ts";
import { readWhole } from "./campaign/whole-session.ts";

/** A machine on which a run pays and launches, and then ends. */
function newWorld(): EngineWorld {
  const world = new EngineWorld({ commands: true });
  const calls = [
    { tool: "pay", args: { amount: 5 } },
    { tool: "launch", args: { word: "rocket" } },
  ];
  world.disk.plant("/cassette.json", JSON.stringify({ cassette: 1, turns: [{ calls }, { text: "Done." }] }));
  world.disk.plant("/project/readme.txt", "read me\n");
  world.witness.set();
  world.disk.settle();
  return world;
}

async function run(world: EngineWorld): Promise<unknown> {
  const { model, workspace } = EngineWorld;
  const request = { workspace, model, agent: "builtin", policy: { allowShell: true }, task: "Do it." };
  return await world.within(runTask(world.engine(), request, world.observer(), () => undefined));
}

test("a payment is made under one key and a launch is never repeated, wherever the process dies", async () => {
  const world = newWorld();
  const moments: EngineWorld[] = [];
  world.disk.gate = (effect) => {
    if (changesMachine(effect)) moments.push(world.killed());
    return undefined;
  };
  await run(world);
  world.disk.gate = undefined;
  expect(world.payments.done.size).toBe(1);
  expect(world.witness.count("rocket")).toBe(1);
  let doubts = 0;
  for (const moment of moments) {
    const engine = moment.engine();
    const [session] = await engine.store.ids();
    if (session === undefined) continue;
    const request = { selector: session, acceptRollback: false };
    const { ending } = await moment.within(resume(engine, request, moment.observer()));
    const { state } = await readWhole(engine, session);
    const unknown = [...state.operations.values()].filter(({ at }) => at === "unknown");
    expect(moment.payments.done.size).toBe(1);
    expect(moment.witness.count("rocket")).toBeLessThanOrEqual(1);
    // What may have happened and cannot be proven is a person's to say; everything else comes to its end.
    expect(unknown.every(({ tool }) => tool === "launch")).toBe(true);
    expect(ending === "input_required").toBe(unknown.length > 0);
    if (unknown.length === 0) expect(moment.witness.count("rocket")).toBe(1);
    doubts += unknown.length;
    moment.end();
  }
  expect(doubts).toBeGreaterThan(0);
  world.end();
});

test("each blob that a log names is there", async () => {
  const world = newWorld();
  await run(world);
  const engine = world.engine();
  const [session = ""] = await engine.store.ids();
  const { commits } = await readWhole(engine, session);
  const named = [...JSON.stringify(commits).matchAll(/\{"sha256":"([0-9a-f]{64})","bytes":(\d+)\}/g)];
  expect(named.length).toBeGreaterThan(1);
  for (const [, sha256 = "", bytes] of named) {
    const found = await engine.store.blobs(session).get({ sha256, bytes: Number(bytes) });
    expect(found.length).toBe(Number(bytes));
  }
  world.end();
});

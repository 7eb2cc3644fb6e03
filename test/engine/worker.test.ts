import { expect, test } from "vitest";
import { runTask } from "../../src/engine/index.ts";
import { Worker } from "../../src/engine/worker.ts";
import { EngineWorld } from "../crash/engine-world.ts";

test("a line that cannot be true after those before it is not written", async () => {
  const world = new EngineWorld();
  world.disk.plant("/cassette.json", JSON.stringify({ cassette: 1, turns: [{ text: "Done." }] }));
  world.disk.plant("/project/readme.txt", "read me\n");
  const { model, workspace } = EngineWorld;
  const engine = world.engine();
  await runTask(
    engine,
    { workspace, model, agent: "builtin", policy: {}, task: "Do it." },
    world.observer(),
    () => undefined,
  );
  const [session = ""] = await engine.store.ids();
  const worker = await Worker.take(engine, session, { acceptRollback: false, observer: world.observer() });
  const log = world.disk.files().find((path) => path.endsWith("/log.jsonl")) ?? "";
  const before = world.disk.peek(log);
  const settled = worker.commit([{ kind: "op.settled", operation: worker.id("op") }]);
  await expect(settled).rejects.toMatchObject({ code: "internal" });
  expect(world.disk.peek(log)).toEqual(before);
  await worker.abandon();
});

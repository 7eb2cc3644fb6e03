import { describe, expect, test } from "vitest";
import { resume, runTask, type Observer, type WorkReport } from "../../src/engine/index.ts";
import { EngineWorld } from "../crash/engine-world.ts";
import { changesDisk } from "../crash/memory-disk.ts";
import { examine } from "./examine.ts";

const { workspace, model } = EngineWorld;

function newWorld(...turns: unknown[]): EngineWorld {
  const world = new EngineWorld();
  world.disk.plant("/cassette.json", JSON.stringify({ cassette: 1, turns }));
  world.disk.plant("/project/a.txt", "a\n");
  return world;
}

/** Runs a task; `spoil` is called when this fact of it was told. */
async function begin(
  world: EngineWorld,
  spoil: (session: string) => void,
  kind = "run.ended",
): Promise<WorkReport> {
  const request = { workspace, model, agent: "builtin", policy: {}, task: "Do it." };
  const observer: Observer = {
    ...world.observer(),
    commit: (commit) => {
      world.told.push(commit);
      if (commit.facts.some((fact) => fact.kind === kind)) spoil(commit.ses);
    },
  };
  return await runTask(world.engine(), request, observer, () => undefined);
}

describe("a run that ended stays what it was told to be", () => {
  test("where somebody keeps the lock under which the session is let go", async () => {
    const world = newWorld({ text: "Done." });
    const open: { done?: () => void } = {};
    let held: Promise<void> | undefined;
    const other = world.engine();
    const keep = (id: string) => {
      held = other.store.appendToQueue(
        id,
        () => undefined,
        () => new Promise<void>((done) => (open.done = done)),
      );
    };
    // Some steps before the end, so that the lock is taken by then.
    const { ending, session } = await begin(world, keep, "model.requested");
    expect(open.done).toBeDefined();
    expect(ending).toBe("completed");
    open.done?.();
    await held;
    expect(
      (await resume(world.engine(), { selector: session, acceptRollback: false }, world.observer())).ending,
    ).toBe("idle");
  });

  test("where the disk refuses all that follows", async () => {
    for (const code of ["ENOSPC", "EIO", "EMFILE"]) {
      const world = newWorld({ text: "Done." });
      const { ending, session } = await begin(world, () => {
        world.disk.fault = (effect) => (changesDisk(effect) ? { code } : undefined);
      });
      expect(ending).toBe("completed");
      world.disk.fault = undefined;
      const after = world.killed();
      const { state } = await examine(after.engine(), session);
      expect([...state.runs.values()].map((run) => run.at)).toEqual(["completed"]);
    }
  });

  test("where another owner took the log meanwhile", async () => {
    const world = newWorld({ text: "Done." });
    const { ending } = await begin(world, (id) => {
      const log = `/state/sessions/${id}/log.jsonl`;
      world.disk.plant(log, (world.text(log) ?? "").replace(/[^\n]*\n$/, ""));
    });
    expect(ending).toBe("completed");
  });
});

test("nothing to do in a session that somebody else keeps busy is told as busy", async () => {
  const world = newWorld({ text: "Done." });
  const { session } = await begin(world, () => undefined);
  const open: { done?: () => void } = {};
  const held = world.engine().store.appendToQueue(
    session,
    () => undefined,
    () => new Promise<void>((done) => (open.done = done)),
  );
  const again = resume(world.engine(), { selector: session, acceptRollback: false }, world.observer());
  await expect(again).rejects.toMatchObject({ code: "busy" });
  open.done?.();
  await held;
});

import { describe, expect, test } from "vitest";
import { resume, runTask, type Observer } from "../../src/engine/index.ts";
import { isHoldfastError } from "../../src/model/errors.ts";
import { expectDoneOnce, goOn, newWorld } from "./memory-story.ts";
import { EngineWorld } from "../crash/engine-world.ts";
import { changesDisk } from "../crash/memory-disk.ts";

const { workspace, model } = EngineWorld;
const task = { workspace, model, agent: "builtin", policy: {}, task: "Do it." };

/** Runs the story, told to leave before the n-th change of the disk; resolves to what was told after that, and how it ended. */
async function runUntil(world: EngineWorld, at: number): Promise<{ kinds: string[]; ended: string }> {
  const leaving = new AbortController();
  const kinds: string[] = [];
  const observer: Observer = {
    live: () => undefined,
    commit: (commit) => {
      world.told.push(commit);
      if (leaving.signal.aborted) kinds.push(...commit.facts.map((fact) => fact.kind));
    },
  };
  let changes = 0;
  world.disk.gate = (effect) => {
    if (changesDisk(effect) && changes++ === at) leaving.abort();
    return undefined;
  };
  try {
    const begun = (session: string) => void world.begun.push(session);
    const report = await runTask(world.engine(), { ...task, signal: leaving.signal }, observer, begun);
    return { kinds, ended: report.ending };
  } catch (error) {
    return { kinds, ended: isHoldfastError(error) ? error.code : String(error) };
  } finally {
    world.disk.gate = undefined;
  }
}

describe("a process that is told to leave at once", () => {
  test("at any step commits at most the line that it was writing, and who resumes does each thing once", async () => {
    const ends = new Map<string, number>();
    for (let at = 0; ; at++) {
      const world = newWorld();
      const { kinds, ended } = await runUntil(world, at);
      ends.set(ended, (ends.get(ended) ?? 0) + 1);
      const label = `told to leave before change ${at}, then: ${kinds.join()}`;
      // The facts of one line: no call is followed by its answer, no start by its outcome.
      const steps = [
        "model.requested",
        "model.answered",
        "op.started",
        "op.known",
        "run.started",
        "op.settled",
      ];
      expect(new Set(kinds.filter((kind) => steps.includes(kind))).size, label).toBeLessThanOrEqual(1);
      await goOn(world);
      await expectDoneOnce(world);
      if (ended === "completed") break;
    }
    expect([...ends.keys()]).toEqual(["interrupted", "completed"]);
    expect(ends.get("interrupted")).toBeGreaterThan(50);
  });

  test("before it has taken the session writes nothing", async () => {
    const world = newWorld();
    await runUntil(world, Infinity);
    const [selector = ""] = await world.engine().store.ids();
    const before = world.disk.files().map((path) => world.text(path));
    const request = { selector, acceptRollback: false, signal: AbortSignal.abort() };
    await expect(resume(world.engine(), request, world.observer())).rejects.toMatchObject({
      code: "interrupted",
    });
    expect(world.disk.files().map((path) => world.text(path))).toEqual(before);
  });

  test("while the model answers ends the call, and the answer is asked for again", async () => {
    const world = new EngineWorld();
    const words = "word ".repeat(50);
    world.disk.plant(
      "/cassette.json",
      JSON.stringify({ cassette: 1, turns: [{ text: words, perTokenMs: 1 }] }),
    );
    world.disk.plant("/project/a.txt", "a\n");
    const leaving = new AbortController();
    let heard = 0;
    const observer: Observer = {
      ...world.observer(),
      live: () => {
        if (++heard === 3) leaving.abort();
      },
    };
    const run = runTask(world.engine(), { ...task, signal: leaving.signal }, observer, () => undefined);
    await expect(run).rejects.toMatchObject({ code: "interrupted" });
    expect(heard).toBeLessThan(10);
    const [selector = ""] = await world.engine().store.ids();
    const report = await resume(world.engine(), { selector, acceptRollback: false }, world.observer());
    expect(report.ending).toBe("completed");
  });
});

import { describe, expect, test } from "vitest";
import { begin, dying, examine, supervisorDied, untilNobodyDies, work, workOn } from "./exec-story.ts";

describe("a death at any step", () => {
  test("of the worker loses nothing: its supervisor ends the command and the next worker knows", async () => {
    const said = await untilNobodyDies(async (at) => {
      const story = await begin();
      const died = await work(story, at);
      return { died, proven: await examine(story) };
    });
    expect(said).toEqual({ not_executed: expect.any(Number), known: expect.any(Number) });
  });

  test("of the supervisor leaves a true answer, and a worker that lives has a command started once", async () => {
    const said = await untilNobodyDies(async (at) => {
      const story = await begin();
      await workOn(story, dying(story, at));
      await story.scene.supervisorsEnd();
      return { died: supervisorDied(story), proven: await examine(story) };
    });
    expect(said).toEqual({ known: expect.any(Number), unknown: expect.any(Number) });
  });

  test("of both leaves a true answer", async () => {
    const pairs = Array.from(
      { length: 15 },
      (_, index) => [2 + ((index * 5) % 24), 2 + ((index * 7) % 26)] as const,
    );
    for (let first = 0; first < pairs.length; first += 3) {
      await Promise.all(
        pairs.slice(first, first + 3).map(async ([supervisorAt, workerAt]) => {
          const story = await begin();
          await work(story, workerAt, dying(story, supervisorAt));
          await examine(story);
        }),
      );
    }
  });
});

import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { begin, examine, untilNobodyDies, workOn } from "./exec-story.ts";

describe("a fault at any step of the supervisor", () => {
  test.each([
    ["once", "EIO", false],
    ["from then on", "ENOSPC", true],
  ])("leaves a true answer: %s %s", async (_when, code, isLasting) => {
    const said = await untilNobodyDies(async (at) => {
      const story = await begin();
      const file = join(story.scene.folder, "failed");
      const outcome = await workOn(story, { fail: { at, code, file, isLasting } });
      const died = existsSync(file);
      const proven = await examine(story);
      if (outcome !== undefined) expect(proven).toBe(outcome === "not_executed" ? "not_executed" : "known");
      return { died, proven };
    });
    expect(said).toMatchObject({ not_executed: expect.any(Number), known: expect.any(Number) });
  });
});

import { describe, expect, test } from "vitest";
import { done, results, write } from "./asking.ts";
import { Stage } from "./stage.ts";

/** A session whose process died when the write was about to happen. */
async function diedBeforeWrite(path: string): Promise<Stage> {
  const stage = await Stage.set({ turns: [{ calls: [write(path)] }, done] });
  const deaths: Stage[] = [];
  const work = stage.work({
    onFact: ({ kind }) => {
      if (kind === "op.started") deaths.push(stage.killed());
    },
  });
  await work.report;
  const [death] = deaths;
  if (death === undefined) throw new Error("nothing was started");
  return death;
}

describe("what somebody saves between a death and the resume", () => {
  test.each(["new.txt", "a.txt"])("is not replaced by the write that had begun: %s", async (path) => {
    const stage = await diedBeforeWrite(path);
    stage.world.disk.plant(`/project/${path}`, "mine\n");
    expect((await stage.work().report).ending).toBe("completed");
    expect(stage.text(path)).toBe("mine\n");
    expect(results(await stage.examine())).toEqual([expect.stringContaining("was changed by somebody else")]);
    const outcomes = (await stage.operations()).map((one) => ("result" in one ? one.result.outcome : one.at));
    expect(outcomes).toEqual(["not_executed", "error"]);
  });

  test("is no reason against the write where it is what had been there", async () => {
    const stage = await diedBeforeWrite("a.txt");
    stage.world.disk.plant("/project/a.txt", "a\n");
    expect((await stage.work().report).ending).toBe("completed");
    expect(stage.text("a.txt")).toBe("new\n");
  });
});

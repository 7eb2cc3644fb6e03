import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { prepare, until } from "./exec-kit.ts";
import { begin, examine, untilNobodyDies, work, workOn, type Story } from "./exec-story.ts";

describe("a death of the recovery at any step, and a second recovery", () => {
  const states: [string, string, (story: Story) => Promise<unknown>][] = [
    [
      "a start on record",
      "not_executed",
      async ({ scene, call, record }) =>
        writeFileSync(record, JSON.stringify(await prepare(scene.tool(), call))),
    ],
    ["an end on record", "known", (story) => workOn(story)],
    [
      "a claim whose supervisor died",
      "unknown",
      async (story) => {
        const file = join(story.scene.folder, "hold");
        // Between claim and start.
        const working = workOn(story, { hold: { effect: "disk.syncDirectory", nth: 1, file } });
        await until(() => existsSync(`${file}.waiting`));
        for (const pid of story.scene.supervisors()) process.kill(pid, "SIGKILL");
        await working;
      },
    ],
  ];

  test.each(states)("of %s end in the same place: %s", async (_name, proven, arrange) => {
    const said = await untilNobodyDies(async (at) => {
      const story = await begin();
      await arrange(story);
      const died = await work(story, at);
      return { died, proven: await examine(story) };
    });
    expect(Object.keys(said)).toEqual([proven]);
  });
});

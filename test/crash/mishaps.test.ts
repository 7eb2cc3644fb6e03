import { expect, test } from "vitest";
import { mishapsAt } from "./mishaps.ts";
import { playUnder } from "./play-under.ts";
import { commandsScenario } from "./scenarios/commands.ts";

test("the same mishaps come to the same, hit for hit", async () => {
  const story = await commandsScenario.story();
  const once = async (): Promise<unknown> => await playUnder(story, mishapsAt("stop@20,worker@9,go-on@40"));
  expect(await once()).toEqual(await once());
});

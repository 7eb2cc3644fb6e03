import { describe, expect, test } from "vitest";
import { resume, runTask } from "../../src/engine/index.ts";
import type { Commit } from "../../src/model/commit.ts";
import { EngineWorld } from "../crash/engine-world.ts";
import { examine, factsOf } from "./examine.ts";

const { workspace, model } = EngineWorld;
const key = "sk-very-secret-key-0123456789";

function newWorld(...turns: unknown[]): EngineWorld {
  const world = new EngineWorld();
  world.environment = { ANTHROPIC_API_KEY: ` ${key}\n` };
  world.disk.plant("/cassette.json", JSON.stringify({ cassette: 1, turns }));
  world.disk.plant("/project/a.txt", "a\n");
  return world;
}

/** Every place below the state directory, but for the cassette's own bytes, that holds the key. */
function leaks(world: EngineWorld): string[] {
  const inBytes = (path: string) => {
    const bytes = world.disk.peek(path) ?? new Uint8Array();
    return [new TextDecoder().decode(bytes), new TextDecoder("utf-16le").decode(bytes)];
  };
  return world.disk
    .files()
    .filter((path) => path.startsWith("/state") && !(world.text(path) ?? "").startsWith('{"cassette"'))
    .filter((path) => inBytes(path).some((text) => text.includes(key)));
}

async function begin(world: EngineWorld, members: { task: string; title?: string }): Promise<string> {
  const request = { workspace, model, agent: "builtin", policy: {}, ...members };
  return (await runTask(world.engine(), request, world.observer(), () => undefined)).session;
}

const shown = (told: readonly Commit[]): string => JSON.stringify(told);

describe("a key of the environment", () => {
  test.each([
    ["in a task and its title", { task: `Use ${key} to log in.` }],
    ["in a title that a person gave", { task: "Log in.", title: `With ${key}` }],
    ["in a task that is a blob", { task: `Use ${key} ${"long ".repeat(9000)}` }],
    ["in a task that is no well-formed text", { task: `Use ${key} \ud800` }],
  ])("%s is in no file and shown to nobody", async (_, members) => {
    const world = newWorld({ text: "Done." });
    const session = await begin(world, members);
    expect(leaks(world)).toEqual([]);
    expect(shown(world.told)).not.toContain(key);
    const { state } = await examine(world.engine(), session);
    expect(state.row.title).toMatch(/\[redacted\]/);
  });

  test("in a task of resume is in no file, and the same task is known again where its run is open", async () => {
    const world = newWorld(
      { text: "Done." },
      { error: { status: 401, message: `no ${key}` } },
      { text: "Done." },
    );
    const selector = await begin(world, { task: "First." });
    const task = `Use ${key}.`;
    expect(
      (await resume(world.engine(), { selector, acceptRollback: false, task }, world.observer())).ending,
    ).toBe("suspended");
    expect(
      (await resume(world.engine(), { selector, acceptRollback: false, task }, world.observer())).ending,
    ).toBe("completed");
    expect(leaks(world)).toEqual([]);
    expect(shown(world.told)).not.toContain(key);
    const examined = await examine(world.engine(), selector);
    expect(factsOf(examined, "model.failed")).toMatchObject([
      { message: expect.stringContaining("[redacted]") as string },
    ]);
  });

  test("in a path keeps its operation from being executed, and leaves nothing behind", async () => {
    const args = { path: `${key}.txt`, content: "x" };
    const world = newWorld({ calls: [{ tool: "write", args }] }, { text: "Done." });
    const session = await begin(world, { task: "Write." });
    const examined = await examine(world.engine(), session);
    expect(factsOf(examined, "op.started")).toEqual([]);
    expect(factsOf(examined, "op.known")).toMatchObject([{ outcome: "error" }]);
    expect(leaks(world)).toEqual([]);
    expect(world.disk.files().filter((path) => path.startsWith("/project/"))).toEqual(["/project/a.txt"]);
  });
});

test("a title longer than a list can show is refused before a session exists", async () => {
  const world = newWorld({ text: "Done." });
  const begun = begin(world, { task: "Do it.", title: '"'.repeat(120_000) });
  await expect(begun).rejects.toMatchObject({ code: "usage" });
  expect(await world.engine().store.ids()).toEqual([]);
});

import { describe, expect, test } from "vitest";
import { listSessions, readSession, runTask, viewSession } from "../../src/engine/index.ts";
import { viewBranch } from "../../src/model/views.ts";
import { EngineWorld } from "../crash/engine-world.ts";

const { workspace, model } = EngineWorld;

async function newSession(): Promise<{ world: EngineWorld; session: string }> {
  const world = new EngineWorld();
  world.disk.plant("/cassette.json", JSON.stringify({ cassette: 1, turns: [{ text: "Done." }] }));
  world.disk.plant("/project/a.txt", "a\n");
  const request = { workspace, model, agent: "builtin", policy: {}, task: "Do it." };
  const { session } = await runTask(world.engine(), request, world.observer(), () => undefined);
  return { world, session };
}

describe("a session that is shown", () => {
  const states: [string, (world: EngineWorld) => Promise<void> | void, string][] = [
    ["as it is", () => undefined, "yes"],
    ["whose workspace is gone", (world) => world.disk.rename("/project", "/gone"), "cwd-missing"],
  ];
  test.each(states)("%s says of its resume what the list says", async (_, spoil, code) => {
    const { world, session } = await newSession();
    await spoil(world);
    const [listed] = (await listSessions(world.engine(), {})).sessions;
    const view = viewSession(await readSession(world.engine(), session));
    expect(view.resume).toMatchObject({ eligible: code === "yes", code });
    expect(view.resume).toEqual(listed?.resume);
    const { messages: _messages, ...row } = listed ?? { messages: 0 };
    expect(view).toMatchObject(row);
  });

  test("while it is held says so, as the list does", async () => {
    const { world, session } = await newSession();
    const held = await world.engine().store.hold(session, {
      version: "0",
      acceptRollback: false,
      visit: () => undefined,
      visitQueue: () => undefined,
    });
    const view = viewSession(await readSession(world.engine(), session));
    expect(view).toMatchObject({ active: true, resume: { code: "active" } });
    expect((await listSessions(world.engine(), {})).sessions[0]?.resume).toEqual(view.resume);
    await held.abandon();
  });

  test("says where it belongs: the root of its family, or where it left which session", async () => {
    const { world, session } = await newSession();
    const view = viewSession(await readSession(world.engine(), session));
    expect(view.branch).toEqual({
      root: session,
      parent: null,
      parentMissing: false,
      forkPoint: null,
      kind: null,
      legacy: false,
    });
    const parent = {
      session: "ses_1",
      root: "ses_0",
      message: "msg_1",
      ordinal: 3,
      messageAt: 7,
      position: "before",
      kind: "edit",
    } as const;
    const base = { session: "ses_1", seq: 4, sum: "0".repeat(32), bytes: 9 };
    expect(viewBranch(session, { parent, bases: [base] }, true)).toEqual({
      root: "ses_0",
      parent: "ses_1",
      parentMissing: true,
      forkPoint: { message: "msg_1", ordinal: 3, at: 7, position: "before" },
      kind: "edit",
      legacy: false,
    });
    expect(viewBranch(session, { parent }, false)).toMatchObject({ legacy: true, parentMissing: false });
  });
});

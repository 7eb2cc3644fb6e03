import { expect, test } from "vitest";
import { resume, runTask, type AgentRequest } from "../../src/engine/index.ts";
import type { Row, SessionCreated } from "../../src/model/facts.ts";
import { EngineWorld } from "../crash/engine-world.ts";
import { examine, expectSettledOnce, factsOf } from "./examine.ts";

const { workspace, model } = EngineWorld;

/** A machine with a session that was made with another line 0 than this version makes. */
async function plant(
  turns: unknown[],
  change: (created: SessionCreated) => SessionCreated,
): Promise<{ world: EngineWorld; selector: string }> {
  const world = new EngineWorld();
  const cassette = JSON.stringify({ cassette: 1, turns });
  world.disk.plant("/cassette.json", cassette);
  world.disk.plant("/project/a.txt", "a\n");
  const leave = AbortSignal.abort();
  const request = { workspace, model, agent: "builtin", policy: {}, task: "Do it.", signal: leave };
  await runTask(world.engine(), request, world.observer(), () => undefined).catch(() => undefined);
  const { store } = world.engine();
  const [first = ""] = await store.ids();
  const { commits } = await examine(world.engine(), first);
  const [created, row] = (commits[0]?.facts ?? []) as [SessionCreated, Row];
  const selector = await store.create({
    created: change(created),
    row,
    blobs: [new TextEncoder().encode(cassette)],
    queue: [
      {
        kind: "delivery.admitted",
        delivery: "dlv_1",
        idempotencyKey: "dlv_1",
        logSeq: 0,
        source: "user",
        text: "Do it.",
        mode: "queue",
      },
    ],
  });
  return { world, selector };
}

test("what a session was locked to bounds its agent, whatever its policy would permit", async () => {
  const { world, selector } = await plant([{ text: "Done." }], (created) => ({
    ...created,
    capabilities: ["glob", "read"],
  }));
  const asked: AgentRequest[] = [];
  const engine = world.engine();
  const context = {
    ...engine,
    openAgent: (request: AgentRequest) => {
      asked.push(request);
      return engine.openAgent(request);
    },
  };
  expect((await resume(context, { selector, acceptRollback: false }, world.observer())).ending).toBe(
    "completed",
  );
  expect(asked.map((request) => request.capabilities)).toEqual([["glob", "read"]]);
});

test("a tool that needs a person's approval is denied where nobody can be asked, and the log says so", async () => {
  const calls = [{ tool: "write", args: { path: "b.txt", content: "b" } }];
  const { world, selector } = await plant([{ calls }, { text: "Done." }], (created) => ({
    ...created,
    policy: { ...created.policy, approvals: { write: "ask" } },
  }));
  expect((await resume(world.engine(), { selector, acceptRollback: false }, world.observer())).ending).toBe(
    "completed",
  );
  const examined = await examine(world.engine(), selector);
  expectSettledOnce(examined);
  const [operation] = examined.state.operations.keys();
  expect(factsOf(examined, "approval.asked")).toMatchObject([{ operation, capability: "write" }]);
  expect(factsOf(examined, "approval.decided")).toMatchObject([{ operation, decision: "deny" }]);
  expect(factsOf(examined, "op.known")).toMatchObject([{ operation, outcome: "denied" }]);
  expect(world.text("/project/b.txt")).toBeUndefined();
});

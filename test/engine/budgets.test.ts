import { describe, expect, test } from "vitest";
import { resume, runTask, type TaskRequest } from "../../src/engine/index.ts";
import { defaultDefinition } from "../../src/model/default-definition.ts";
import type { AgentDefinition } from "../../src/model/facts.ts";
import { EngineWorld } from "../crash/engine-world.ts";
import { examine, factsOf } from "./examine.ts";

const { workspace, model } = EngineWorld;

/** A machine whose model reads again and again, and says what each answer cost. */
function busyWorld(): EngineWorld {
  const world = new EngineWorld();
  const turn = { calls: [{ tool: "read", args: { path: "a.txt" } }], usage: { input: 90, output: 10 } };
  const turns = Array.from({ length: 8 }, () => turn);
  world.disk.plant("/cassette.json", JSON.stringify({ cassette: 1, turns }));
  world.disk.plant("/project/a.txt", "a\n");
  return world;
}

function bounded(budgets: Partial<AgentDefinition["spec"]["execution"]>): AgentDefinition {
  const { spec } = defaultDefinition;
  return { ...defaultDefinition, spec: { ...spec, execution: { ...spec.execution, ...budgets } } };
}

/** How a run ended, and after how many answers. */
async function ended(members: Partial<TaskRequest>): Promise<[string | undefined, number | undefined]> {
  const world = busyWorld();
  const request = { workspace, model, agent: "builtin", policy: {}, task: "Do it.", ...members };
  const { session } = await runTask(world.engine(), request, world.observer(), () => undefined);
  const [end] = factsOf(await examine(world.engine(), session), "run.ended");
  return [end?.reason, end?.turns];
}

describe("the budget of a run", () => {
  test.each([
    ["turns, of the definition", { maxTurns: 2 }, {}, "budget_turns", 2],
    ["turns, of the policy", { maxTurns: 5 }, { maxTurns: 3 }, "budget_turns", 3],
    [
      "turns, of the definition where the policy gives more",
      { maxTurns: 2 },
      { maxTurns: 6 },
      "budget_turns",
      2,
    ],
    ["tokens, of the definition", { maxTokens: 250 }, { maxTokens: 900 }, "budget_tokens", 3],
    ["tokens, of the policy", {}, { maxTokens: 100 }, "budget_tokens", 1],
  ] as const)("is the narrower one: %s", async (_, definition, policy, ...end) => {
    expect(await ended({ definition: bounded(definition), policy })).toEqual(end);
  });

  test("is that of a policy which was accepted meanwhile, over what the run used before", async () => {
    const world = busyWorld();
    const leaving = new AbortController();
    let answers = 0;
    const observer = {
      live: () => undefined,
      commit: ({ facts }: { facts: readonly { kind: string }[] }) => {
        answers += facts.filter(({ kind }) => kind === "model.answered").length;
        if (answers === 2) leaving.abort();
      },
    };
    const request = { workspace, model, agent: "builtin", policy: { maxTurns: 7 }, task: "Do it." };
    const run = runTask(world.engine(), { ...request, signal: leaving.signal }, observer, () => undefined);
    await expect(run).rejects.toMatchObject({ code: "interrupted" });
    const [selector = ""] = await world.engine().store.ids();
    const accepted = { selector, acceptRollback: false, policy: { maxTurns: 3 }, acceptPolicy: true };
    expect((await resume(world.engine(), accepted, world.observer())).ending).toBe("failed");
    const [end] = factsOf(await examine(world.engine(), selector), "run.ended");
    expect([end?.reason, end?.turns]).toEqual(["budget_turns", 3]);
  });
});

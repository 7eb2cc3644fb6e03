import { describe, expect, test } from "vitest";
import { findRun, readSession, runTask } from "../../src/engine/index.ts";
import { defaultDefinition } from "../../src/model/default-definition.ts";
import type { AgentDefinition } from "../../src/model/facts.ts";
import { EngineWorld } from "../crash/engine-world.ts";
import { examine, factsOf } from "./examine.ts";

const { workspace, model } = EngineWorld;

type Output = AgentDefinition["spec"]["output"];

/** A run of an agent that must answer so, and what came of it. */
async function answered(output: Output, turns: unknown[], environment: Record<string, string> = {}) {
  const world = new EngineWorld();
  world.environment = environment;
  world.disk.plant("/cassette.json", JSON.stringify({ cassette: 1, turns }));
  world.disk.plant("/project/a.txt", "a\n");
  const definition = { ...defaultDefinition, spec: { ...defaultDefinition.spec, output } };
  const request = { workspace, model, agent: "builtin", policy: {}, task: "Do it.", definition };
  const { ending, session } = await runTask(world.engine(), request, world.observer(), () => undefined);
  const examined = await examine(world.engine(), session);
  const [ended] = factsOf(examined, "run.ended");
  const [requested] = factsOf(examined, "model.requested");
  const system = new TextDecoder().decode(
    await world
      .engine()
      .store.blobs(session)
      .get(requested?.system ?? { sha256: "", bytes: 0 }),
  );
  const { error, text } = findRun(await readSession(world.engine(), session), undefined);
  return { ending, ended, system, error, text };
}

const fields: Output = { format: "json", requiredFields: ["summary"] };

describe("a run whose answer must be json", () => {
  test("is completed where it is, also after turns that said something else", async () => {
    const turns = [
      { text: "I look first.", calls: [{ tool: "read", args: { path: "a.txt" } }] },
      { text: '{"summary": "a"}' },
    ];
    const { ending, ended, system, text } = await answered(fields, turns);
    expect([ending, text]).toEqual(["completed", '{"summary": "a"}']);
    expect(ended).not.toHaveProperty("message");
    expect(system).toContain('one JSON object with the members "summary"');
  });

  test("is failed where a member is missing: the answer is kept, and the member named", async () => {
    const { ending, ended, error } = await answered(fields, [{ text: '{"sumary": "a"}' }]);
    expect(ending).toBe("failed");
    expect(ended).toMatchObject({
      status: "failed",
      reason: "output_invalid",
      text: '{"sumary": "a"}',
      message: "the answer does not keep to the definition's output: summary: is missing",
    });
    expect(error).toBe(
      "output_invalid: the answer does not keep to the definition's output: summary: is missing",
    );
  });

  test("is failed where it does not satisfy the schema", async () => {
    const output: Output = {
      format: "json",
      schema: { type: "object", properties: { n: { type: "integer" } } },
    };
    const { ended, system } = await answered(output, [{ text: '{"n": 1.5}' }]);
    expect(ended?.message).toContain("n: must be a whole number, not 1.5");
    expect(system).toContain('{"properties":{"n":{"type":"integer"}},"type":"object"}');
  });

  test("says no secret that the answer holds", async () => {
    const key = "sk-very-secret-key-0123456789";
    const output: Output = { format: "json", schema: { type: "number" } };
    const { ended } = await answered(output, [{ text: JSON.stringify(key) }], { OPENAI_API_KEY: key });
    expect(ended?.message).toContain("must be a number");
    expect(JSON.stringify(ended)).not.toContain(key);
  });
});

test("a run whose answer may be any text is told nothing of a form", async () => {
  const { ending, system } = await answered({ format: "text" }, [{ text: "Done." }]);
  expect(ending).toBe("completed");
  expect(system).not.toContain("JSON");
});

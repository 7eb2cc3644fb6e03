import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Usage } from "../../src/model/values.ts";
import { addUsage } from "../../src/model/values.ts";
import { wires, type Wire } from "../agents/wire.ts";
import { startModelServer, type ModelServer, type ModelTurn } from "../peers/model-server.ts";
import { startFullHost } from "../peers/full-host.ts";
import { factsOf } from "./examine.ts";
import { faults, type Fault } from "./provider-faults.ts";
import { ProviderScene } from "./provider-scene.ts";

// Every fault, over every protocol, through the whole engine: each call is one request that the server saw, and has one end.

const scenes: ProviderScene[] = [];
let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(async () => {
  for (const scene of scenes) scene.end();
  await server.close();
});

function newScene(url?: string): ProviderScene {
  const scene = new ProviderScene(server, url);
  scenes.push(scene);
  return scene;
}

const whole: ModelTurn = { text: "Whole.", usage: { input: 3, output: 2 } };
const itsUsage: Usage = { input: 3, output: 2 };

describe.each(Object.keys(wires) as Wire[])("over the wire of %s", (wire) => {
  const ofWire = faults.filter((fault) => fault.wires?.includes(wire) ?? true);

  test.each(ofWire)("$name", async (fault: Fault) => {
    const scene = newScene();
    if (fault.expire !== undefined) scene.expire(fault.expire);
    const turns = [fault.turn(wire), ...(fault.outcome === "repeated" ? [whole] : [])];
    const report = await scene.run(wire, ...turns);
    const examined = await scene.examine();
    const { failed: expected } = fault;
    const [failure, ...others] = factsOf(examined, "model.failed");
    expect(others).toEqual([]);
    expect(failure).toMatchObject(expected);
    expect(failure?.status).toBe(expected.status);
    expect(failure?.retryAfterMs).toBe(expected.retryAfterMs);
    expect(failure?.message).toMatch(/\S/);
    if (fault.expire !== undefined) await expect.poll(() => scene.asked()[0]?.cutByClient).toBe(true);

    // What a refusal costs is nothing; what anything else did is not known, unless it was told all the same.
    const spent = expected.status === undefined ? addUsage({}, failure?.usage) : {};
    if (fault.outcome === "repeated") {
      expect(report.ending).toBe("completed");
      expect(scene.exitCode(report)).toBe(0);
      expect(factsOf(examined, "run.ended")).toMatchObject([
        { text: "Whole.", usage: addUsage(spent, itsUsage) },
      ]);
      const pauses = scene.pauses.filter((ms) => ms >= 200);
      expect(pauses).toHaveLength(1);
      expect(pauses[0]).toBeGreaterThanOrEqual(expected.retryAfterMs ?? 250);
    } else if (fault.outcome === "suspended") {
      expect(report.ending).toBe("suspended");
      expect(scene.exitCode(report)).toBe(10);
      expect(factsOf(examined, "run.suspended")).toMatchObject([
        { reason: "provider", message: failure?.message },
      ]);
      expect((await scene.resume(whole)).ending).toBe("completed");
      const ended = factsOf(await scene.examine(), "run.ended");
      expect(ended).toMatchObject([{ text: "Whole.", usage: addUsage(spent, itsUsage) }]);
    } else {
      expect(report.ending).toBe("failed");
      expect(scene.exitCode(report)).toBe(1);
      const [ended] = factsOf(examined, "run.ended");
      expect(ended).toMatchObject({ status: "failed", reason: fault.outcome.ended });
      expect(ended?.usage).toEqual(spent);
    }
  });
});

const filterStops: Record<Wire, string> = {
  anthropic: "refusal",
  openai: "content_filter",
  "openai-compatible": "content_filter",
  google: "SAFETY",
};
const lengthStops: Record<Wire, string> = {
  anthropic: "max_tokens",
  openai: "max_output_tokens",
  "openai-compatible": "length",
  google: "MAX_TOKENS",
};

describe.each(Object.keys(wires) as Wire[])("an answer over the wire of %s", (wire) => {
  const unknownEvents: Record<Wire, string> = {
    anthropic: '{"type":"content_block_applause","index":0,"delta":{"type":"applause"}}',
    openai: '{"type":"response.applause","sequence_number":3}',
    "openai-compatible": '{"object":"chat.applause","level":3}',
    google: '{"applause":{"level":3}}',
  };

  test.each([0, 3])("with an event of an unknown kind at %i is an answer: it is passed over", async (at) => {
    const scene = newScene();
    const report = await scene.run(wire, { ...whole, insert: { at, data: unknownEvents[wire] } });
    expect(report.ending).toBe("completed");
    const examined = await scene.examine();
    expect(scene.asked()).toHaveLength(1);
    expect(factsOf(examined, "run.ended")).toMatchObject([{ text: "Whole.", usage: itsUsage }]);
  });

  test("that says nothing after tools ran is the end of the run", async () => {
    const scene = newScene();
    const look = { id: "call_1", name: "glob", args: '{"pattern":"*"}' };
    const report = await scene.run(wire, { calls: [look] }, { usage: { input: 9, output: 0 } });
    expect(report.ending).toBe("completed");
    expect(scene.asked()).toHaveLength(2);
    expect(factsOf(await scene.examine(), "run.ended")).toMatchObject([{ status: "completed", text: "" }]);
  });

  test.each([
    ["a filter stopped", "content_filter", filterStops[wire]],
    ["came to its limit", "answer_cut", lengthStops[wire]],
  ])("that %s ends the run", async (_name, reason, stop) => {
    const scene = newScene();
    const report = await scene.run(wire, { text: "Half an", usage: { input: 1, output: 1 }, stop });
    expect([report.ending, scene.exitCode(report)]).toEqual(["failed", 1]);
    expect(scene.asked()).toHaveLength(1);
    const [ended] = factsOf(await scene.examine(), "run.ended");
    expect(ended).toMatchObject({ status: "failed", reason, text: "Half an" });
  });

  test("that a filter stopped before it began ends the run, too", async () => {
    const scene = newScene();
    const block = {
      promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
      usageMetadata: { promptTokenCount: 4 },
    };
    const turn = wire === "google" ? { events: [JSON.stringify(block)] } : { stop: filterStops[wire] };
    expect((await scene.run(wire, turn)).ending).toBe("failed");
    expect(factsOf(await scene.examine(), "run.ended")).toMatchObject([
      { reason: "content_filter", text: "" },
    ]);
  });

  test("whose usage is not told has none on record, and never 0", async () => {
    const scene = newScene();
    await scene.run(wire, { text: "Whole." });
    const examined = await scene.examine();
    // Anthropic's protocol has no answer without usage.
    if (wire === "anthropic") return;
    expect(factsOf(examined, "model.answered").map((fact) => fact.usage)).toEqual([undefined]);
    expect(factsOf(examined, "run.ended")[0]?.usage).toEqual({ lowerBound: true });
  });

  test("that nobody gives, since nobody is there, suspends the run after five calls", async () => {
    const gone = await startModelServer();
    await gone.close();
    const scene = newScene(gone.url);
    const report = await scene.run(wire);
    expect([report.ending, scene.exitCode(report)]).toEqual(["suspended", 10]);
    const examined = await scene.examine({ unseen: 5 });
    const failures = factsOf(examined, "model.failed");
    expect(failures).toHaveLength(5);
    for (const failure of failures) {
      expect(failure).toMatchObject({ reason: "network", retryable: true, began: false });
      expect(failure.message).toMatch(/could not be reached: connect ECONNREFUSED/);
    }
  });
});

test("a host that takes no connection is given up in time, and five times over", async () => {
  const host = await startFullHost();
  const scene = newScene(host.url);
  scene.expire({ limit: "headMs", always: true });
  const report = await scene.run("anthropic");
  expect([report.ending, scene.exitCode(report)]).toEqual(["suspended", 10]);
  const failures = factsOf(await scene.examine({ unseen: 5 }), "model.failed");
  expect(failures).toHaveLength(5);
  for (const failure of failures) expect(failure).toMatchObject({ reason: "timeout", retryable: true });
  await host.close();
});

test("an answer that is refused in words of its own is one that a filter stopped", async () => {
  const said = (delta: Record<string, unknown>, finish: string | null) =>
    JSON.stringify({ id: "c", choices: [{ index: 0, delta, finish_reason: finish }] });
  const scene = newScene();
  await scene.run("openai-compatible", {
    events: [said({ refusal: "I will not." }, null), said({}, "stop")],
  });
  expect(factsOf(await scene.examine(), "run.ended")).toMatchObject([
    { status: "failed", reason: "content_filter", text: "I will not." },
  ]);
});

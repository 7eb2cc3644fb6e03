import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { secretKey, wires, type Wire } from "../agents/wire.ts";
import { startModelServer, type ModelServer } from "../peers/model-server.ts";
import { factsOf } from "./examine.ts";
import { ProviderScene } from "./provider-scene.ts";

const scenes: ProviderScene[] = [];
let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(async () => {
  for (const scene of scenes) scene.end();
  await server.close();
});

function newScene(): ProviderScene {
  const scene = new ProviderScene(server);
  scenes.push(scene);
  return scene;
}

const signature = "EqQBCkYIBRgCKkBz+/=äöü\u2028proof==";

describe.each(Object.keys(wires) as Wire[])("over %s", (wire) => {
  test("a run reads, writes and ends; its reasoning goes back byte for byte; what it used is on record", async () => {
    const scene = newScene();
    writeFileSync(join(scene.home.workspace, "a.txt"), "content of a\n");
    const report = await scene.run(
      wire,
      {
        reasoning: { text: "I think of a.", signature },
        text: "I look.",
        calls: [
          { id: "call_r", name: "read", args: '{"path":"a.txt"}' },
          { id: "call_w", name: "write", args: '{"path": "b.txt",  "content": "b\\n"}' },
        ],
        usage: { input: 100, output: 20, cachedInput: 40, reasoning: 7 },
      },
      { text: "All done.", usage: { input: 150, output: 5 } },
    );
    expect(report.ending).toBe("completed");
    const examined = await scene.examine();
    const [first, second] = scene.asked();
    const sent = JSON.stringify(second?.body);
    const hasProof = wire !== "openai-compatible";
    expect(sent.includes(JSON.stringify(signature).slice(1, -1))).toBe(hasProof);
    expect(sent).toContain("content of a");
    if (wire !== "google") for (const id of ["call_r", "call_w"]) expect(sent).toContain(id);
    expect(second?.rawBody.startsWith(first?.rawBody.slice(0, 60) ?? "-")).toBe(true);
    expect(factsOf(examined, "model.answered").map((fact) => fact.usage)).toMatchObject([
      { input: 100, output: 20, cachedInput: 40 },
      { input: 150, output: 5 },
    ]);
    const [ended] = factsOf(examined, "run.ended");
    expect(ended).toMatchObject({ status: "completed", text: "All done.", turns: 2 });
    expect(ended?.usage).toMatchObject({ input: 250, output: 25 });
    expect(ended?.usage.lowerBound).toBeUndefined();
    expect(scene.live.map((event) => ("text" in event ? event.text : "")).join("")).toContain("All done.");
    expect(JSON.stringify(examined.commits)).not.toContain(secretKey);
  });
});

describe("a provider that fails", () => {
  test("with a limit of its rate is asked again, not sooner than it says, and each request is on record", async () => {
    const scene = newScene();
    const report = await scene.run(
      "anthropic",
      { error: { status: 429, headers: { "retry-after": "3" } } },
      { error: { status: 529 } },
      { text: "Now.", usage: { input: 1, output: 1 } },
    );
    expect(report.ending).toBe("completed");
    const examined = await scene.examine();
    expect(factsOf(examined, "model.failed")).toMatchObject([
      { reason: "rate_limit", status: 429, retryAfterMs: 3000, retryable: true, began: false },
      { reason: "http", status: 529, retryable: true, began: false },
    ]);
    // Whoever waits for a lock sleeps for some milliseconds, too.
    const waits = scene.pauses.filter((ms) => ms >= 100);
    expect(waits).toHaveLength(2);
    expect(waits[0]).toBeGreaterThanOrEqual(3000);
    expect(waits[1]).toBeGreaterThanOrEqual(500);
    // Refusals cost nothing.
    expect(factsOf(examined, "run.ended")[0]?.usage).toEqual({ input: 1, output: 1 });
  });

  test("for good with its own faults suspends the run, and a resume completes it", async () => {
    const scene = newScene();
    const broken = { error: { status: 500 } };
    const first = await scene.run("openai", broken, broken, broken, broken, broken);
    expect(first.ending).toBe("suspended");
    expect(scene.asked()).toHaveLength(5);
    const suspended = factsOf(await scene.examine(), "run.suspended");
    expect(suspended).toMatchObject([{ reason: "provider" }]);
    expect(suspended[0]?.message).toMatch(/HTTP 500/);
    expect((await scene.resume({ text: "Back." })).ending).toBe("completed");
    const examined = await scene.examine();
    expect(factsOf(examined, "run.started").map((fact) => fact.attempt)).toEqual([1, 2]);
    expect(examined.state.messages).toHaveLength(2);
  });

  test("for want of a valid key suspends at once, and shows no key", async () => {
    const scene = newScene();
    const refusal = { error: { status: 401, body: { error: { message: `bad key ${secretKey}` } } } };
    expect((await scene.run("google", refusal)).ending).toBe("suspended");
    expect(scene.asked()).toHaveLength(1);
    const examined = await scene.examine();
    expect(factsOf(examined, "model.failed")).toMatchObject([{ reason: "auth", retryable: false }]);
    expect(JSON.stringify(examined.commits)).not.toContain(secretKey);
    expect((await scene.resume({ text: "In." })).ending).toBe("completed");
  });

  test("in the middle of an answer is asked again; what that answer cost stays unknown", async () => {
    const scene = newScene();
    const report = await scene.run(
      "anthropic",
      { text: "This is a long answer that breaks", cut: 4 },
      { text: "Whole.", usage: { input: 3, output: 2 } },
    );
    expect(report.ending).toBe("completed");
    const examined = await scene.examine();
    expect(factsOf(examined, "model.failed")).toMatchObject([{ began: true, retryable: true }]);
    expect(factsOf(examined, "run.ended")).toMatchObject([
      { text: "Whole.", usage: { input: 3, output: 2, lowerBound: true } },
    ]);
    expect(JSON.stringify(scene.asked()[1]?.body)).not.toContain("long answer");
  });

  test("since nothing more fits ends the run", async () => {
    const scene = newScene();
    const tooLong = {
      error: { status: 400, body: { error: { message: "prompt is too long: 300000 tokens" } } },
    };
    expect((await scene.run("anthropic", tooLong)).ending).toBe("failed");
    const examined = await scene.examine();
    expect(factsOf(examined, "run.ended")).toMatchObject([{ status: "failed", reason: "context_overflow" }]);
  });

  test("to say all of it ends the run as failed", async () => {
    const scene = newScene();
    expect((await scene.run("anthropic", { text: "Half", stop: "max_tokens" })).ending).toBe("failed");
    const examined = await scene.examine();
    expect(factsOf(examined, "run.ended")).toMatchObject([{ reason: "answer_cut", text: "Half" }]);
  });
});

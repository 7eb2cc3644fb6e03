import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resume, runTask } from "../../src/engine/index.ts";
import { EngineWorld } from "../crash/engine-world.ts";
import { changesDisk } from "../crash/memory-disk.ts";
import { done, expectEnding, stageAsking, waiting, write } from "./asking.ts";
import { examine, expectSettledOnce, factsOf } from "./examine.ts";
import { bundlePrograms, Home, type Programs } from "./home.ts";

/** What was begun while it was permitted has an outcome, also where a policy that is accepted since permits it no more. */

let programs: Programs;
const homes: Home[] = [];
beforeAll(async () => {
  programs = await bundlePrograms();
});
afterAll(() => {
  for (const home of homes) home.end();
});

test("a command that goes on is waited for; the next one is refused", async () => {
  const home = new Home(programs);
  homes.push(home);
  const gate = join(home.folder, "gate");
  mkdirSync(gate);
  const command = `echo begun; while [ ! -e ${gate}/open ]; do sleep 0.05; done; echo done`;
  const model = home.cassette([
    { calls: [{ tool: "exec", args: { command } }] },
    { calls: [{ tool: "exec", args: { command: "echo again" } }] },
    { text: "Done." },
  ]);
  const worker = home.worker({ run: home.task({ model }) });
  await worker.line((line) => JSON.stringify(line["live"] ?? "").includes("begun"));
  await worker.kill();
  const going = home.worker({
    resume: { selector: home.sessions()[0] ?? "", acceptRollback: false, policy: {}, acceptPolicy: true },
  });
  await going.fact("policy.accepted");
  writeFileSync(join(gate, "open"), "");
  expect(await going.ended).toMatchObject({ code: 0, report: { ending: "completed" } });
  const examined = await examine(home.engine(), home.sessions()[0] ?? "");
  expectSettledOnce(examined);
  expect(factsOf(examined, "op.known")).toMatchObject([
    { outcome: "ok", output: expect.stringContaining("done") as string },
    { outcome: "error", output: expect.stringContaining("there is no tool exec here") as string },
  ]);
});

test("a write that died at any step is proven as if it were permitted still, and never begun again", async () => {
  const { workspace, model } = EngineWorld;
  const calls = [{ tool: "write", args: { path: "a.txt", content: "new\n" } }];
  const start = new EngineWorld();
  start.disk.plant("/cassette.json", JSON.stringify({ cassette: 1, turns: [{ calls }, { text: "Done." }] }));
  start.disk.plant("/project/a.txt", "old\n");
  start.disk.settle();
  const snapshots: EngineWorld[] = [];
  start.disk.gate = (effect) => {
    if (changesDisk(effect)) snapshots.push(start.killed());
    return undefined;
  };
  const request = { workspace, model, agent: "builtin", policy: {}, task: "Do it." };
  await runTask(start.engine(), request, start.observer(), () => undefined);
  const outcomes = new Set<string>();
  for (const world of snapshots) {
    const [selector] = await world.engine().store.ids();
    if (selector === undefined) continue;
    const policy = { deniedCapabilities: ["write"] };
    const accepted = { selector, acceptRollback: false, policy, acceptPolicy: true };
    expect((await resume(world.engine(), accepted, world.observer())).ending).toMatch(/completed|idle/);
    const examined = await examine(world.engine(), selector);
    expectSettledOnce(examined);
    const started = factsOf(examined, "op.started").length;
    expect(started).toBeLessThanOrEqual(1);
    const happened = factsOf(examined, "op.known").some(({ outcome }) => outcome === "ok");
    expect(world.text("/project/a.txt")).toBe(happened ? "new\n" : "old\n");
    outcomes.add(`started ${started}, happened ${happened}`);
  }
  expect([...outcomes].toSorted()).toEqual([
    "started 0, happened false",
    "started 1, happened false",
    "started 1, happened true",
  ]);
});

test("an operation that waits for a person is denied, not allowed, once a policy permits it no more", async () => {
  const stage = await stageAsking(["write"], { calls: [write("b.txt")] }, done);
  await stage.work(waiting).waits("approval.asked");
  const policy = { deniedCapabilities: ["write"] };
  const next = stage.killed();
  await expectEnding(next.work({ ...waiting, policy, acceptPolicy: true }), "completed");
  const examined = await next.examine();
  expectSettledOnce(examined);
  expect(factsOf(examined, "approval.decided")).toMatchObject([
    { decision: "deny", by: "holdfast", reason: "the policy permits it no more" },
  ]);
  expect(factsOf(examined, "op.known")).toMatchObject([{ outcome: "denied" }]);
  expect(next.text("b.txt")).toBeUndefined();
});

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cancelRun, resolveOperation } from "../../src/engine/index.ts";
import { createSession } from "../../src/engine/create-session.ts";
import type { RunEnded } from "../../src/model/facts.ts";
import { changesDisk } from "../crash/memory-disk.ts";
import { done, expectEnding, waiting, write } from "./asking.ts";
import { examine, expectSettledOnce, factsOf, type Examined } from "./examine.ts";
import { bundlePrograms, Home, list, type Programs } from "./home.ts";
import { hourMs, idle, secondMs, Stage, type Work } from "./stage.ts";

const suspend = { kind: "suspend", reason: "signal" } as const;

/** A run that may take ten hours. */
const tenHours = { maxWallClockMs: 10 * hourMs };

/** An answer that comes when hours have passed, or never. */
const late = { firstTokenMs: 500 * hourMs, text: "Late." };

function endOf(examined: Examined): RunEnded {
  const [ended, ...more] = factsOf(examined, "run.ended");
  expect(more).toEqual([]);
  if (ended === undefined) throw new Error("it has not ended");
  return ended;
}

const outOfTime = { status: "failed", reason: "budget_wall_clock" };

async function expectOutOfTime(stage: Stage, work: Work): Promise<void> {
  await expectEnding(work, "failed");
  const examined = await stage.examine();
  expectSettledOnce(examined);
  expect(endOf(examined)).toMatchObject(outOfTime);
  expect(examined.state.released).toBe(true);
}

/** Lets time pass while nothing else happens. */
async function pass(stage: Stage, ms: number): Promise<void> {
  stage.world.clock.advance(ms);
  await idle();
}

describe("a run whose time is used up ends as failed", () => {
  test("in a model call", async () => {
    const stage = await Stage.set({ turns: [late], policy: tenHours });
    const work = stage.work();
    await work.waits("model.requested");
    await pass(stage, 10 * hourMs - secondMs);
    expect(work.count("run.ended")).toBe(0);
    await pass(stage, secondMs);
    await expectOutOfTime(stage, work);
  });

  test("in the pause before a call is made again, unless that pause is longer than the time that is left", async () => {
    const error = (retryAfterMs: number) => ({ error: { status: 503, message: "later", retryAfterMs } });
    const policy = { maxWallClockMs: 100 * secondMs };
    const stage = await Stage.set({ turns: [error(50 * secondMs), error(50 * secondMs), done], policy });
    const work = stage.work();
    await work.waits("model.failed");
    await pass(stage, 49 * secondMs);
    expect(work.count("model.requested")).toBe(1);
    await pass(stage, secondMs);
    await work.waits("model.failed", 2);
    await pass(stage, 50 * secondMs);
    await expectOutOfTime(stage, work);
    const short = await Stage.set({ turns: [error(101 * secondMs), done], policy });
    await expectEnding(short.work(), "suspended");
    // Whoever resumes still has that time.
    await expectEnding(short.work(), "completed");
  });

  test("in the wait for a person's word, and what was asked about never starts", async () => {
    const policy = { ...tenHours, approvals: { write: "ask" as const } };
    const stage = await Stage.set({ turns: [{ calls: [write("b.txt"), write("c.txt")] }, done], policy });
    const work = stage.work(waiting);
    await work.waits("approval.asked");
    await pass(stage, 10 * hourMs);
    await expectOutOfTime(stage, work);
    const examined = await stage.examine();
    expect(factsOf(examined, "op.known").map((fact) => fact.outcome)).toEqual(["canceled", "canceled"]);
    expect(factsOf(examined, "op.started")).toEqual([]);
  });

  test("over all its attempts, those that were killed included, and not in between", async () => {
    const policy = { ...tenHours, approvals: { write: "ask" as const } };
    let stage = await Stage.set({ turns: [{ calls: [write("b.txt")] }, late], policy });
    const first = stage.work(waiting);
    await first.waits("approval.asked");
    await pass(stage, 4 * hourMs);
    first.stops.request(suspend);
    await expectEnding(first, "suspended");
    await pass(stage, 50 * hourMs);

    // Somebody denies in the third hour of the second attempt, which is the last that is known of it.
    const second = stage.work({ approvals: { kind: "wait", forMs: 3 * hourMs } });
    await second.waits("run.started");
    await pass(stage, 3 * hourMs);
    await second.waits("model.requested");
    await pass(stage, hourMs);
    stage = stage.killed();
    await pass(stage, 50 * hourMs);

    const third = stage.work();
    await third.waits("model.requested");
    await pass(stage, 3 * hourMs - 60 * secondMs);
    expect(third.count("run.ended")).toBe(0);
    await pass(stage, 60 * secondMs);
    await expectOutOfTime(stage, third);
    const [run] = (await stage.examine()).state.runs.values();
    expect(run?.attempts).toBe(3);
    expect(run?.elapsedMs).toBeGreaterThanOrEqual(10 * hourMs);
    expect(run?.elapsedMs).toBeLessThan(10 * hourMs + 60 * secondMs);
  });

  test("also where another process only ended an attempt that was killed", async () => {
    const stage = await Stage.set({
      turns: [{ calls: [{ tool: "read", args: { path: "a.txt" } }] }, { calls: [write("new/b.txt")] }, late],
      policy: tenHours,
    });
    const deaths: Stage[] = [];
    const work = stage.work({
      onFact: (fact) => {
        // The model took six hours for its second answer.
        if (fact.kind === "model.requested") stage.world.clock.advance(3 * hourMs);
        if (fact.kind !== "op.started" || work.count("op.started") < 2) return;
        stage.world.disk.gate = (effect) => {
          if (changesDisk(effect)) deaths.push(stage.killed());
          return undefined;
        };
      },
    });
    await work.waits("model.requested", 3);
    let seen = 0;
    for (const after of deaths) {
      const { session } = after;
      const canceled = await cancelRun(after.world.engine(), { session }).then(
        (view) => view.status,
        () => "input_required",
      );
      const examined = await after.examine();
      const [run] = examined.state.runs.values();
      expect(run?.elapsedMs).toBeGreaterThanOrEqual(6 * hourMs);
      expect(run?.elapsedMs).toBeLessThan(7 * hourMs);
      if (canceled === "canceled") continue;
      seen++;
      const unknown = [...examined.state.operations.values()].find((one) => one.at === "unknown");
      const place = { session, run: run?.run ?? "", operation: unknown?.operation ?? "" };
      await resolveOperation(after.world.engine(), { ...place, outcome: "ok" });
      const next = after.work();
      await next.waits("model.requested");
      await pass(after, 4 * hourMs);
      await expectEnding(next, "failed");
      expect(endOf(await after.examine())).toMatchObject(outOfTime);
      break;
    }
    expect(seen).toBe(1);
  });

  test("and begins nothing where none was left when it was picked up", async () => {
    const stage = await Stage.set({
      turns: [{ calls: [write("b.txt"), write("c.txt")] }, done],
      policy: tenHours,
    });
    const work = stage.work({
      onFact: (fact) => {
        if (fact.kind === "op.asked") stage.world.clock.advance(9 * hourMs);
        // The second write was never begun.
        if (fact.kind === "op.known") {
          stage.world.clock.advance(hourMs);
          work.die();
        }
      },
    });
    await idle();
    while (work.count("op.known") === 0) await idle();
    const after = stage.killed();
    const next = after.work();
    await expectEnding(next, "failed");
    expect(endOf(await after.examine())).toMatchObject(outOfTime);
    expect(next.count("op.started") + next.count("model.requested")).toBe(0);
    expect(after.text("c.txt")).toBeUndefined();
  });
});

describe("a run whose turns or tokens are used up ends as failed, for that reason", () => {
  const look = { tool: "read", args: { path: "a.txt" } };
  const answer = { calls: [look], usage: { input: 30, output: 20 } };

  test.each([
    ["budget_turns", { maxTurns: 3 }, 3],
    ["budget_tokens", { maxTokens: 101 }, 3],
    ["budget_tokens", { maxTokens: 100 }, 2],
    ["budget_turns", { maxTurns: 2, maxTokens: 100 }, 2],
  ] as const)("%s, with %j, over all its attempts", async (reason, policy, turns) => {
    let stage = await Stage.set({ turns: Array.from({ length: 6 }, () => answer), policy });
    // Each attempt ends after one turn: suspended, killed, and so on.
    for (let attempt = 1; attempt < turns; attempt++) {
      const work: Work = stage.work({
        onFact: (fact) => {
          if (fact.kind === "op.settled") work.stops.request(suspend);
        },
      });
      await expectEnding(work, "suspended");
      if (attempt % 2 === 0) stage = stage.killed();
    }
    await expectEnding(stage.work(), "failed");
    const examined = await stage.examine();
    expectSettledOnce(examined);
    const used = { input: 30 * turns, output: 20 * turns };
    expect(endOf(examined)).toMatchObject({ status: "failed", reason, turns, usage: used });
  });
});

let programs: Programs;
const homes: Home[] = [];
beforeAll(async () => {
  programs = await bundlePrograms();
});
afterAll(() => {
  for (const home of homes) home.end();
});

test("a command is ended when the time of its run is used up, also where its worker was killed before", async () => {
  const endsInTime = async (isKilled: boolean): Promise<void> => {
    const home = new Home(programs);
    homes.push(home);
    const command = `echo x >> ${home.witness}; sleep 30; echo never >> ${home.witness}`;
    const model = home.cassette([{ calls: [{ tool: "exec", args: { command } }] }, done]);
    const policy = { allowShell: true, maxWallClockMs: 2500 };
    const selector = await createSession(home.engine(), home.task({ model, policy }));
    const resume = { selector, acceptRollback: false };
    const first = home.worker({ resume, cancelGraceMs: 100 });
    if (isKilled) {
      await first.fact("op.started");
      await first.kill();
    }
    const ended = isKilled ? await home.resume(resume, { cancelGraceMs: 100 }) : await first.ended;
    expect(ended).toMatchObject({ code: 1, report: { ending: "failed" }, stderr: "" });
    const examined = await examine(home.engine(), selector);
    expectSettledOnce(examined);
    expect(endOf(examined)).toMatchObject(outOfTime);
    const known = factsOf(examined, "op.known").filter((fact) => fact.outcome !== "not_executed");
    expect(known).toHaveLength(1);
    // Worker and supervisor know of it, and either may be first.
    expect(["canceled", "error"]).toContain(known[0]?.outcome);
    expect(known[0]?.output).toMatch(/^\[(canceled|timed out) after/);
    expect(readFileSync(home.witness, "utf8")).toBe("x\n");
    expect(list(home.inSession("spool"))).toEqual([]);
  };
  await Promise.all([endsInTime(false), endsInTime(true)]);
});

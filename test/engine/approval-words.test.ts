import { describe, expect, test } from "vitest";
import { approveOperation } from "../../src/engine/index.ts";
import { changesDisk } from "../crash/memory-disk.ts";
import { allow, deny, done, expectEnding, results, say, stageAsking, waiting, write } from "./asking.ts";
import { expectSettledOnce, factsOf } from "./examine.ts";
import { idle, secondMs, type Stage } from "./stage.ts";

describe("what a person decided", () => {
  test("can be said again, which changes no byte, and never otherwise, whether somebody works or not", async () => {
    const stage = await stageAsking(["write"], { calls: [write("b.txt"), write("c.txt")] }, done);
    const work = stage.work(waiting);
    await work.waits("approval.asked");
    await say(stage, allow);
    await work.waits("approval.asked", 2);
    const log = () => stage.world.text(`/state/sessions/${stage.session}/log.jsonl`);
    const expectFixed = async () => {
      const before = log();
      expect((await say(stage, allow, { by: "bob" })).operations[0]?.approval?.by).toBe("ada");
      const otherwise = say(stage, deny);
      await expect(otherwise).rejects.toMatchObject({ code: "already_resolved" });
      await expect(otherwise).rejects.toThrow(/allowed before, by ada/);
      expect(log()).toBe(before);
    };
    await expectFixed();
    await say(stage, deny, { nth: 1 });
    await expectEnding(work, "completed");
    await expectFixed();
  });

  test("by two at once is the word of one of them, and the other one is told", async () => {
    const seen = new Set<string>();
    for (let lead = 0; lead < 12; lead++) {
      const stage = await stageAsking(["write"], { calls: [write("b.txt")] }, done);
      const work = stage.work(waiting);
      await work.waits("approval.asked");
      const other = stage.world.engine();
      const words = [
        () => say(stage, allow, { by: "ada" }),
        () => say(stage, deny, { by: "bob", engine: other }),
      ];
      // Each is first by turns, by a few steps.
      const late = async (isLate: boolean): Promise<void> => {
        for (let steps = 0; isLate && steps < lead * 3; steps++) await other.host.disk.stat("/");
      };
      const said = await Promise.allSettled(
        words.map(async (word, index) => {
          await late(index !== lead % 2);
          return await word();
        }),
      );
      await expectEnding(work, "completed");
      const examined = await stage.examine();
      const decided = factsOf(examined, "approval.decided");
      expect(decided).toHaveLength(1);
      const winner = decided[0]?.by === "ada" ? 0 : 1;
      seen.add(decided[0]?.by ?? "");
      expect(said[winner]).toMatchObject({ status: "fulfilled" });
      expect(said[1 - winner]).toMatchObject({ status: "rejected", reason: { code: "already_resolved" } });
    }
    expect([...seen].toSorted()).toEqual(["ada", "bob"]);
  });

  test("in the moment in which the wait runs out is told as what was recorded", async () => {
    const ends = new Set<string>();
    for (let late = 0; late < 40; late++) {
      const stage = await stageAsking(["write"], { calls: [write("b.txt")] }, done);
      const work = stage.work({ approvals: { kind: "wait", forMs: 20 * secondMs } });
      await work.waits("approval.asked");
      const engine = stage.world.engine();
      // The wait runs out at some step of what the other process does.
      let steps = 0;
      stage.world.disk.gate = () => {
        if (steps++ === late * 4) stage.world.clock.advance(20 * secondMs);
        return undefined;
      };
      const said = await say(stage, allow, { engine }).then(
        () => "allowed",
        (error: unknown) => (error as { code: string }).code,
      );
      stage.world.disk.gate = undefined;
      if (steps <= late * 4) stage.world.clock.advance(20 * secondMs);
      await expectEnding(work, "completed");
      const [decided] = factsOf(await stage.examine(), "approval.decided");
      ends.add(`${said}, ${decided?.decision}`);
    }
    expect([...ends].toSorted()).toEqual(["allowed, allow", "already_resolved, deny"]);
  });

  test("while the run is canceled is taken, or told to be too late", async () => {
    const start = await stageAsking(["write"], { calls: [write("b.txt"), write("c.txt")] }, done);
    await start.work(waiting).waits("approval.asked");
    const asked = start.killed();
    const ends = new Set<string>();
    for (let late = 0; late < 160; late += 3) {
      const stage = asked.killed();
      const work = stage.work(waiting);
      await work.waits("run.started");
      let steps = 0;
      stage.world.disk.gate = () => {
        if (steps++ === late) work.stops.request({ kind: "cancel", by: "bob" });
        return undefined;
      };
      const said = await say(stage, deny).then(
        () => "denied",
        (error: unknown) => (error as { code: string }).code,
      );
      stage.world.disk.gate = undefined;
      work.stops.request({ kind: "cancel", by: "bob" });
      await expectEnding(work, "canceled");
      const examined = await stage.examine();
      expectSettledOnce(examined);
      ends.add(
        `${said}: ${factsOf(examined, "op.known")
          .map((fact) => fact.outcome)
          .join()}`,
      );
    }
    expect([...ends].toSorted()).toEqual(["denied: denied,canceled", "usage: canceled,canceled"]);
  });

  test("and shall remember holds for all later operations of that kind, also in later processes", async () => {
    for (const [answer, reads] of [
      [allow, /written|created|Wrote|wrote/i],
      [deny, /denied by ada: remembered/],
    ] as const) {
      const stage = await stageAsking(
        ["write"],
        { calls: [write("b.txt"), write("c.txt")] },
        { calls: [write("d.txt")] },
        done,
        { calls: [write("e.txt")] },
        done,
      );
      const work = stage.work(waiting);
      await work.waits("approval.asked");
      await say(stage, { ...answer, remember: true });
      await expectEnding(work, "completed");
      await expectEnding(stage.work({ task: "Again." }), "completed");
      const examined = await stage.examine();
      expectSettledOnce(examined);
      expect(factsOf(examined, "approval.rule")).toMatchObject([
        { capability: "write", decision: answer.decision, by: "ada" },
      ]);
      // All are on record as asked about and answered, and nobody was asked but for the first.
      expect(factsOf(examined, "approval.decided").map(({ by, reason }) => [by, reason])).toEqual([
        ["ada", answer.reason],
        ...Array.from({ length: 3 }, () => ["ada", "remembered"]),
      ]);
      for (const result of results(examined).slice(1)) expect(result).toMatch(reads);
      for (const name of ["b", "c", "d", "e"])
        expect(stage.text(`${name}.txt`)).toBe(answer === allow ? "new\n" : undefined);
    }
  });

  test("and shall remember answers those that were asked about with it", async () => {
    const read = { tool: "read", args: { path: "a.txt" } };
    const stage = await stageAsking(["read"], { calls: [read, read, read] }, done);
    const work = stage.work(waiting);
    await work.waits("approval.asked", 3);
    await say(stage, { ...allow, remember: true }, { nth: 1 });
    await expectEnding(work, "completed");
    const examined = await stage.examine();
    expect(factsOf(examined, "approval.decided").map(({ reason }) => reason)).toEqual([
      undefined,
      "remembered",
      "remembered",
    ]);
  });

  test("can be said again so that it holds for later ones, and then answers those that wait", async () => {
    const stage = await stageAsking(["write"], { calls: [write("b.txt"), write("c.txt")] }, done);
    const work = stage.work(waiting);
    await work.waits("approval.asked");
    await say(stage, allow);
    await work.waits("approval.asked", 2);
    await say(stage, { ...allow, remember: true }, { by: "bob" });
    await expectEnding(work, "completed");
    await say(stage, { ...allow, remember: true }, { by: "bob" });
    const examined = await stage.examine();
    expect(factsOf(examined, "approval.rule")).toMatchObject([{ capability: "write", by: "bob" }]);
    expect(factsOf(examined, "approval.decided").map(({ by, reason }) => [by, reason])).toEqual([
      ["ada", undefined],
      ["bob", "remembered"],
    ]);
  });

  test("is worth the same wherever a process dies, and nobody is asked twice", async () => {
    const stage = await stageAsking(["write", "delete"], { calls: [write("a.txt"), write("b.txt")] }, done);
    const deaths: Stage[] = [];
    const work = stage.work(waiting);
    await work.waits("approval.asked");
    stage.world.disk.gate = (effect) => {
      if (changesDisk(effect)) deaths.push(stage.killed());
      return undefined;
    };
    await say(stage, allow);
    await work.waits("approval.asked", 2);
    await say(stage, deny, { nth: 1 });
    await expectEnding(work, "completed");
    stage.world.disk.gate = undefined;
    expect(deaths.length).toBeGreaterThan(40);
    let repeated = 0;
    for (const [index, after] of deaths.entries()) {
      const again = after.work(waiting);
      // Whoever was not told gives the word again, whether it was heard or not.
      for (const [nth, answer] of [allow, deny].entries()) {
        await Promise.race([again.waits("run.ended").catch(() => undefined), idle()]);
        const there = (await after.operations()).filter((one) => one.origin === one.operation)[nth];
        if (there === undefined || there.approval === undefined) continue;
        const { run, operation } = there;
        const said = approveOperation(after.world.engine(), {
          session: after.session,
          run,
          operation,
          by: "ada",
          ...answer,
        });
        await said;
        repeated++;
      }
      const { ending } = await again.report;
      expect(["completed", "idle"], `death ${index}`).toContain(ending);
      const examined = await after.examine();
      expectSettledOnce(examined);
      expect(factsOf(examined, "approval.asked"), `death ${index}`).toHaveLength(2);
      expect(
        factsOf(examined, "approval.decided").map((fact) => fact.decision),
        `death ${index}`,
      ).toEqual(["allow", "deny"]);
      expect([after.text("a.txt"), after.text("b.txt")]).toEqual(["new\n", undefined]);
    }
    expect(repeated).toBeGreaterThan(deaths.length);
  });
});

test("an operation that stands for one which did not happen needs no second word", async () => {
  const stage = await stageAsking(["write"], { calls: [write("a.txt")] }, done);
  const deaths: Stage[] = [];
  const work = stage.work({
    ...waiting,
    onFact: (fact) => {
      if (fact.kind === "op.started") {
        stage.world.disk.gate = (effect) => {
          if (changesDisk(effect)) deaths.push(stage.killed());
          return undefined;
        };
      }
    },
  });
  await work.waits("approval.asked");
  await say(stage, allow);
  await expectEnding(work, "completed");
  let replaced = 0;
  for (const after of deaths.slice(0, 8)) {
    await expectEnding(after.work(), "completed");
    const examined = await after.examine();
    expectSettledOnce(examined);
    expect(factsOf(examined, "approval.asked")).toHaveLength(1);
    replaced += factsOf(examined, "op.asked").filter((fact) => fact.replaces !== undefined).length;
    expect(after.text("a.txt")).toBe("new\n");
  }
  expect(replaced).toBeGreaterThan(0);
});

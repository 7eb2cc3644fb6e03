import { describe, expect, test } from "vitest";
import { cancelRun, type ApprovalAnswer, type ApprovalQuestion } from "../../src/engine/index.ts";
import { allow, deny, done, expectEnding, results, say, stageAsking, waiting, write } from "./asking.ts";
import { expectSettledOnce, factsOf } from "./examine.ts";
import { hourMs, idle } from "./stage.ts";

describe("an operation that a person must allow", () => {
  test("waits, and starts when another process allows it: who and when are on record", async () => {
    const stage = await stageAsking(["write"], { calls: [write("b.txt")] }, done);
    const work = stage.work(waiting);
    await work.waits("approval.asked");
    expect(stage.text("b.txt")).toBeUndefined();
    stage.world.clock.advance(100 * hourMs);
    await idle();
    const before = stage.world.clock.now();
    const view = await say(stage, allow);
    await expectEnding(work, "completed");
    expect(stage.text("b.txt")).toBe("new\n");
    const examined = await stage.examine();
    expectSettledOnce(examined);
    expect(factsOf(examined, "approval.asked")).toMatchObject([{ capability: "write" }]);
    expect(factsOf(examined, "approval.decided")).toMatchObject([{ decision: "allow", by: "ada" }]);
    const [{ approval } = {}] = examined.state.operations.values();
    expect(approval?.decided?.at).toBeGreaterThanOrEqual(before);
    expect(view.operations[0]?.approval).toMatchObject({ decision: "allow", by: "ada" });
  });

  test("and that is denied does nothing; the model reads who denied it and why", async () => {
    const stage = await stageAsking(["write"], { calls: [write("b.txt")] }, done);
    const work = stage.work(waiting);
    await work.waits("approval.asked");
    await say(stage, deny);
    await expectEnding(work, "completed");
    expect(stage.text("b.txt")).toBeUndefined();
    const examined = await stage.examine();
    expectSettledOnce(examined);
    expect(factsOf(examined, "op.started")).toEqual([]);
    expect(results(examined)).toEqual(["denied by ada: not today"]);
  });

  test("is denied where nobody answers in time, however often the wait is taken up, and not before", async () => {
    const stage = await stageAsking(["write"], { calls: [write("b.txt")] }, done);
    const work = stage.work({ approvals: { kind: "wait", forMs: 50 * hourMs } });
    await work.waits("approval.asked");
    const [operation] = await stage.operations();
    for (let hour = 0; hour < 49; hour++) {
      stage.world.clock.advance(hourMs);
      await idle();
      // Somebody asks for what is no business of this operation.
      if (hour % 20 === 0) {
        const asked = cancelRun(stage.world.engine(), { session: stage.session, run: "run_nothing" });
        await expect(asked).rejects.toMatchObject({ code: "not_found" });
      }
    }
    expect(work.count("approval.decided")).toBe(0);
    expect(operation?.at).toBe("asked");
    stage.world.clock.advance(hourMs);
    await expectEnding(work, "completed");
    expect(results(await stage.examine())).toEqual([
      `denied by holdfast: nobody answered in ${50 * hourMs} ms`,
    ]);
  });

  test("can be answered while nobody works, and is not asked about again", async () => {
    for (const answer of [allow, deny]) {
      const stage = await stageAsking(["write"], { calls: [write("b.txt")] }, done);
      const first = stage.work(waiting);
      await first.waits("approval.asked");
      first.stops.request({ kind: "suspend", reason: "signal" });
      await expectEnding(first, "suspended");
      expect((await say(stage, answer)).status).toBe("suspended");
      // Nobody could be asked here.
      await expectEnding(stage.work(), "completed");
      const examined = await stage.examine();
      expect(factsOf(examined, "approval.asked")).toHaveLength(1);
      expect(factsOf(examined, "approval.decided")).toHaveLength(1);
      expect(stage.text("b.txt")).toBe(answer === allow ? "new\n" : undefined);
    }
  });

  test("waits on, without being asked about again, where the one who asked was suspended or killed", async () => {
    const stage = await stageAsking(["write"], { calls: [write("b.txt")] }, done);
    const first = stage.work(waiting);
    await first.waits("approval.asked");
    first.stops.request({ kind: "suspend", reason: "signal" });
    await expectEnding(first, "suspended");
    const second = stage.work(waiting);
    await second.waits("run.started");
    const after = stage.killed();
    const third = after.work(waiting);
    await third.waits("run.started");
    await say(after, allow);
    await expectEnding(third, "completed");
    const examined = await after.examine();
    expect(factsOf(examined, "approval.asked")).toHaveLength(1);
    expect(factsOf(examined, "run.started")).toHaveLength(3);
    expect(after.text("b.txt")).toBe("new\n");
  });

  test("and that never started because the run was canceled can be answered no more", async () => {
    const stage = await stageAsking(["write"], { calls: [write("b.txt"), write("c.txt")] }, done);
    const work = stage.work(waiting);
    await work.waits("approval.asked");
    expect((await cancelRun(stage.world.engine(), { session: stage.session, by: "ada" })).status).toBe(
      "canceled",
    );
    await expectEnding(work, "canceled");
    const examined = await stage.examine();
    expectSettledOnce(examined);
    expect(factsOf(examined, "op.known").map((fact) => fact.outcome)).toEqual(["canceled", "canceled"]);
    await expect(say(stage, allow)).rejects.toMatchObject({ code: "usage" });
  });

  test("keeps nobody from leaving at once", async () => {
    const ask = async () => undefined;
    for (const approvals of [
      { kind: "wait" },
      { kind: "wait", forMs: hourMs },
      { kind: "prompt", ask },
    ] as const) {
      const stage = await stageAsking(["write"], { calls: [write("b.txt")] }, done);
      const work = stage.work({ approvals });
      await work.waits("approval.asked");
      work.leaving.abort();
      await expect(work.report).rejects.toMatchObject({ code: "interrupted" });
    }
  });
});

describe("reads of one turn of which some need a person's word", () => {
  test("start where they need none, and the others each when its word comes", async () => {
    const read = { tool: "read", args: { path: "a.txt" } };
    const glob = { tool: "glob", args: { pattern: "*" } };
    const calls = [read, glob, read, glob, read, write("b.txt")];
    const stage = await stageAsking(["read"], { calls }, done);
    const work = stage.work(waiting);
    await work.waits("approval.asked", 3);
    const at = async () => (await stage.operations()).map((one) => one.at);
    expect(await at()).toEqual(["asked", "known", "asked", "known", "asked", "asked"]);
    await say(stage, allow, { nth: 2 });
    await idle();
    expect(await at()).toEqual(["asked", "known", "known", "known", "asked", "asked"]);
    await say(stage, deny, { nth: 4 });
    await idle();
    // The write stands behind all reads.
    expect(stage.text("b.txt")).toBeUndefined();
    await say(stage, allow, { nth: 0 });
    await expectEnding(work, "completed");
    const examined = await stage.examine();
    expectSettledOnce(examined);
    expect(factsOf(examined, "op.settled")).toHaveLength(6);
    const outcomes = examined.state.messages.flatMap(({ message }) =>
      message.parts.flatMap((part) => (part.type === "tool_result" ? part.outcome : [])),
    );
    expect(outcomes).toEqual(["ok", "ok", "ok", "ok", "denied", "ok"]);
    expect(stage.text("b.txt")).toBe("new\n");
  });
});

describe("a person who is asked here", () => {
  test("sees what it is about, answers for this user, and is let be when another one answers", async () => {
    const stage = await stageAsking(["write"], { calls: [write("b.txt"), write("c.txt")] }, done);
    const questions: ApprovalQuestion[] = [];
    const signals: AbortSignal[] = [];
    const ask = async (
      question: ApprovalQuestion,
      signal: AbortSignal,
    ): Promise<ApprovalAnswer | undefined> => {
      questions.push(question);
      signals.push(signal);
      if (questions.length > 1) return allow;
      return await new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
    };
    const work = stage.work({ approvals: { kind: "prompt", ask } });
    await work.waits("approval.asked");
    await say(stage, allow, { by: "bob" });
    await expectEnding(work, "completed");
    const [first, second] = await stage.operations();
    expect(questions.map((one) => one.operation)).toEqual([first?.operation, second?.operation]);
    expect(questions[0]).toEqual({
      session: stage.session,
      run: first?.run,
      operation: first?.operation,
      tool: "write",
      capability: "write",
      args: { path: "b.txt", content: "new\n" },
    });
    expect(signals[0]?.aborted).toBe(true);
    expect(factsOf(await stage.examine(), "approval.decided").map((fact) => fact.by)).toEqual([
      "bob",
      "tester",
    ]);
  });

  test("and who goes away without a word leaves it to whoever answers from elsewhere", async () => {
    const stage = await stageAsking(["write"], { calls: [write("b.txt")] }, done);
    let asked = 0;
    const ask = async () => void asked++;
    const work = stage.work({ approvals: { kind: "prompt", ask: async () => (await ask(), undefined) } });
    await work.waits("approval.asked");
    expect(asked).toBe(1);
    await say(stage, allow);
    await expectEnding(work, "completed");
    expect(asked).toBe(1);
  });

  test("records no secret with the word, and nothing that no line takes", async () => {
    const stage = await stageAsking(["write"], { calls: [write("b.txt"), write("c.txt")] }, done);
    stage.world.environment = { ANTHROPIC_API_KEY: "sk-this-is-a-secret" };
    const reason = `sk-this-is-a-secret \ud800 ${"long ".repeat(20_000)}`;
    const answers = [{ ...deny, reason }, deny];
    const work = stage.work({ approvals: { kind: "prompt", ask: async () => answers.shift() } });
    await expectEnding(work, "completed");
    const log = stage.world.text(`/state/sessions/${stage.session}/log.jsonl`) ?? "";
    expect(log).not.toContain("this-is-a-secret");
    expect(log).not.toContain("\\ud800");
    const [decided] = factsOf(await stage.examine(), "approval.decided");
    expect(decided?.reason?.length).toBeLessThan(40_000);
    expect(decided?.reason).toContain("long long");
  });
});

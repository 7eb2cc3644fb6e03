import { beforeAll, describe, expect, test } from "vitest";
import { abandonRun, resolveOperation, type Resolution } from "../../src/engine/index.ts";
import { isHoldfastError } from "../../src/model/errors.ts";
import { expectEnding } from "./asking.ts";
import { deathsOfRun } from "./deaths.ts";
import { expectSettledOnce, factsOf } from "./examine.ts";
import { type Stage } from "./stage.ts";

/** Whoever goes on with it finds that nobody can know what became of its first operation. */
let doubtful: Stage;
let word: Resolution;
beforeAll(async () => {
  const [death] = (await deathsOfRun()).doubtful;
  if (death === undefined) throw new Error("nothing is doubtful");
  doubtful = death;
  const [operation] = await death.operations();
  const place = { session: death.session, run: operation?.run ?? "", operation: operation?.operation ?? "" };
  word = { ...place, outcome: "ok", output: "made by hand", by: "ada" };
});

const outcomeOf = (verb: Promise<unknown>): Promise<string> =>
  verb.then(
    () => "done",
    (error: unknown) => (isHoldfastError(error) ? error.code : String(error)),
  );

/** The steps of a process that looks into it, from the first. */
async function stepsOfLooking(): Promise<number> {
  const quiet = doubtful.killed();
  const before = quiet.world.disk.effects.length;
  await expectEnding(quiet.work(), "input_required");
  return quiet.world.disk.effects.length - before;
}

describe("a person's word about what nobody knows", () => {
  test("given while somebody finds that out and lets go is taken, once it is known that nobody knows", async () => {
    const steps = await stepsOfLooking();
    const ends = new Set<string>();
    for (let at = 0; at <= steps; at += 4) {
      const stage = doubtful.killed();
      let seen = 0;
      let said: Promise<string> | undefined;
      stage.world.disk.gate = () => {
        if (seen++ === at) said = outcomeOf(resolveOperation(stage.world.engine(), word));
        return undefined;
      };
      await expectEnding(stage.work(), "input_required");
      stage.world.disk.gate = undefined;
      const end = (await said) ?? (await outcomeOf(resolveOperation(stage.world.engine(), word)));
      const examined = await stage.examine();
      ends.add(end);
      expect(factsOf(examined, "op.resolved"), `said ${at} steps later`).toHaveLength(end === "done" ? 1 : 0);
      // It executes nothing.
      expect(examined.state.row.state).toBe("input_required");
      if (end !== "done") await resolveOperation(stage.world.engine(), word);
      await expectEnding(stage.work(), "completed");
      const after = await stage.examine();
      expectSettledOnce(after);
      expect(stage.text("a.txt")).toBe("new\n");
    }
    expect([...ends].toSorted()).toEqual(["done", "usage"]);
  });

  test("is recorded where the one who found it out dies at any step of letting go", async () => {
    const steps = await stepsOfLooking();
    for (let at = 0; at <= steps; at += 6) {
      const stage = doubtful.killed();
      let said: Promise<string> | undefined;
      let seen = 0;
      const work = stage.work({
        onFact: (fact) => {
          if (fact.kind === "run.input_required")
            said = outcomeOf(resolveOperation(stage.world.engine(), word));
        },
      });
      stage.world.disk.gate = () => {
        if (said !== undefined && seen++ === at) work.die();
        return undefined;
      };
      await work.waits("run.input_required");
      expect(await said).toBe("done");
      stage.world.disk.gate = undefined;
      expect(factsOf(await stage.examine(), "op.resolved")).toMatchObject([{ by: "ada" }]);
    }
  });

  test("that comes while its run is given up is taken, or told to be too late", async () => {
    const looked = doubtful.killed();
    await expectEnding(looked.work(), "input_required");
    const quiet = looked.killed();
    const before = quiet.world.disk.effects.length;
    await abandonRun(quiet.world.engine(), { session: word.session });
    const steps = quiet.world.disk.effects.length - before;
    const ends = new Set<string>();
    for (let at = 0; at < steps; at += 2) {
      const stage = looked.killed();
      let seen = 0;
      let said: Promise<string> | undefined;
      stage.world.disk.gate = () => {
        if (seen++ === at) said = outcomeOf(resolveOperation(stage.world.engine(), word));
        return undefined;
      };
      expect(await outcomeOf(abandonRun(stage.world.engine(), { session: word.session }))).toBe("done");
      stage.world.disk.gate = undefined;
      const end = await said;
      const { state } = await stage.examine();
      const operation = state.operations.get(word.operation);
      ends.add(`${end}: ${operation?.at}, ${state.row.state}`);
    }
    expect([...ends].toSorted()).toEqual(["done: settled, failed", "usage: unknown, failed"]);
  });

  test("by several at once is one of theirs, and the others are told", async () => {
    const stage = doubtful.killed();
    await expectEnding(stage.work(), "input_required");
    const words: Resolution[] = [
      word,
      { ...word, by: "bob" },
      { ...word, output: "no" },
      { ...word, outcome: "not_executed" },
    ];
    const said = await Promise.all(
      words.map((one) => outcomeOf(resolveOperation(stage.world.engine(), one))),
    );
    const [resolved, ...more] = factsOf(await stage.examine(), "op.resolved");
    expect(more).toEqual([]);
    const isSame = (one: Resolution) => one.outcome === resolved?.outcome && one.output === resolved.output;
    expect(said).toEqual(words.map((one) => (isSame(one) ? "done" : "already_resolved")));
  });
});

import { expect, test } from "vitest";
import { resume } from "../../src/engine/index.ts";
import type { Fact } from "../../src/model/facts.ts";
import { deathsOfRun } from "./deaths.ts";
import { expectSettledOnce, factsOf } from "./examine.ts";
import { idle } from "./stage.ts";

test("a run does not stop for a word that was given before it could ask for it", async () => {
  const [stage] = (await deathsOfRun()).doubtful;
  if (stage === undefined) throw new Error("nothing is doubtful");
  const engine = stage.world.engine();
  /** The holder has seen the word, and nothing else may be recorded before it. */
  const say = async ({ operation }: Extract<Fact, { kind: "op.unknown" }>): Promise<void> => {
    const run = (await stage.operations())[0]?.run ?? "";
    const args = { run, operation, outcome: "ok", output: "made by hand" };
    const made = { kind: "request.made", request: "req_1", verb: "resolve", args, by: "ada" } as const;
    await engine.store.appendToQueue(
      stage.session,
      () => undefined,
      (queue) => queue.append([made]),
    );
    for (let turns = 0; turns < 20; turns++) await idle();
  };
  const observer = {
    live: () => undefined,
    commit: async ({ facts }: { facts: readonly unknown[] }) => {
      for (const fact of facts as Fact[]) if (fact.kind === "op.unknown") await say(fact);
    },
  };
  const request = { selector: stage.session, acceptRollback: false };
  const report = await resume(stage.world.process().engine, request, observer);
  const examined = await stage.examine();
  expect(factsOf(examined, "op.resolved")).toHaveLength(1);
  expect(factsOf(examined, "run.input_required")).toEqual([]);
  expect(report.ending).toBe("completed");
  expectSettledOnce(examined);
});

import { beforeAll, describe, expect, test } from "vitest";
import { abandonRun, cancelRun, resolveOperation, resume, StopSwitch } from "../../src/engine/index.ts";
import { isHoldfastError } from "../../src/model/errors.ts";
import { parallelMax } from "../../src/model/next-step.ts";
import { projectPrompt } from "../../src/model/projection.ts";
import { finishByHand, newWorld, patient, stopAt } from "./memory-story.ts";
import type { EngineWorld } from "../crash/engine-world.ts";
import { faultOfPrompt } from "../model/prompt-fault.ts";
import { done, expectEnding } from "./asking.ts";
import { deathsOfRun, type Deaths } from "./deaths.ts";
import { examine, expectKept, expectSettledOnce, factsOf, type Examined } from "./examine.ts";
import { Stage } from "./stage.ts";

const cancel = { kind: "cancel", by: "ada" } as const;

/** What the story's operations leave in the workspace, by path: before and after. */
const traces: Record<string, readonly [string | undefined, string | undefined]> = {
  "new/file.txt": [undefined, "new\n"],
  "letter.txt": ["old\n", "new\n"],
  "counter.txt": ["n\n", "n+\n"],
  "waste.txt": ["waste\n", undefined],
};

/** What is on record as done was done, what is not was not, and nothing lies about. */
function expectTrue(world: EngineWorld, { state }: Examined, label: string): void {
  const done = new Set<string>();
  for (const { message } of state.messages) {
    for (const part of message.parts) {
      if (part.type !== "tool_call" || part.tool === "read") continue;
      const last = [...state.operations.values()].findLast((one) => one.origin === part.operation);
      const isDone = last !== undefined && "result" in last && last.result.outcome === "ok";
      if (isDone) done.add(String((part.args as { path?: string }).path));
    }
  }
  const texts = Object.keys(traces).map((path) => [path, world.text(`/project/${path}`)]);
  const expected = Object.entries(traces).map(([path, [before, after]]) => [
    path,
    done.has(path) ? after : before,
  ]);
  expect(texts, label).toEqual(expected);
  const files = world.disk.files().filter((path) => path.startsWith("/project/"));
  expect(files.filter((path) => path.includes(".holdfast-"))).toEqual([]);
}

const nothing = { text: () => "", base64: () => "" };

function expectSendable({ state }: Examined): void {
  expect(faultOfPrompt(projectPrompt(state, nothing))).toBeUndefined();
}

async function examineWorld(world: EngineWorld): Promise<Examined> {
  const [session = ""] = await world.engine().store.ids();
  return await examine(world.engine(), session);
}

describe("a run that is canceled", () => {
  test("at any step begins nothing more, tells the truth of what it did, and ends once", async () => {
    const ends = new Map<string, number>();
    const outcomes = new Set<string>();
    for (let at = 0; ; at += 2) {
      const world = newWorld(patient());
      const { report, effect, after, begun } = await stopAt(world, at, cancel);
      if (effect === undefined) break;
      ends.set(report.ending, (ends.get(report.ending) ?? 0) + 1);
      const label = `canceled before change ${at} (${effect.verb} ${effect.path}), then ${after.join()}`;
      expect(begun.size, label).toBeLessThanOrEqual(effect.path.endsWith("/log.jsonl") ? 1 : 0);
      const examined = await examineWorld(world);
      expectKept(examined, world.told);
      expectSettledOnce(examined);
      expect(factsOf(examined, "run.ended"), label).toMatchObject([
        report.ending === "canceled" ? { status: "canceled", by: "ada" } : { status: "completed" },
      ]);
      expect(examined.state.released, label).toBe(true);
      expectTrue(world, examined, label);
      expectSendable(examined);
      for (const { outcome } of factsOf(examined, "op.known")) outcomes.add(outcome);
    }
    expect([...ends.keys()].toSorted()).toEqual(["canceled", "completed"]);
    expect(ends.get("canceled")).toBeGreaterThan(50);
    expect([...outcomes].toSorted()).toEqual(["canceled", "ok"]);
  });

  test("and whose process is killed at any step of that goes on from what is on record", async () => {
    const deaths: { world: EngineWorld; label: string }[] = [];
    for (let at = 60; at < 175; at += 11) {
      const world = newWorld(patient());
      await stopAt(world, at, cancel, () => {
        const label = `canceled before change ${at}, killed before effect ${world.disk.effects.length}`;
        deaths.push({ world: world.killed(), label });
      });
    }
    const ends = new Set<string>();
    for (const { world, label } of deaths.filter((_, index) => index % 2 === 0)) {
      const [selector = ""] = await world.engine().store.ids();
      for (let round = 0; ; round++) {
        const { ending } = await resume(
          world.engine(),
          { selector, acceptRollback: false },
          world.observer(),
        );
        if (ending === "input_required") await finishByHand(world, selector);
        else {
          ends.add(ending);
          break;
        }
      }
      const examined = await examineWorld(world);
      expectKept(examined, world.told);
      expectSettledOnce(examined);
      expect(factsOf(examined, "run.ended"), label).toHaveLength(1);
      expectTrue(world, examined, label);
      expectSendable(examined);
    }
    // Nobody knows any more that it was to be canceled; where that was done it stays so.
    expect([...ends].toSorted()).toEqual(["completed", "idle"]);
  });

  test("keeps the results of reads that had ended, and starts none of those that stood behind them", async () => {
    const reads = Array.from({ length: parallelMax + 4 }, () => ({ tool: "read", args: { path: "a.txt" } }));
    const stage = await Stage.set({ turns: [{ calls: reads }, done, done] });
    const work = stage.work({
      onFact: (fact) => {
        if (fact.kind === "op.known") work.stops.request(cancel);
      },
    });
    await expectEnding(work, "canceled");
    const examined = await stage.examine();
    expectSettledOnce(examined);
    const started = factsOf(examined, "op.started").map((fact) => fact.operation);
    expect(started).toHaveLength(parallelMax);
    const known = factsOf(examined, "op.known");
    expect(known).toHaveLength(reads.length);
    expect(known[0]).toMatchObject({ outcome: "ok" });
    for (const fact of known) {
      if (!started.includes(fact.operation)) expect(fact.outcome).toBe("canceled");
      else expect(["ok", "canceled"]).toContain(fact.outcome);
    }
    await expectEnding(stage.work({ task: "Next." }), "completed");
    const next = await stage.examine();
    expect([...next.state.runs.values()].map((run) => run.at)).toEqual(["canceled", "completed"]);
    expectSendable(next);
  });

  test("as it completes is completed, and no other one is begun", async () => {
    for (const stop of [cancel, { kind: "suspend", reason: "signal" }] as const) {
      const stage = await Stage.set({ turns: [done, done] });
      await stage.send("Second.");
      const work = stage.work({
        onFact: (fact) => {
          if (fact.kind === "run.ended") work.stops.request(stop);
        },
      });
      await expectEnding(work, "completed");
      const { state, queue } = await stage.examine();
      expect([...state.runs.values()].map((run) => run.at)).toEqual(["completed"]);
      expect([...queue.deliveries.values()].map((one) => one.at)).toEqual(["acknowledged", "admitted"]);
      await expectEnding(stage.work(), "completed");
    }
  });

  test("does so also where it was only being suspended, and where it waits for its provider", async () => {
    const error = { status: 503, message: "later", retryAfterMs: 60_000 };
    const stage = await Stage.set({ turns: [{ error }, done] });
    const work = stage.work();
    await work.waits("model.failed");
    expect((await cancelRun(stage.world.engine(), { session: stage.session, by: "bob" })).status).toBe(
      "canceled",
    );
    await expectEnding(work, "canceled");
    const both = await Stage.set({ turns: [done] });
    const stops = new StopSwitch();
    stops.request({ kind: "suspend", reason: "signal" });
    stops.request(cancel);
    stops.request({ kind: "suspend", reason: "signal" });
    await expectEnding(both.work({ stops }), "canceled");
  });

  test("is on record with a name that no secret is in, and that any line takes", async () => {
    const by = "ada sk-this-is-a-secret \ud800";
    for (const isLive of [true, false]) {
      const stage = await Stage.set({
        turns: [{ error: { status: 503, message: "", retryAfterMs: 60_000 } }],
      });
      stage.world.environment = { ANTHROPIC_API_KEY: "sk-this-is-a-secret" };
      const work = stage.work();
      await work.waits("model.failed");
      if (!isLive) work.die();
      await cancelRun(stage.world.engine(), { session: stage.session, by });
      const other = await Stage.set({ turns: [done] });
      other.world.environment = { ANTHROPIC_API_KEY: "sk-this-is-a-secret" };
      const stops = new StopSwitch();
      stops.request({ kind: "cancel", by });
      await expectEnding(other.work({ stops }), "canceled");
      for (const one of [stage, other]) {
        const [ended] = factsOf(await one.examine(), "run.ended");
        expect(ended?.by).toMatch(/^ada \S+ \ufffd$/);
        expect(ended?.by).not.toContain("secret");
      }
    }
  });
});

/** How a verb ended: `done`, or the code of its error. */
const outcomeOf = (verb: Promise<unknown>): Promise<string> =>
  verb.then(
    () => "done",
    (error: unknown) => (isHoldfastError(error) ? error.code : String(error)),
  );

interface Place {
  session: string;
  run: string;
  /** Of which nobody knows the outcome; empty where there is none. */
  operation: string;
}

/** Somebody says what happened, and then the run is canceled. */
async function cancelByHand(stage: Stage, place: Place): Promise<void> {
  await resolveOperation(stage.world.engine(), { ...place, outcome: "not_executed" });
  const { status } = await cancelRun(stage.world.engine(), { session: place.session });
  expect(status).toBe("canceled");
  expectSendable(await stage.examine());
}

/** Nothing more can be said of it, and what was said before changes no byte. */
async function expectOver(stage: Stage, { verb, ...place }: Place & { verb: string }): Promise<void> {
  const { session } = place;
  const log = () => stage.world.text(`/state/sessions/${session}/log.jsonl`);
  const before = log();
  if (place.operation !== "") {
    const said = resolveOperation(stage.world.engine(), { ...place, outcome: "ok" });
    expect(await outcomeOf(said)).toBe("usage");
  }
  const canceled = await outcomeOf(cancelRun(stage.world.engine(), { session }));
  expect(canceled).toBe(verb === "cancel" ? "done" : "usage");
  expect(log()).toBe(before);
}

describe("a run that nobody works on", () => {
  let deaths: Deaths;
  /** Those of which a person must say what happened, since somebody has looked. */
  const doubtful: Stage[] = [];
  beforeAll(async () => {
    deaths = await deathsOfRun();
    for (const death of deaths.doubtful) {
      const looked = death.killed();
      await looked.work().report;
      doubtful.push(looked);
    }
    expect(doubtful.length).toBeGreaterThan(0);
  });

  test("ends as somebody wants it in every state; only what is unknown keeps it from being canceled", async () => {
    const ends = new Set<string>();
    const some = deaths.all.filter((_, index) => index % 3 === 0);
    const left = [...some, ...[...doubtful, ...deaths.doubtful].flatMap((one) => [one, one])];
    for (const [index, from] of left.entries()) {
      const stage = from.killed();
      const { session } = stage;
      const before = await stage.examine();
      const [run] = before.state.runs.values();
      if (run === undefined || run.at === "completed") continue;
      const verb = index % 2 === 0 ? "cancel" : "abandon";
      const asked = { session, by: "ada" };
      const log = () => stage.world.text(`/state/sessions/${session}/log.jsonl`);
      const old = log();
      const engine = stage.world.engine();
      const said = await outcomeOf(verb === "cancel" ? cancelRun(engine, asked) : abandonRun(engine, asked));
      const after = await stage.examine();
      expectKept(after, stage.world.told);
      const [ended] = after.state.runs.values();
      ends.add(`${verb} of ${run.at}: ${said}, ${ended?.at}`);
      if (run.at === "input_required" && verb === "cancel") expect(log()).toBe(old);
      const operations = [...after.state.operations.values()];
      const unknown = operations.filter((one) => one.at === "unknown");
      if (ended?.at !== "input_required")
        expect(operations.every((one) => one.at === "unknown" || one.at === "settled")).toBe(true);
      expect(after.state.row.openUnknowns).toBe(unknown.length);
      expect(after.state.released).toBe(true);
      expectSendable(after);
      const place = { session, run: run.run, operation: unknown[0]?.operation ?? "" };
      if (ended?.at === "input_required") await cancelByHand(stage, place);
      else await expectOver(stage, { ...place, verb });
    }
    expect([...ends].toSorted()).toEqual([
      "abandon of input_required: done, failed",
      "abandon of queued: done, failed",
      "abandon of running: done, failed",
      "cancel of input_required: input_required, input_required",
      "cancel of queued: done, canceled",
      "cancel of running: done, canceled",
      "cancel of running: input_required, input_required",
    ]);
  });

  test("and was given up makes room for the next one, whose model is told what is not known", async () => {
    for (const from of doubtful) {
      const stage = from.killed();
      await abandonRun(stage.world.engine(), { session: stage.session, by: "ada" });
      await expectEnding(stage.work({ task: "Next." }), "completed");
      const next = await stage.examine();
      expect([...next.state.runs.values()].map((run) => run.at)).toEqual(["failed", "completed"]);
      const prompt = projectPrompt(next.state, nothing);
      expect(faultOfPrompt(prompt)).toBeUndefined();
      expect(JSON.stringify(prompt)).toContain("it is unknown whether this call took effect");
    }
  });
});

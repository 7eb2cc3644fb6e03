import { beforeAll, describe, expect, test } from "vitest";
import { abandonRun, approveOperation, cancelRun, type EngineContext } from "../../src/engine/index.ts";
import type { Json } from "../../src/model/values.ts";
import { isHoldfastError } from "../../src/model/errors.ts";
import { allow, deny, done, expectEnding, say, stageAsking, waiting, write } from "./asking.ts";
import { expectSettledOnce, factsOf, type Examined } from "./examine.ts";
import { idle, Stage, type Work } from "./stage.ts";

/** Makes a request as it comes, without waiting for its answer; resolves when it is durable. */
async function ask(
  stage: Stage,
  request: string,
  { verb, args, engine = stage.world.engine() }: { verb: string; args: Json; engine?: EngineContext },
): Promise<void> {
  const made = { kind: "request.made", request, verb, args, by: "ada" } as const;
  const append = () =>
    engine.store.appendToQueue(
      stage.session,
      () => undefined,
      (queue) => queue.append([made]),
    );
  // In memory two seconds of waiting for others pass in no time.
  while ((await outcomeOf(append())) === "busy") await idle();
}

/** The answers of all requests, by id: each has one, for a second one is no legal queue. */
const answers = ({ queue }: Examined): Record<string, string> =>
  Object.fromEntries(
    [...queue.requests.values()].map(({ request, answer }) => [
      request,
      answer === undefined ? "none" : answer.ok ? "done" : (answer.code ?? "no code"),
    ]),
  );

/** How a verb ended: `done`, or the code of its error. */
const outcomeOf = (verb: Promise<unknown>): Promise<string> =>
  verb.then(
    () => "done",
    (error: unknown) => (isHoldfastError(error) ? error.code : String(error)),
  );

let interrupted: Stage;
beforeAll(async () => {
  const stage = await stageAsking(["write"], { calls: [write("b.txt")] }, done);
  await stage.work(waiting).waits("approval.asked");
  interrupted = stage.killed();
});

/** A run that waits for a person to allow its write, and the process that works on it. */
async function runThatWaits(): Promise<{ stage: Stage; work: Work }> {
  const stage = interrupted.killed();
  const work = stage.work(waiting);
  await work.waits("run.started");
  return { stage, work };
}

/** The name of the process that works, as the disk knows it. */
function holderOf(stage: Stage): string {
  return stage.world.disk.effects.findLast(({ path }) => path.endsWith("/lease"))?.process ?? "";
}

describe("a request to whoever holds a session", () => {
  test("is answered once, while the work goes on, whatever it is and however many come at the same time", async () => {
    const { stage, work } = await runThatWaits();
    const [operation] = await stage.operations();
    const run = operation?.run ?? "";
    const place = { run, operation: operation?.operation ?? "" };
    const kinds: { verb: string; args: Json; expected: string }[] = [
      { verb: "dance", args: {}, expected: "usage" },
      { verb: "", args: null, expected: "usage" },
      { verb: "x".repeat(10_000), args: [1], expected: "usage" },
      { verb: "cancel", args: {}, expected: "usage" },
      { verb: "cancel", args: "run_1", expected: "usage" },
      { verb: "cancel", args: { run: "run_nothing" }, expected: "not_found" },
      { verb: "abandon", args: { run: 7 }, expected: "usage" },
      { verb: "approve", args: { ...place, decision: "maybe" }, expected: "usage" },
      { verb: "approve", args: { run, operation: "op_nothing", decision: "allow" }, expected: "not_found" },
      { verb: "resolve", args: { ...place, outcome: "ok" }, expected: "usage" },
      { verb: "resolve", args: { ...place, operation: "", outcome: "ok" }, expected: "not_found" },
    ];
    const asked = Array.from({ length: 110 }, (_, index) => {
      const kind = kinds[index % kinds.length] ?? { verb: "", args: {}, expected: "" };
      return { ...kind, request: `req_${index}` };
    });
    // From a few processes, each as fast as it can.
    const engines = Array.from({ length: 5 }, () => stage.world.engine());
    await Promise.all(
      asked.map(({ request, verb, args }, index) => {
        const engine = engines[index % engines.length] ?? stage.world.engine();
        return ask(stage, request, { verb, args, engine });
      }),
    );
    await idle();
    expect(answers(await stage.examine())).toEqual(
      Object.fromEntries(asked.map(({ request, expected }) => [request, expected])),
    );
    expect(work.count("approval.decided")).toBe(0);
    await say(stage, allow);
    await expectEnding(work, "completed");
    expectSettledOnce(await stage.examine());
  });

  test("and that comes at any step of answering another one is not left asleep", async () => {
    const dance = { verb: "dance", args: {} };
    const { stage: quiet } = await runThatWaits();
    const before = quiet.world.disk.effects.length;
    await ask(quiet, "req_1", dance);
    await idle();
    const steps = quiet.world.disk.effects.length - before;
    for (let at = 0; at <= steps; at++) {
      const { stage, work } = await runThatWaits();
      const other = stage.world.engine();
      let seen = 0;
      let asked: Promise<void> | undefined;
      stage.world.disk.gate = () => {
        if (seen++ === at) asked = ask(stage, "req_2", { ...dance, engine: other });
        return undefined;
      };
      await ask(stage, "req_1", dance);
      await idle();
      stage.world.disk.gate = undefined;
      await (asked ?? ask(stage, "req_2", dance));
      await idle();
      const answered = answers(await stage.examine());
      expect(answered, `asked ${at} steps later`).toEqual({ req_1: "usage", req_2: "usage" });
      expect(work.count("approval.decided")).toBe(0);
    }
    expect(steps).toBeGreaterThan(40);
  });

  test("is taken where the holder could not read or write for a moment, whatever it was", async () => {
    for (const verb of ["read", "stat", "open", "lock", "write", "sync"] as const) {
      const { stage, work } = await runThatWaits();
      const holder = holderOf(stage);
      let failed = 0;
      stage.world.disk.fault = (effect) => {
        const fails = effect.process === holder && effect.verb === verb && failed++ === 0;
        return fails ? { code: "EIO" } : undefined;
      };
      expect(await outcomeOf(say(stage, allow)), verb).toBe("done");
      await work.report.catch(() => undefined);
      await stage.work(waiting).report;
      expectSettledOnce(await stage.examine());
      expect(failed, verb).toBeGreaterThan(0);
    }
  });

  test("is not left with a holder that can write no more: that one leaves, and says why", async () => {
    const { stage, work } = await runThatWaits();
    const holder = holderOf(stage);
    let isWritten = false;
    stage.world.disk.fault = ({ process, verb, path }) => {
      if (process !== holder || !path.endsWith("/log.jsonl")) return undefined;
      // After this the holder does not know who wrote what is there.
      if (verb === "statFile" && isWritten) {
        isWritten = false;
        return { code: "EIO" };
      }
      isWritten ||= verb === "write";
      return undefined;
    };
    expect(await outcomeOf(say(stage, allow))).toBe("done");
    expect(await outcomeOf(work.report)).toBe("io_error");
    stage.world.disk.fault = undefined;
    await expectEnding(stage.work(), "completed");
    expectSettledOnce(await stage.examine());
  });

  test("and that came while the queue was used for something else is not left asleep", async () => {
    // A request before some steps of a work that takes a delivery, and waits.
    const start = await stageAsking(["write"], { calls: [write("b.txt")] }, done);
    const quiet = start.killed();
    await quiet.work(waiting).waits("approval.asked");
    const steps = Math.min(120, quiet.world.disk.effects.length);
    let asked = 0;
    for (let at = 50; at < steps; at += 2) {
      const stage = start.killed();
      // Late enough for the holder to have come by it before.
      stage.world.disk.tells = 400;
      let made: Promise<void> | undefined;
      stage.world.disk.gate = (effect) => {
        if (effect.index === at) made = ask(stage, "req_1", { verb: "dance", args: {} });
        return undefined;
      };
      const work = stage.work(waiting);
      await work.waits("approval.asked");
      stage.world.disk.gate = undefined;
      if (made === undefined) continue;
      await made;
      await idle();
      asked++;
      expect(answers(await stage.examine()), `asked before effect ${at}`).toEqual({ req_1: "usage" });
      expect(work.count("approval.decided")).toBe(0);
    }
    expect(asked).toBeGreaterThan(20);
  });

  test("that nobody hears is told as that, is kept, and is done by whoever goes on", async () => {
    const { stage } = await runThatWaits();
    // The one who holds it is stopped, and will never look.
    stage.world.disk.tells = undefined;
    expect(await outcomeOf(say(stage, allow))).toBe("busy");
    expect(Object.values(answers(await stage.examine()))).toEqual(["none"]);
    const after = stage.killed();
    await expectEnding(after.work(), "completed");
    const examined = await after.examine();
    expect(Object.values(answers(examined))).toEqual(["done"]);
    expect(factsOf(examined, "approval.decided")).toMatchObject([{ decision: "allow", by: "ada" }]);
    expect(after.text("b.txt")).toBe("new\n");
  });

  test("made while the holder lets go is answered by him, or whoever made it finds that nobody holds it", async () => {
    const ends = { answered: 0, found: 0 };
    const { stage: quiet, work: leaver } = await runThatWaits();
    const before = quiet.world.disk.effects.length;
    leaver.stops.request({ kind: "suspend", reason: "signal" });
    await leaver.report;
    const steps = quiet.world.disk.effects.length - before;
    for (let at = 0; at <= steps; at++) {
      const { stage, work } = await runThatWaits();
      // Only the last look under the lock may still find it.
      stage.world.disk.tells = undefined;
      const engine = stage.world.engine();
      let seen = 0;
      let isHeld: Promise<boolean> | undefined;
      stage.world.disk.gate = () => {
        if (seen++ === at) {
          const made = ask(stage, "req_1", { verb: "dance", args: {}, engine });
          isHeld = made.then(() => engine.store.isHeld(stage.session));
        }
        return undefined;
      };
      work.stops.request({ kind: "suspend", reason: "signal" });
      await work.report;
      stage.world.disk.gate = undefined;
      // He was gone before.
      if (isHeld === undefined) break;
      const found = !(await isHeld);
      const isAnswered = answers(await stage.examine())["req_1"] === "usage";
      expect(found || isAnswered, `made ${at} steps after he began to leave`).toBe(true);
      ends[isAnswered ? "answered" : "found"]++;
    }
    expect(Math.min(ends.answered, ends.found)).toBeGreaterThan(0);
  });

  test("of whoever dies over it is done where it was durable", async () => {
    const { stage: first } = await runThatWaits();
    const [operation] = await first.operations();
    const before = first.world.disk.effects.length;
    const { session } = first;
    const request = { session, run: operation?.run ?? "", operation: operation?.operation ?? "", ...allow };
    await approveOperation(first.world.engine(), request);
    const steps = first.world.disk.effects.length - before;
    const ends = new Set<string>();
    for (let at = 1; at < steps; at += 5) {
      const { stage, work } = await runThatWaits();
      const requester = stage.world.process();
      let seen = 0;
      stage.world.disk.gate = (effect) => {
        if (effect.process === requester.name && ++seen === at) requester.die();
        return undefined;
      };
      void say(stage, allow, { engine: requester.engine }).catch(() => undefined);
      await idle();
      stage.world.disk.gate = undefined;
      requester.die();
      await idle();
      const isMade = Object.keys(answers(await stage.examine())).length > 0;
      ends.add(isMade ? "made" : "not made");
      if (!isMade) await say(stage, allow);
      await expectEnding(work, "completed");
      expect(new Set(Object.values(answers(await stage.examine())))).toEqual(new Set(["done"]));
      expect(stage.text("b.txt")).toBe("new\n");
    }
    expect([...ends].toSorted()).toEqual(["made", "not made"]);
  });
});

/** What may be asked of a run that waits for a word, and what is then true. */
const verbs = {
  allow: {
    ask: (stage: Stage, engine: EngineContext) => say(stage, allow, { engine }),
    isDone: (examined: Examined) => factsOf(examined, "approval.decided").length === 1,
  },
  deny: {
    ask: (stage: Stage, engine: EngineContext) => say(stage, deny, { engine }),
    isDone: (examined: Examined) =>
      factsOf(examined, "op.known").filter((fact) => fact.outcome === "denied").length === 1,
  },
  cancel: {
    ask: (stage: Stage, engine: EngineContext) => cancelRun(engine, { session: stage.session, by: "ada" }),
    isDone: (examined: Examined) =>
      factsOf(examined, "run.ended").filter((fact) => fact.status === "canceled" && fact.by === "ada")
        .length === 1,
  },
  abandon: {
    ask: (stage: Stage, engine: EngineContext) => abandonRun(engine, { session: stage.session, by: "ada" }),
    isDone: (examined: Examined) =>
      factsOf(examined, "run.ended").filter((fact) => fact.reason === "abandoned" && fact.by === "ada")
        .length === 1,
  },
};

describe.each(Object.entries(verbs))("who asks for %s", (_name, { ask: askFor, isDone }) => {
  test("has it where the holder dies at any step of doing it", async () => {
    const { stage: quiet } = await runThatWaits();
    const before = quiet.world.disk.effects.length;
    await askFor(quiet, quiet.world.engine());
    const steps = quiet.world.disk.effects.length - before;
    for (let at = 1; at <= steps; at += 6) {
      const { stage, work } = await runThatWaits();
      let seen = 0;
      stage.world.disk.gate = () => {
        if (++seen === at) work.die();
        return undefined;
      };
      await askFor(stage, stage.world.engine());
      stage.world.disk.gate = undefined;
      const examined = await stage.examine();
      expect(isDone(examined), `the holder died ${at} steps later`).toBe(true);
      expect(Object.values(answers(examined)).every((answer) => answer === "done")).toBe(true);
    }
    expect(steps).toBeGreaterThan(30);
  });

  test("has it once where the holder lets go at any step of it", async () => {
    const { stage: quiet, work: leaver } = await runThatWaits();
    const before = quiet.world.disk.effects.length;
    leaver.stops.request({ kind: "suspend", reason: "signal" });
    await leaver.report;
    const steps = quiet.world.disk.effects.length - before;
    const ways = new Set<string>();
    for (let at = 0; at <= steps; at += 4) {
      const { stage, work } = await runThatWaits();
      let seen = 0;
      let asked: Promise<unknown> | undefined;
      stage.world.disk.gate = () => {
        if (seen++ === at) asked = askFor(stage, stage.world.engine());
        return undefined;
      };
      work.stops.request({ kind: "suspend", reason: "signal" });
      await work.report;
      stage.world.disk.gate = undefined;
      await (asked ?? askFor(stage, stage.world.engine()));
      const examined = await stage.examine();
      const made = Object.values(answers(examined));
      expect(isDone(examined), `asked ${at} steps after it began to leave`).toBe(true);
      expect(made.every((answer) => answer === "done")).toBe(true);
      ways.add(made.length === 0 ? "alone" : "asked");
    }
    expect([...ways].toSorted()).toEqual(["alone", "asked"]);
  });

  test("has it where others ask for the same in the same moment", async () => {
    const { stage, work } = await runThatWaits();
    work.die();
    await idle();
    const engines = Array.from({ length: 4 }, () => stage.world.engine());
    const outcomes = await Promise.all(engines.map((engine) => outcomeOf(askFor(stage, engine))));
    expect(outcomes).toEqual(["done", "done", "done", "done"]);
    const examined = await stage.examine();
    expect(isDone(examined)).toBe(true);
    expect(Object.values(answers(examined)).every((answer) => answer === "done")).toBe(true);
    expect(await stage.world.engine().store.isHeld(stage.session)).toBe(false);
  });
});

test("of one who cancels and one who gives up in the same moment the graver word holds, and the other one is told", async () => {
  for (const isLive of [true, false]) {
    const { stage, work } = await runThatWaits();
    if (!isLive) work.die();
    const { session } = stage;
    const run = (await stage.operations())[0]?.run ?? "";
    // Both are there before anybody looks.
    const others = stage.world.engine();
    if (isLive) {
      await Promise.all([
        ask(stage, "req_1", { verb: "abandon", args: { run }, engine: others }),
        ask(stage, "req_2", { verb: "cancel", args: { run }, engine: others }),
      ]);
      await expectEnding(work, "failed");
    } else {
      await ask(stage, "req_1", { verb: "abandon", args: { run } });
      await ask(stage, "req_2", { verb: "cancel", args: { run } });
      expect(await outcomeOf(cancelRun(stage.world.engine(), { session }))).toBe("usage");
    }
    const examined = await stage.examine();
    expect(answers(examined)).toMatchObject({ req_1: "done", req_2: "usage" });
    expect(factsOf(examined, "run.ended")).toMatchObject([{ status: "failed", reason: "abandoned" }]);
    expectSettledOnce(examined);
  }
});

test("a cancel that comes as its run completes is told so, and ends no run that comes after it", async () => {
  const start = await Stage.set({ turns: [{ text: "1" }, { text: "2" }] });
  await start.send("Second.");
  const quiet = start.killed();
  let first = { from: 0, run: "" };
  await quiet.work({
    onFact: (fact) => {
      if (fact.kind !== "run.created" || first.from > 0) return;
      first = { from: quiet.world.disk.effects.length, run: fact.run };
    },
  }).report;
  const steps = quiet.world.disk.effects.length;
  const ends = new Set<string>();
  for (let at = first.from; at <= steps; at += 5) {
    const stage = start.killed();
    let run = "";
    let asked: Promise<string> | undefined;
    stage.world.disk.gate = (effect) => {
      if (effect.index === at)
        asked = outcomeOf(cancelRun(stage.world.engine(), { session: stage.session, run }));
      return undefined;
    };
    const work = stage.work({
      onFact: (fact) => {
        if (fact.kind === "run.created") run ||= fact.run;
      },
    });
    const { ending } = await work.report;
    stage.world.disk.gate = undefined;
    const said = await asked;
    if (said === undefined) continue;
    const { state } = await stage.examine();
    const runs = [...state.runs.values()].map((one) => one.at);
    ends.add(`${said}: ${runs.join()}, ${ending}`);
  }
  expect([...ends].toSorted()).toEqual(["done: canceled, canceled", "usage: completed,completed, completed"]);
});

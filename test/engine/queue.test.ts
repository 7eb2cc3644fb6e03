import { describe, expect, test } from "vitest";
import {
  resume,
  runTask,
  send as sendMessage,
  type EngineContext,
  type WorkReport,
} from "../../src/engine/index.ts";
import type { Fact } from "../../src/model/facts.ts";
import { isHoldfastError } from "../../src/model/errors.ts";
import { EngineWorld } from "../crash/engine-world.ts";
import { changesDisk } from "../crash/memory-disk.ts";
import { examine, factsOf, type Examined } from "./examine.ts";

const { workspace, model } = EngineWorld;

function newWorld(...turns: unknown[]): EngineWorld {
  const world = new EngineWorld();
  world.disk.plant("/cassette.json", JSON.stringify({ cassette: 1, turns }));
  world.disk.plant("/project/a.txt", "a\n");
  return world;
}

async function begin(world: EngineWorld, task = "First."): Promise<WorkReport> {
  const request = { workspace, model, agent: "builtin", policy: {}, task };
  return await runTask(world.engine(), request, world.observer(), () => undefined);
}

async function goOn(
  world: EngineWorld,
  options: { task?: string; acceptRollback?: boolean; engine?: EngineContext } = {},
): Promise<WorkReport> {
  const { acceptRollback = false, task, engine = world.engine() } = options;
  const [selector = ""] = await engine.store.ids();
  const request = { selector, acceptRollback, ...(task !== undefined && { task }) };
  return await resume(engine, request, world.observer());
}

async function examineWorld(world: EngineWorld): Promise<Examined> {
  const [session = ""] = await world.engine().store.ids();
  return await examine(world.engine(), session);
}

/** Sends a message to the one session. */
async function send(engine: EngineContext, text: string, key?: string): Promise<string> {
  const [selector = ""] = await engine.store.ids();
  const report = await sendMessage(engine, { selector, text, ...(key !== undefined && { key }) });
  return report.delivery;
}

/** Appends a line to the queue as it stands here. */
async function append(world: EngineWorld, fact: Fact): Promise<void> {
  const engine = world.engine();
  const [session = ""] = await engine.store.ids();
  await engine.store.appendToQueue(
    session,
    () => undefined,
    (queue) => queue.append([fact]),
  );
}

const asked = ({ state }: Examined): string[] =>
  state.messages.flatMap(({ message }) =>
    message.role === "user"
      ? message.parts.flatMap((part) => (part.type === "text" ? (part.text ?? "") : []))
      : [],
  );

const failure = { error: { status: 401, message: "no" } };

describe("a message that was admitted", () => {
  test("is one delivery for each key, however often it is sent, and never another's", async () => {
    const world = newWorld({ text: "1" }, { text: "2" });
    await begin(world);
    const first = await send(world.engine(), "Again.", "key-1");
    expect(await send(world.engine(), "Again.", "key-1")).toBe(first);
    await expect(send(world.engine(), "Other.", "key-1")).rejects.toMatchObject({
      code: "message_id_conflict",
    });
    expect((await goOn(world)).ending).toBe("completed");
    // Also long after it was delivered.
    expect(await send(world.engine(), "Again.", "key-1")).toBe(first);
    expect((await goOn(world)).ending).toBe("idle");
    expect(asked(await examineWorld(world))).toEqual(["First.", "Again."]);
  });

  test("goes out in its turn: a task of resume stands behind what waits, in one run each", async () => {
    const world = newWorld({ text: "1" }, { text: "2" }, { text: "3" });
    await begin(world);
    await send(world.engine(), "Second.");
    expect((await goOn(world, { task: "Third." })).ending).toBe("completed");
    const examined = await examineWorld(world);
    expect(asked(examined)).toEqual(["First.", "Second.", "Third."]);
    expect([...examined.state.runs.values()].map((run) => run.at)).toEqual([
      "completed",
      "completed",
      "completed",
    ]);
  });

  test("waits behind a run that failed until somebody resumes", async () => {
    const world = newWorld({ text: "1" }, { text: "2" });
    await begin(world);
    // The cassette has no turn for this one's second call.
    const failing = newWorld({ calls: [{ tool: "read", args: { path: "a.txt" } }] });
    await begin(failing);
    await send(failing.engine(), "Second.");
    await send(failing.engine(), "Third.");
    expect([...(await examineWorld(failing)).state.runs.values()].map((run) => run.at)).toEqual(["failed"]);
    // Each resume lifts the hold once: the next failure holds the rest again.
    expect((await goOn(failing)).ending).toBe("failed");
    expect(asked(await examineWorld(failing))).toEqual(["First.", "Second."]);
    expect((await goOn(failing)).ending).toBe("failed");
    expect(asked(await examineWorld(failing))).toEqual(["First.", "Second.", "Third."]);
  });

  test("waits while a run is suspended, and then that run goes on first", async () => {
    const world = newWorld(failure, { text: "1" }, { text: "2" });
    expect((await begin(world)).ending).toBe("suspended");
    await send(world.engine(), "Second.");
    await expect(goOn(world, { task: "Third." })).rejects.toMatchObject({ code: "usage" });
    expect((await goOn(world, { task: "First." })).ending).toBe("completed");
    const examined = await examineWorld(world);
    expect(asked(examined)).toEqual(["First.", "Second."]);
    expect(factsOf(examined, "run.started").map((fact) => fact.attempt)).toEqual([1, 2, 1]);
  });

  test("at any step of a worker's letting go is taken by that worker, or waits for the next", async () => {
    const quiet = newWorld({ text: "1" }, { text: "2" });
    await begin(quiet);
    const steps = quiet.disk.effects.length;
    const taken = new Set<number>();
    for (let at = steps - 60; at <= steps; at++) {
      const world = newWorld({ text: "1" }, { text: "2" });
      let sent: Promise<string> | undefined;
      world.disk.gate = (effect) => {
        if (effect.index === at) sent = send(world.engine(), "Second.");
        return undefined;
      };
      await begin(world);
      world.disk.gate = undefined;
      await (sent ?? send(world.engine(), "Second."));
      const runs = (await examineWorld(world)).state.runs.size;
      taken.add(runs);
      expect((await goOn(world)).ending).toBe(runs === 2 ? "idle" : "completed");
      const examined = await examineWorld(world);
      expect(asked(examined), `sent at effect ${at}`).toEqual(["First.", "Second."]);
      expect([...examined.queue.deliveries.values()].map((one) => one.at)).toEqual([
        "acknowledged",
        "acknowledged",
      ]);
    }
    expect([...taken].toSorted((left, right) => left - right)).toEqual([1, 2]);
  });

  test("is said once, in one run, whatever dies between its claim, its message and its acknowledgement", async () => {
    const start = newWorld({ text: "1" }, { text: "2" }, { text: "3" });
    await begin(start);
    const deaths: EngineWorld[] = [];
    start.disk.gate = (effect) => {
      if (changesDisk(effect))
        deaths.push(
          start.killed(),
          start.crashed(() => "dropped"),
        );
      return undefined;
    };
    await goOn(start, { task: "Second." });
    start.disk.gate = undefined;
    const left = new Set<string>();
    for (const world of deaths) {
      const before = await examineWorld(world.killed());
      const delivery = [...before.queue.deliveries.values()].at(-1);
      left.add(`${delivery?.at}, ${before.state.messages.length > 2 ? "said" : "not said"}`);
      while ((await goOn(world)).ending !== "idle") continue;
      const { state, queue } = await examineWorld(world);
      const waits = before.queue.deliveries.size > 1;
      expect(asked(await examineWorld(world))).toEqual(waits ? ["First.", "Second."] : ["First."]);
      expect(state.runs.size).toBe(waits ? 2 : 1);
      expect([...queue.deliveries.values()].every((one) => one.at === "acknowledged")).toBe(true);
    }
    expect([...left].toSorted()).toEqual([
      "acknowledged, not said",
      "acknowledged, said",
      "admitted, not said",
      "claimed, not said",
      "claimed, said",
    ]);
  });

  test("by a resume that died is not run twice when that resume is repeated, wherever it died", async () => {
    const start = newWorld({ text: "1" }, { text: "2" }, { text: "3" });
    await begin(start);
    const long = `Second. ${"long ".repeat(9000)}`;
    for (const task of ["Second.", long]) {
      const deaths: EngineWorld[] = [];
      const alive = start.killed();
      alive.disk.gate = (effect) => {
        if (changesDisk(effect)) deaths.push(alive.killed());
        return undefined;
      };
      await goOn(alive, { task });
      alive.disk.gate = undefined;
      let repeated = 0;
      for (const world of deaths) {
        const { state } = await examineWorld(world.killed());
        const runs = [...state.runs.values()];
        // Once it is over, the same words are a new task.
        if (runs.length > 1 && runs.at(-1)?.at === "completed") continue;
        await goOn(world, { task });
        repeated++;
        const examined = await examineWorld(world);
        expect(examined.state.runs.size).toBe(2);
        expect([...examined.queue.deliveries.values()].map((one) => one.at)).toEqual([
          "acknowledged",
          "acknowledged",
        ]);
      }
      expect(repeated).toBeGreaterThan(10);
    }
  });

  test("goes before what waits in the queue where it interrupts", async () => {
    const world = newWorld({ text: "1" }, { text: "2" }, { text: "3" });
    await begin(world);
    await send(world.engine(), "Second.");
    await append(world, {
      kind: "delivery.admitted",
      delivery: "dlv_interrupts",
      idempotencyKey: "dlv_interrupts",
      logSeq: 0,
      source: "user",
      text: "At once.",
      mode: "interrupt",
    });
    expect((await goOn(world)).ending).toBe("completed");
    expect(asked(await examineWorld(world))).toEqual(["First.", "At once.", "Second."]);
  });

  test("and whose text is gone is blocked, with the reason, and keeps nothing behind it", async () => {
    const world = newWorld({ text: "1" }, { text: "2" });
    await begin(world);
    const lost = await send(world.engine(), `Second. ${"long ".repeat(9000)}`);
    await send(world.engine(), "Third.");
    const { queue } = await examineWorld(world);
    const [session = ""] = await world.engine().store.ids();
    const { sha256 = "" } = queue.deliveries.get(lost)?.blob ?? {};
    world.disk.plant(`/state/sessions/${session}/blobs/${sha256}`, "other bytes");
    expect((await goOn(world)).ending).toBe("completed");
    const examined = await examineWorld(world);
    expect(asked(examined)).toEqual(["First.", "Third."]);
    expect(examined.queue.deliveries.get(lost)).toMatchObject({
      at: "blocked",
      reason: expect.stringContaining("cannot be read") as string,
    });
    expect((await goOn(world)).ending).toBe("idle");
  });

  test("is run by one process: of many that resume at once the others find it busy, or nothing to do", async () => {
    const world = newWorld({ text: "1" }, { text: "2" });
    await begin(world);
    await send(world.engine(), "Second.");
    const endings = await Promise.all(
      Array.from({ length: 6 }, async () => {
        try {
          return (await goOn(world)).ending;
        } catch (error) {
          return isHoldfastError(error) ? error.code : String(error);
        }
      }),
    );
    expect(endings.filter((ending) => ending === "completed")).toHaveLength(1);
    expect(
      endings.every((ending) => ["completed", "busy", "idle"].includes(ending)),
      endings.join(),
    ).toBe(true);
    expect(asked(await examineWorld(world))).toEqual(["First.", "Second."]);
  });
});

test("a request that this version does not know is answered before the session is let go, whatever its run came to", async () => {
  for (const turns of [[{ text: "1" }], [{ calls: [{ tool: "read", args: { path: "a.txt" } }] }]]) {
    const world = newWorld(...turns);
    await begin(world);
    for (const request of ["req_1", "req_2"])
      await append(world, { kind: "request.made", request, verb: "dance", args: {}, by: "me" });
    expect((await goOn(world)).ending).toBe("idle");
    const { queue } = await examineWorld(world);
    expect([...queue.requests.values()].map((one) => one.answer?.ok)).toEqual([false, false]);
    // Once.
    expect((await goOn(world)).ending).toBe("idle");
    await examineWorld(world);
  }
});

test("a task that says nothing is refused before anything is written", async () => {
  const world = newWorld({ text: "1" });
  await expect(begin(world, " \n")).rejects.toMatchObject({ code: "usage" });
  expect(world.disk.files()).toEqual(["/cassette.json", "/project/a.txt"]);
});

describe("log and queue that are put back, each by itself, to any line", () => {
  const lines = (text: string): number[] => [...text.matchAll(/\n/g)].map((match) => match.index + 1);

  test.each([
    ["with what is known of the log's end", ["fine", "rolled_back"]],
    ["without it", ["fine", "queue_damaged", "rolled_back"]],
  ])(
    "are refused or go on, and with a person's word go on: nothing is said twice, %s",
    async (name, expected) => {
      const whole = newWorld({ text: "1" }, { text: "2" }, { text: "3" }, { text: "4" });
      await begin(whole);
      await goOn(whole, { task: "Second." });
      const [session = ""] = await whole.engine().store.ids();
      const folder = `/state/sessions/${session}`;
      const [log, queue] = ["log", "queue"].map((name) => whole.text(`${folder}/${name}.jsonl`) ?? "");
      const verdicts = new Set<string>();
      for (const [logEnd, queueEnd] of lines(log ?? "").flatMap((one) =>
        lines(queue ?? "").map((other) => [one, other] as const),
      )) {
        const world = whole.killed();
        world.disk.plant(`${folder}/log.jsonl`, log?.slice(0, logEnd) ?? "");
        world.disk.plant(`${folder}/queue.jsonl`, queue?.slice(0, queueEnd) ?? "");
        if (name === "without it") world.disk.plant(`${folder}/head`, "");
        const label = `log up to ${logEnd} of ${log?.length}, queue up to ${queueEnd} of ${queue?.length}`;
        const before = world.text(`${folder}/log.jsonl`);
        let verdict = "fine";
        try {
          await goOn(world);
        } catch (error) {
          verdict = isHoldfastError(error) ? error.code : String(error);
          expect(world.text(`${folder}/log.jsonl`), label).toBe(before);
        }
        verdicts.add(verdict);
        expect(["fine", "rolled_back", "queue_damaged"], label).toContain(verdict);
        if (verdict !== "fine") await goOn(world, { acceptRollback: true });
        await expectNothingTwice(world, label);
        // And it goes on being written.
        await goOn(world);
        await expectNothingTwice(world, label);
      }
      expect([...verdicts].toSorted()).toEqual(expected);
    },
  );

  async function expectNothingTwice(world: EngineWorld, label: string): Promise<void> {
    const { state, queue, facts } = await examineWorld(world);
    const delivered = facts.flatMap((fact) => (fact.kind === "message" ? (fact.delivery ?? []) : []));
    expect(new Set(delivered).size, label).toBe(delivered.length);
    for (const { delivery, at, acknowledged, reason } of queue.deliveries.values()) {
      const there = state.deliveries.get(delivery);
      if (at === "blocked") expect([reason, there], label).toEqual(["rolled_back", undefined]);
      else expect([at, acknowledged?.seq], label).toEqual(["acknowledged", there?.seq]);
    }
  }
});

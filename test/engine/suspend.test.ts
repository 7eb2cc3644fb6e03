import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expectDoneOnce, goOn, newWorld, patient, stopAt } from "./memory-story.ts";
import type { EngineWorld } from "../crash/engine-world.ts";
import { expectDoneOnce as expectStoryDoneOnce, tellStory } from "../crash/run-story.ts";
import { environmentOf, wires } from "../agents/wire.ts";
import type { EngineWorkerLine } from "../peers/engine-worker.ts";
import { startModelServer, type ModelServer } from "../peers/model-server.ts";
import { examine, expectSettledOnce, factsOf } from "./examine.ts";
import { Home, list, type Ended } from "./home.ts";
import { useHomes } from "./use-homes.ts";

const { newHome, servers } = useHomes();

const suspend = { kind: "suspend", reason: "signal" } as const;

describe("an attempt that is suspended", () => {
  test("at any step begins nothing more, ends what it began, and lets go; who resumes does each thing once", async () => {
    const ends = new Map<string, number>();
    for (let at = 0; ; at += 2) {
      const world = newWorld(patient());
      const { report, effect, after, begun } = await stopAt(world, at, suspend);
      if (effect === undefined) break;
      ends.set(report.ending, (ends.get(report.ending) ?? 0) + 1);
      const label = `told to stop before change ${at} (${effect.verb} ${effect.path}), then ${after.join()}`;
      // Only the line that was being written may still begin something.
      expect(begun.size, label).toBeLessThanOrEqual(effect.path.endsWith("/log.jsonl") ? 1 : 0);
      const [session = ""] = await world.engine().store.ids();
      const examined = await examine(world.engine(), session);
      expect(examined.state.released, label).toBe(true);
      expect(factsOf(examined, "op.unknown"), label).toEqual([]);
      expect(factsOf(examined, "run.suspended"), label).toMatchObject(
        report.ending === "suspended" && examined.state.row.state === "suspended"
          ? [{ reason: "signal" }]
          : [],
      );
      await goOn(world);
      await expectDoneOnce(world);
    }
    expect([...ends.keys()].toSorted()).toEqual(["completed", "idle", "suspended"]);
    expect(ends.get("suspended")).toBeGreaterThan(50);
  });

  test("and is killed at any step of that goes on as if it had only been killed", async () => {
    const deaths: { world: EngineWorld; label: string }[] = [];
    for (let at = 60; at < 175; at += 11) {
      const world = newWorld(patient());
      await stopAt(world, at, suspend, () => {
        const label = `told to stop before change ${at}, killed before effect ${world.disk.effects.length}`;
        deaths.push({ world: world.killed(), label });
      });
    }
    expect(deaths.length).toBeGreaterThan(100);
    for (const { world, label } of deaths.filter((_, index) => index % 2 === 0)) {
      try {
        await goOn(world);
        await expectDoneOnce(world);
      } catch (error) {
        throw new Error(label, { cause: error });
      }
    }
  });
});

/** Moments at which the process is told to stop. */
const moments = 12;

test("a process that is told to stop at any moment, and the one that goes on, do each thing once", async () => {
  const whole = tellStory(newHome());
  const { effects } = await whole.home.run(whole.home.task({ model: whole.model }));
  const failures: string[] = [];
  const ats = Array.from({ length: moments }, (_, index) =>
    Math.round(1 + (index * (effects - 1)) / (moments - 1)),
  );
  const workThrough = async (): Promise<void> => {
    for (let at = ats.shift(); at !== undefined; at = ats.shift()) {
      const { home, model } = tellStory(newHome());
      const file = join(home.folder, "effect");
      try {
        const first = await home.run(home.task({ model }), { stop: { at, signal: "SIGTERM", file } });
        expect(["suspended", "idle", "completed"]).toContain(first.report?.ending);
        expect(first).toMatchObject({ signal: null, stderr: "" });
        const told = [...first.commits];
        if (first.report?.ending !== "completed") {
          const second = await home.resume();
          expect(second).toMatchObject({ code: 0, report: { ending: "completed" }, stderr: "" });
          told.push(...second.commits);
        }
        await expectStoryDoneOnce({ home, model }, told);
        home.end();
      } catch (error) {
        const effect = existsSync(file) ? readFileSync(file, "utf8") : "none";
        failures.push(`stopped at ${at} (${effect}) in ${home.folder}: ${String(error)}`);
      }
    }
  };
  await Promise.all([workThrough(), workThrough()]);
  expect(failures).toEqual([]);
});

/** Finds the line with this piece of what is live. */
const heard = (text: string) => (line: EngineWorkerLine) =>
  (line["live"] as { text?: string } | undefined)?.text?.includes(text) ?? false;

/** A home whose model is a server that speaks a provider's protocol. */
async function served(): Promise<{ home: Home; server: ModelServer; model: string }> {
  const server = await startModelServer();
  servers.push(server);
  const home = newHome();
  home.environment = { ...home.environment, ...environmentOf(server.url) };
  return { home, server, model: wires.anthropic.model };
}

const suspended = { code: 11, signal: null, report: { ending: "suspended" }, stderr: "" };

async function completes(home: Home): Promise<Ended> {
  const ended = await home.resume();
  expect(ended).toMatchObject({ code: 0, report: { ending: "completed" }, stderr: "" });
  expectSettledOnce(await examine(home.engine(), home.sessions()[0] ?? ""));
  return ended;
}

describe("a command that runs when its attempt is suspended", () => {
  test("and ends within the grace has its own outcome", async () => {
    const home = newHome();
    const command = `echo begun; sleep 0.4; echo done | tee -a ${home.witness}`;
    const model = home.cassette([{ calls: [{ tool: "exec", args: { command } }] }, { text: "Done." }]);
    const worker = home.worker({ run: home.task({ model }), cancelGraceMs: 20_000 });
    await worker.line(heard("begun"));
    expect(await worker.signal("SIGTERM")).toMatchObject(suspended);
    await completes(home);
    const examined = await examine(home.engine(), home.sessions()[0] ?? "");
    expect(factsOf(examined, "op.known")).toMatchObject([{ outcome: "ok", output: "begun\ndone\n" }]);
    expect(readFileSync(home.witness, "utf8")).toBe("done\n");
    expect(list(home.inSession("spool"))).toEqual([]);
  });

  test("and outlives the grace is stopped, its real end recorded, and the model is told when it goes on", async () => {
    const { home, server, model } = await served();
    const command = `echo x >> ${home.witness}; echo begun; sleep 30; echo never >> ${home.witness}`;
    server.push({ calls: [{ id: "call_1", name: "exec", args: JSON.stringify({ command }) }] });
    server.push({ text: "Done." });
    const worker = home.worker({ run: home.task({ model }), cancelGraceMs: 150 });
    await worker.line(heard("begun"));
    expect(await worker.signal("SIGTERM")).toMatchObject(suspended);
    const examined = await examine(home.engine(), home.sessions()[0] ?? "");
    expect(factsOf(examined, "op.known")).toMatchObject([
      { outcome: "canceled", details: { stopped: "cancel", signal: "SIGTERM" } },
    ]);
    expect(server.requests).toHaveLength(1);
    await completes(home);
    expect(server.requests).toHaveLength(2);
    expect(server.requests[1]?.rawBody).toMatch(/begun\\n\[canceled after \d+ ms, ended by SIGTERM\]/);
    expect(readFileSync(home.witness, "utf8")).toBe("x\n");
  });

  test("and its worker is killed in the grace is adopted by the next one", async () => {
    const home = newHome();
    const command = `echo begun; sleep 0.6; echo done | tee -a ${home.witness}`;
    const model = home.cassette([{ calls: [{ tool: "exec", args: { command } }] }, { text: "Done." }]);
    const worker = home.worker({ run: home.task({ model }), cancelGraceMs: 20_000 });
    await worker.line(heard("begun"));
    process.kill(worker.pid, "SIGTERM");
    await worker.line((line) => line["stops"] === "SIGTERM");
    await worker.kill();
    await completes(home);
    expect(readFileSync(home.witness, "utf8")).toBe("done\n");
  });

  test("and was adopted from a worker that died is stopped all the same", async () => {
    const home = newHome();
    const command = `echo x >> ${home.witness}; echo begun; sleep 30; echo never >> ${home.witness}`;
    const model = home.cassette([{ calls: [{ tool: "exec", args: { command } }] }, { text: "Done." }]);
    const first = home.worker({ run: home.task({ model }) });
    await first.line(heard("begun"));
    await first.kill();
    const [selector = ""] = home.sessions();
    const second = home.worker({ resume: { selector, acceptRollback: false }, cancelGraceMs: 100 });
    await second.line(heard("begun"));
    expect(await second.signal("SIGTERM")).toMatchObject(suspended);
    await completes(home);
    expect(readFileSync(home.witness, "utf8")).toBe("x\n");
  });
});

describe("an attempt that waits when it is suspended", () => {
  test("for a provider leaves at once, and the next one asks again", async () => {
    const home = newHome();
    const error = { status: 503, message: "later", retryAfterMs: 60_000 };
    const model = home.cassette([{ error }, { text: "Done." }]);
    const worker = home.worker({ run: home.task({ model }) });
    await worker.fact("model.failed");
    expect(await worker.signal("SIGTERM")).toMatchObject(suspended);
    await completes(home);
    const examined = await examine(home.engine(), home.sessions()[0] ?? "");
    expect(factsOf(examined, "model.requested").map((fact) => fact.cassetteIndex)).toEqual([0, 1]);
  });

  test("for an answer keeps what had come of it", async () => {
    const home = newHome();
    const text = Array.from({ length: 400 }, (_, index) => `word${index}`).join(" ");
    const model = home.cassette([{ text, perTokenMs: 20 }]);
    const worker = home.worker({ run: home.task({ model }) });
    await worker.line(heard("word5"));
    expect(await worker.signal("SIGTERM")).toMatchObject(suspended);
    const examined = await examine(home.engine(), home.sessions()[0] ?? "");
    const cut = factsOf(examined, "message").filter((message) => message.interrupted === true);
    expect(cut).toHaveLength(1);
    const [part] = cut[0]?.parts ?? [];
    const kept = part?.type === "text" ? (part.text ?? "") : "";
    expect(kept).toContain("word5");
    expect(text.startsWith(kept)).toBe(true);
    expect(factsOf(examined, "model.failed")).toMatchObject([{ reason: "interrupted", began: true }]);
  });
});

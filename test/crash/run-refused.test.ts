import { expect, test } from "vitest";
import { repairSession, resolveOperation, resume } from "../../src/engine/index.ts";
import { errorTable, isHoldfastError } from "../../src/model/errors.ts";
import type { OperationState } from "../../src/model/operation.ts";
import {
  examine,
  expectCassettePlayedOnce,
  expectKept,
  expectSettledOnce,
  factsOf,
  type Examined,
} from "../engine/examine.ts";
import { begin, newWorld, turns } from "../engine/memory-story.ts";
import type { EngineWorld } from "./engine-world.ts";
import { changesDisk } from "./memory-disk.ts";

const codes = ["ENOSPC", "EIO", "EMFILE"];

/** Whether the world shows the effect of a call, by the name of its target. */
const shows: Record<string, (world: EngineWorld) => boolean> = {
  "new/file.txt": (world) => world.text("/project/new/file.txt") === "new\n",
  "letter.txt": (world) => world.text("/project/letter.txt") === "new\n",
  "counter.txt": (world) => world.text("/project/counter.txt") === "n+\n",
  "waste.txt": (world) => world.text("/project/waste.txt") === undefined,
};

/** The path of an operation that changes something. */
function targetOf({ state }: Examined, operation: OperationState): string | undefined {
  if (operation.effect === "pure") return undefined;
  for (const { message } of state.messages) {
    for (const part of message.parts) {
      if (part.type === "tool_call" && part.operation === operation.origin) {
        return String((part.args as { path?: unknown }).path);
      }
    }
  }
  throw new Error(`no call asked for ${operation.operation}`);
}

async function sayWhatIsSo(world: EngineWorld, session: string): Promise<void> {
  const examined = await examine(world.engine(), session);
  for (const one of examined.state.operations.values()) {
    if (one.at !== "unknown") continue;
    const happened = shows[targetOf(examined, one) ?? ""]?.(world) ?? false;
    const { run, operation } = one;
    const outcome = happened ? "ok" : "not_executed";
    await resolveOperation(world.engine(), { session, run, operation, outcome });
  }
}

/** Goes on once the disk works again; what it could not tell is told by a person. */
async function goOn(world: EngineWorld): Promise<string | undefined> {
  for (let round = 0; round < 6; round++) {
    const [session] = await world.engine().store.ids();
    if (session === undefined) {
      expect(world.begun).toEqual([]);
      await begin(world);
      continue;
    }
    try {
      const request = { selector: session, acceptRollback: false };
      const { ending } = await resume(world.engine(), request, world.observer());
      if (ending === "completed") return session;
      if (ending === "input_required") await sayWhatIsSo(world, session);
      if (ending !== "idle") continue;
      // A session is never there without its task, so what is idle has done it.
      expect((await examine(world.engine(), session)).state.runs.size).toBe(1);
      return session;
    } catch (error) {
      // Bytes that could not be taken back: only writing the file anew helps, or another boot.
      if (!isHoldfastError(error, "durability_unknown")) throw error;
      await repairSession(world.engine(), session);
    }
  }
  throw new Error("it did not come to an end");
}

/** What is on record is what is so, and nothing happened twice. */
async function expectTruth(world: EngineWorld, session: string): Promise<void> {
  const examined = await examine(world.engine(), session);
  expectKept(examined, world.told);
  expectSettledOnce(examined);
  expectCassettePlayedOnce(examined, turns.length);
  expect([...examined.state.runs.values()].map((run) => run.at)).toEqual(["completed"]);
  expect(["n\n", "n+\n"]).toContain(world.text("/project/counter.txt"));
  for (const origin of factsOf(examined, "op.asked").filter((fact) => fact.replaces === undefined)) {
    const last = [...examined.state.operations.values()].findLast((one) => one.origin === origin.operation);
    if (last === undefined || !("result" in last)) throw new Error(`${origin.operation} has no result`);
    const target = targetOf(examined, last);
    if (target === undefined) continue;
    expect(shows[target]?.(world), `${target}: ${JSON.stringify(last.result)}`).toBe(
      last.result.outcome === "ok",
    );
  }
}

/** Nobody is asked what only could not be looked into for want of space: a new file between its names aside. */
async function expectNoNewDoubt(world: EngineWorld, session: string): Promise<void> {
  const examined = await examine(world.engine(), session);
  for (const { operation } of factsOf(examined, "op.unknown")) {
    expect(examined.state.operations.get(operation)).toMatchObject({ evidence: { method: "create" } });
  }
}

/** Of how many deaths one is followed by a recovery that the disk refuses something, at each of its effects. */
const sample = 4;

test("a recovery that the disk refuses something comes to the same end when it is repeated", async () => {
  const start = newWorld();
  const deaths: EngineWorld[] = [];
  start.disk.gate = (effect) => {
    // In the midst of what the tools do, where there is most to find out.
    const isAmidst = effect.path.startsWith("/project") || effect.path.includes("/trash");
    if (changesDisk(effect) && isAmidst) deaths.push(start.killed());
    return undefined;
  };
  await begin(start);
  start.disk.gate = undefined;
  const failures: string[] = [];
  for (const death of deaths.filter((_, index) => index % sample === 0)) {
    const whole = death.killed();
    await goOn(whole);
    const points = whole.disk.effects.filter(changesDisk).map((effect) => effect.index);
    for (const [position, at] of points.entries()) {
      const code = codes[position % codes.length] ?? "EIO";
      const world = death.killed();
      world.disk.fault = (effect) => (effect.index === at && changesDisk(effect) ? { code } : undefined);
      try {
        await goOn(world).catch((error: unknown) => {
          if (!isHoldfastError(error) || errorTable[error.code].exit !== 7) throw error;
        });
        const after = world.killed();
        const session = await goOn(after);
        if (session === undefined) continue;
        await expectTruth(after, session);
        if (code !== "EIO") await expectNoNewDoubt(after, session);
      } catch (error) {
        failures.push(`${code} at ${at} ${JSON.stringify(world.disk.effects[at])}: ${String(error)}`);
      }
    }
  }
  expect(failures.slice(0, 12)).toEqual([]);
});

test("a disk that refuses something, once or from then on, costs nothing that was acknowledged", async () => {
  const whole = newWorld();
  await begin(whole);
  const points = whole.disk.effects.filter(changesDisk).map((effect) => effect.index);
  const failures: string[] = [];
  const endings: Record<string, number> = {};
  for (const [position, at] of points.entries()) {
    const code = codes[position % codes.length] ?? "EIO";
    for (const isLasting of [false, true]) {
      const world = newWorld();
      let name = "";
      world.disk.fault = (effect) => {
        if (!changesDisk(effect) || effect.index < at || (effect.index > at && !isLasting)) return undefined;
        if (effect.index === at) name = `${effect.verb} ${effect.path}`;
        return { code };
      };
      let ending = "none";
      try {
        await begin(world);
      } catch (error) {
        ending = isHoldfastError(error) ? error.code : String(error);
      }
      endings[ending] = (endings[ending] ?? 0) + 1;
      const after = world.killed();
      try {
        if (ending !== "none") expect(errorTable[ending as "disk_full"]?.exit, ending).toBe(7);
        const session = await goOn(after);
        if (session !== undefined) await expectTruth(after, session);
      } catch (error) {
        failures.push(`${code}${isLasting ? " lasting" : ""} at ${at} ${name} (${ending}): ${String(error)}`);
      }
    }
  }
  expect(Object.keys(endings).toSorted()).toEqual(["disk_full", "durability_unknown", "io_error", "none"]);
  expect(failures.slice(0, 12)).toEqual([]);
}, 300_000);

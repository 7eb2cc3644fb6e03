import { expect } from "vitest";
import {
  resolveOperation,
  resume,
  runTask,
  StopSwitch,
  type WorkControl,
  type WorkReport,
} from "../../src/engine/index.ts";
import { examine, expectCassettePlayedOnce, expectKept, expectSettledOnce } from "./examine.ts";
import type { Stop } from "../../src/model/stop.ts";
import { EngineWorld } from "../crash/engine-world.ts";
import { changesDisk, type Effect } from "../crash/memory-disk.ts";
import { MemoryClock } from "../crash/memory-host.ts";

/** A task that looks, writes, changes and deletes, on a machine in memory. */

/** What the model answers. */
export const turns = [
  {
    text: "I look.",
    calls: [
      { tool: "read", args: { path: "letter.txt" } },
      { tool: "grep", args: { pattern: "waste" } },
    ],
  },
  {
    calls: [
      { tool: "write", args: { path: "new/file.txt", content: "new\n" } },
      { tool: "write", args: { path: "letter.txt", content: "new\n" } },
      { tool: "edit", args: { path: "counter.txt", old: "n", new: "n+" } },
      { tool: "delete", args: { path: "waste.txt" } },
    ],
  },
  { text: "Done." },
];

/** The machine before the task. */
export function newWorld(clock = new MemoryClock()): EngineWorld {
  const world = new EngineWorld({ clock });
  world.disk.plant("/cassette.json", JSON.stringify({ cassette: 1, turns }));
  world.disk.plant("/project/letter.txt", "old\n");
  world.disk.plant("/project/counter.txt", "n\n");
  world.disk.plant("/project/waste.txt", "waste\n");
  world.disk.settle();
  return world;
}

/** Gives the task. */
export async function begin(world: EngineWorld, control: WorkControl = {}): Promise<WorkReport> {
  const { model, workspace } = EngineWorld;
  const request = { workspace, model, agent: "builtin", policy: {}, task: "Do it.", ...control };
  return await runTask(
    world.engine(),
    request,
    world.observer(),
    (session) => void world.begun.push(session),
  );
}

/** What a work came to that was told to stop. */
export interface Stopped {
  report: WorkReport;
  /** The change of the disk before which it was told; undefined where it was over before. */
  effect: Effect | undefined;
  /** The kinds of the facts that were committed from then on. */
  after: string[];
  /** Those of them with which something new begins. */
  begun: Set<string>;
}

const beginnings = ["run.started", "model.requested", "op.started", "approval.asked"];

/** Gives the task, and says `stop` before the n-th change of the disk; `each` is called before each change after that. */
export async function stopAt(
  world: EngineWorld,
  at: number,
  stop: Stop,
  each?: () => void,
): Promise<Stopped> {
  const stops = new StopSwitch();
  let changes = 0;
  let found: Effect | undefined;
  let told = Infinity;
  world.disk.gate = (effect) => {
    if (!changesDisk(effect)) return undefined;
    if (changes++ === at) {
      stops.request(stop);
      [found, told] = [effect, world.told.length];
    } else if (changes > at) each?.();
    return undefined;
  };
  const report = await begin(world, { stops });
  world.disk.gate = undefined;
  const after = world.told.slice(told).flatMap(({ facts }) => facts.map((fact) => fact.kind));
  return { report, effect: found, after, begun: new Set(after.filter((kind) => beginnings.includes(kind))) };
}

/** A clock by which graces last until somebody lets time pass. */
export const patient = () => new MemoryClock({ passesMsMax: 1000 });

/** Goes on with what is there until the run is over, as a person would. */
export async function goOn(world: EngineWorld): Promise<void> {
  for (let round = 0; round < 4; round++) {
    const [selector] = await world.engine().store.ids();
    if (selector === undefined) {
      // Nobody was told of a session, so there may be none.
      expect(world.begun).toEqual([]);
      await begin(world);
      return;
    }
    const report = await resume(world.engine(), { selector, acceptRollback: false }, world.observer());
    if (report.ending === "completed") return;
    if (report.ending === "input_required") await finishByHand(world, selector);
    else {
      expect(report.ending).toBe("idle");
      // A session is never there without its task, so what is idle has done it.
      expect((await examine(world.engine(), selector)).state.runs.size).toBe(1);
      return;
    }
  }
  throw new Error("it did not come to an end");
}

/** The one thing that cannot be proven is a new file between its two names: the person looks, and makes it. */
export async function finishByHand(world: EngineWorld, session: string): Promise<void> {
  const { state } = await examine(world.engine(), session);
  const open = [...state.operations.values()].filter((one) => one.at === "unknown");
  expect(open).toMatchObject([{ tool: "write", evidence: { method: "create" } }]);
  // Whoever wrote down what was done by hand may have died over it.
  if (world.text("/project/new/file.txt") === undefined) world.disk.plant("/project/new/file.txt", "new\n");
  for (const { run, operation } of open) {
    await resolveOperation(world.engine(), {
      session,
      run,
      operation,
      outcome: "ok",
      output: "made by hand",
    });
  }
}

/** That everything was done, once, and is on record so. */
export async function expectDoneOnce(world: EngineWorld): Promise<void> {
  const [session = ""] = await world.engine().store.ids();
  const files = world.disk.files().filter((path) => path.startsWith("/project/"));
  expect(files).toEqual(["/project/counter.txt", "/project/letter.txt", "/project/new/file.txt"]);
  expect(files.map((path) => world.text(path))).toEqual(["n+\n", "new\n", "new\n"]);
  const trash = world.disk.files().filter((path) => path.startsWith(`/state/sessions/${session}/trash/`));
  expect(trash.map((path) => world.text(path))).toEqual(["waste\n"]);
  const examined = await examine(world.engine(), session);
  expectKept(examined, world.told);
  expectSettledOnce(examined);
  expectCassettePlayedOnce(examined, turns.length);
  const { state, queue } = examined;
  expect([...state.runs.values()].map((run) => run.at)).toEqual(["completed"]);
  expect(state.messages.filter(({ message }) => message.role === "user")).toHaveLength(1);
  expect([...queue.deliveries.values()].map((delivery) => delivery.at)).toEqual(["acknowledged"]);
}

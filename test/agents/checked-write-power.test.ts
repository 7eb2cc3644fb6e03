import { describe, expect, test } from "vitest";
import { isDiskError, type Disk } from "../../src/host/index.ts";
import type { EffectResult, Proof, Tool, ToolRun } from "../../src/model/agent.ts";
import type { Evidence } from "../../src/model/facts.ts";
import type { Json } from "../../src/model/values.ts";
import { changesDisk, MemoryDisk, type Effect, type Fault } from "../crash/memory-disk.ts";
import { MemoryClock } from "../crash/memory-host.ts";
import { Death, dyingDisk, forward, type Done } from "./dying-disk.ts";
import { placeIn, runOf, toolNamed, type FileHost } from "./file-world.ts";

// What a power cut leaves: every subset of what was not synced. Known must mean on disk.

interface Scenario {
  readonly name: string;
  readonly tool: "write" | "edit" | "delete";
  readonly target: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly args: Json;
  /** Why the content is written in place: the staged file or its rename is refused. */
  readonly inPlace?: "closed" | "mount point";
  /** The trash is on another file system. */
  readonly farTrash?: boolean;
}

const old = "one\ntwo\nthree\n";
const fresh = "one\n2\nthree\nfour\n";
const write = {
  tool: "write",
  target: "file",
  before: old,
  after: fresh,
  args: { path: "file", content: fresh },
} as const;
const deep = {
  ...write,
  target: "a/b/file",
  args: { path: "a/b/file", content: fresh },
  before: undefined,
} as const;

const scenarios: Scenario[] = [
  { name: "write over a file", ...write },
  {
    name: "edit",
    ...write,
    tool: "edit",
    args: { path: "file", old: "two\nthree\n", new: "2\nthree\nfour\n" },
  },
  {
    name: "write of what the file holds already",
    ...write,
    after: old,
    args: { path: "file", content: old },
  },
  { name: "write of a new file", ...write, before: undefined },
  { name: "write of a new file in new directories", ...deep },
  { name: "write in a directory that takes no new file", ...write, inPlace: "closed" },
  { name: "write to a mount point", ...write, inPlace: "mount point" },
  {
    name: "delete into a trash on another file system",
    ...write,
    tool: "delete",
    after: undefined,
    args: { path: "file" },
    farTrash: true,
  },
  { name: "delete", ...write, tool: "delete", after: undefined, args: { path: "file" } },
];

interface World {
  readonly scenario: Scenario;
  readonly disk: MemoryDisk;
  readonly run: ToolRun;
  readonly path: string;
}

function makeWorld(scenario: Scenario): World {
  const disk = new MemoryDisk();
  disk.plant("/ws/other", "");
  disk.plant("/session/log", "");
  const path = `/ws/${scenario.target}`;
  if (scenario.before !== undefined) disk.plant(path, scenario.before);
  return { scenario, disk, run: runOf(placeIn("/"), scenario.args), path };
}

/** The tool on a disk as the scenario has it. */
function toolOn(scenario: Scenario, disk: Disk): Tool {
  const far: Disk = {
    ...forward(disk),
    stat: async (path) => {
      const stat = await disk.stat(path);
      return stat !== undefined && path.startsWith("/session") ? { ...stat, dev: "far" } : stat;
    },
  };
  const host: FileHost = { disk: scenario.farTrash === true ? far : disk, clock: new MemoryClock() };
  return toolNamed(host, scenario.tool);
}

/** The fault that a scenario has all the time. */
function standingFault({ inPlace }: Scenario, { verb, path, to }: Effect): Fault | undefined {
  if (inPlace === "closed" && verb === "create" && path.includes("/.holdfast-")) return { code: "EACCES" };
  return inPlace === "mount point" && verb === "rename" && to === "/ws/file" ? { code: "EBUSY" } : undefined;
}

async function prepare({ scenario, disk, run }: World): Promise<Evidence> {
  disk.fault = (effect) => standingFault(scenario, effect);
  const prepared = await toolOn(scenario, disk).prepare(run);
  if (!prepared.ready) throw new Error(prepared.result.output);
  return prepared.evidence;
}

function prove({ scenario, run }: World, evidence: Evidence, disk: Disk): Promise<Proof> {
  return toolOn(scenario, disk).prove(run, evidence);
}

function textOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}

/** The disk after every power cut that may happen now: each unsynced change kept or dropped, writes torn as well. */
function* powerCuts(disk: MemoryDisk): Generator<MemoryDisk> {
  const count = disk.unsynced().length;
  expect(count).toBeLessThan(8);
  for (let kept = 0; kept < 2 ** count; kept++) {
    yield disk.crash((_change, index) => ((kept >> index) & 1 ? "kept" : "dropped"));
    yield disk.crash((change, index) => {
      if (((kept >> index) & 1) === 0) return "dropped";
      return change.kind === "write" ? { torn: 3 } : "kept";
    });
  }
}

/** Runs `visit` for a death before and after each effect of perform, and for none. */
async function eachDeath(
  scenario: Scenario,
  visit: (
    world: World,
    evidence: Evidence,
    end: { done: readonly Done[]; result: EffectResult | undefined },
  ) => Promise<void>,
): Promise<void> {
  for (let at = 0, result: EffectResult | undefined; result === undefined; at++) {
    for (const when of ["before", "after"] as const) {
      const world = makeWorld(scenario);
      const evidence = await prepare(world);
      const dying = dyingDisk(world.disk, { at, when });
      try {
        result = await toolOn(scenario, dying.disk).perform(world.run, evidence);
      } catch (error) {
        if (!(error instanceof Death)) throw error;
      }
      await visit(world, evidence, { done: dying.done, result });
      if (result !== undefined) break;
    }
  }
}

const mayBeVague = (scenario: Scenario, done: readonly Done[]): boolean =>
  scenario.inPlace !== undefined || done.some((step) => step.to?.endsWith(".go") === true);

describe.each(scenarios)("$name", (scenario) => {
  test("what was prepared survives a power cut, and the target is as it was", async () => {
    const world = makeWorld(scenario);
    const evidence = await prepare(world);
    for (const cut of powerCuts(world.disk)) {
      expect(textOf(cut.peek(world.path))).toBe(scenario.before);
      if (evidence.class === "checked" && evidence.staged !== undefined) {
        const waits = scenario.tool === "delete" ? scenario.before : scenario.after;
        expect(textOf(cut.peek(evidence.staged.path))).toBe(waits);
      }
    }
  });

  test("a result that was told is on disk after any power cut", async () => {
    const world = makeWorld(scenario);
    const evidence = await prepare(world);
    const result = await toolOn(scenario, world.disk).perform(world.run, evidence);
    expect(result.outcome).toBe("ok");
    for (const cut of powerCuts(world.disk)) {
      expect(textOf(cut.peek(world.path))).toBe(scenario.after);
      // Nor does anything come back that was put aside for it.
      expect(cut.files().filter((path) => path.includes("/.holdfast-"))).toEqual([]);
      if (scenario.tool !== "delete") continue;
      expect(textOf(cut.peek(`/session/trash/${world.run.place.operation}`))).toBe(scenario.before);
    }
  });

  test("after a power cut at any effect the proof is what is on disk, and stays so over the next one", async () => {
    await eachDeath(scenario, async (world, evidence, { done }) => {
      for (const cut of powerCuts(world.disk)) {
        const found = textOf(cut.peek(world.path));
        const proof = await prove(world, evidence, cut);
        const at = `${done.map((step) => step.verb).join(" ")} → ${JSON.stringify(proof)}`;
        expect(textOf(cut.peek(world.path)), at).toBe(found);
        if (proof.proven === "known") expect(textOf(cut.crash().peek(world.path)), at).toBe(scenario.after);
        if (proof.proven === "not_executed") expect(found, at).toBe(scenario.before);
        if (proof.proven === "unknown") expect(mayBeVague(scenario, done), at).toBe(true);
        for (const next of powerCuts(cut)) {
          expect((await prove(world, evidence, next)).proven, at).toBe(proof.proven);
        }
      }
    });
  });

  test("a revert after the power cut never makes of what happened something that did not", async () => {
    await eachDeath(scenario, async (world, evidence) => {
      for (const cut of powerCuts(world.disk)) {
        if (textOf(cut.peek(world.path)) === scenario.before) continue;
        if (cut.peek(world.path) !== undefined) await cut.remove(world.path);
        cut.settle();
        if (scenario.before !== undefined) cut.plant(world.path, scenario.before);
        const proof = await prove(world, evidence, cut);
        expect(proof.proven, JSON.stringify(proof)).not.toBe("not_executed");
      }
    });
  });

  test("after a kill at any effect the proof is on disk before it is told", async () => {
    await eachDeath(scenario, async (world, evidence, { done }) => {
      const killed = world.disk.kill();
      const proof = await prove(world, evidence, killed);
      const at = `${done.map((step) => step.verb).join(" ")} → ${JSON.stringify(proof)}`;
      for (const cut of powerCuts(killed)) {
        if (proof.proven === "known") expect(textOf(cut.peek(world.path)), at).toBe(scenario.after);
        if (proof.proven !== "not_executed") continue;
        expect(textOf(cut.peek(world.path)), at).toBe(scenario.before);
        expect((await prove(world, evidence, cut)).proven, at).toBe("not_executed");
      }
    });
  });

  test.each(["EIO", "ENOSPC", "EACCES", "EROFS"])(
    "%s at any effect ends in a result that is true, or in none and a proof that is",
    async (code) => {
      for (const lasts of [false, true]) {
        for (let at = 0, isOver = false; !isOver; at++) isOver = await failAt(scenario, { at, code, lasts });
      }
    },
  );
});

/** One operation whose `at`-th effect fails; true where there are fewer. */
async function failAt(
  scenario: Scenario,
  fault: { at: number; code: string; lasts: boolean },
): Promise<boolean> {
  const world = makeWorld(scenario);
  let changes = 0;
  world.disk.fault = (effect) => {
    const refused = standingFault(scenario, effect);
    if (refused !== undefined || !changesDisk(effect)) return refused;
    const index = changes++;
    return index === fault.at || (fault.lasts && index > fault.at) ? { code: fault.code } : undefined;
  };
  const tool = toolOn(scenario, world.disk);
  const prepared = await tool.prepare(world.run);
  if (!prepared.ready) {
    expect(prepared.result.outcome).toBe("error");
    expect(textOf(world.disk.peek(world.path))).toBe(scenario.before);
    if (!fault.lasts) expect(world.disk.files().filter((path) => path.includes(".holdfast-"))).toEqual([]);
    return changes <= fault.at;
  }
  let result: EffectResult | undefined;
  try {
    result = await tool.perform(world.run, prepared.evidence);
  } catch (error) {
    if (!isDiskError(error)) throw error;
  }
  const wasReached = changes > fault.at;
  world.disk.fault = undefined;
  const now = textOf(world.disk.peek(world.path));
  if (result?.outcome === "ok") {
    for (const cut of powerCuts(world.disk)) expect(textOf(cut.peek(world.path))).toBe(scenario.after);
  } else if (result !== undefined) {
    expect(result.outcome).toBe("error");
    expect(now).toBe(scenario.before);
  } else {
    const proof = await prove(world, prepared.evidence, world.disk.kill());
    if (proof.proven === "known") expect(now).toBe(scenario.after);
    if (proof.proven === "not_executed") expect(now).toBe(scenario.before);
  }
  return !wasReached;
}

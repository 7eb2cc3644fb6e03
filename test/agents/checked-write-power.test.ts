import { describe, expect, test } from "vitest";
import { isDiskError, type Disk } from "../../src/host/index.ts";
import type { EffectResult, Proof, ToolRun } from "../../src/model/agent.ts";
import type { Evidence } from "../../src/model/facts.ts";
import type { Json } from "../../src/model/values.ts";
import { changesDisk, MemoryDisk, type Effect } from "../crash/memory-disk.ts";
import { MemoryClock } from "../crash/memory-host.ts";
import { Death, dyingDisk, type Done } from "./dying-disk.ts";
import { placeIn, prepareReady, runOf, toolNamed, type FileHost } from "./file-world.ts";

// What a power cut leaves: every subset of what was not synced. Known must mean on disk.

interface Scenario {
  readonly name: string;
  readonly tool: "write" | "edit" | "delete";
  readonly target: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly args: Json;
  /** Refuses the staged file, so that the content is written in place. */
  readonly inPlace?: boolean;
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
  { name: "write in place", ...write, inPlace: true },
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

function hostOn(disk: Disk): FileHost {
  return { disk, clock: new MemoryClock() };
}

const refuseStaging = ({ verb, path }: Effect) =>
  verb === "create" && path.includes("/.holdfast-") ? { code: "EACCES" } : undefined;

async function prepare({ scenario, disk, run }: World): Promise<Evidence> {
  if (scenario.inPlace === true) disk.fault = refuseStaging;
  const evidence = await prepareReady(hostOn(disk), scenario.tool, run);
  disk.fault = undefined;
  return evidence;
}

function prove({ scenario, run }: World, evidence: Evidence, disk: Disk): Promise<Proof> {
  return toolNamed(hostOn(disk), scenario.tool).prove(run, evidence);
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
        result = await toolNamed(hostOn(dying.disk), scenario.tool).perform(world.run, evidence);
      } catch (error) {
        if (!(error instanceof Death)) throw error;
      }
      await visit(world, evidence, { done: dying.done, result });
      if (result !== undefined) break;
    }
  }
}

const mayBeVague = (scenario: Scenario, done: readonly Done[]): boolean =>
  scenario.inPlace === true || done.some((step) => step.to?.endsWith(".go") === true);

describe.each(scenarios)("$name", (scenario) => {
  test("what was prepared survives a power cut, and the target is as it was", async () => {
    const world = makeWorld(scenario);
    const evidence = await prepare(world);
    for (const cut of powerCuts(world.disk)) {
      expect(textOf(cut.peek(world.path))).toBe(scenario.before);
      if (evidence.class === "checked" && evidence.staged !== undefined) {
        expect(textOf(cut.peek(evidence.staged.path))).toBe(scenario.after);
      }
    }
  });

  test("a result that was told is on disk after any power cut", async () => {
    const world = makeWorld(scenario);
    const evidence = await prepare(world);
    const result = await toolNamed(hostOn(world.disk), scenario.tool).perform(world.run, evidence);
    expect(result.outcome).toBe("ok");
    for (const cut of powerCuts(world.disk)) expect(textOf(cut.peek(world.path))).toBe(scenario.after);
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
    const refused = scenario.inPlace === true ? refuseStaging(effect) : undefined;
    if (refused !== undefined || !changesDisk(effect)) return refused;
    const index = changes++;
    return index === fault.at || (fault.lasts && index > fault.at) ? { code: fault.code } : undefined;
  };
  const tool = toolNamed(hostOn(world.disk), scenario.tool);
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

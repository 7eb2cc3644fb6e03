import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { DiskError, nodeHost, type Disk } from "../../src/host/index.ts";
import type { OperationPlace, Proof, ToolRun } from "../../src/model/agent.ts";
import type { Evidence } from "../../src/model/facts.ts";
import type { Json } from "../../src/model/values.ts";
import { Death, dyingDisk, type Done } from "./dying-disk.ts";
import { execute, placeIn, prepareReady, runOf, toolNamed, type FileHost } from "./file-world.ts";

// Every death at every effect, then a person who meddles, then the proof: compared with what really happened.

const host: FileHost = nodeHost();
const roots: string[] = [];
afterAll(() => roots.forEach((root) => rmSync(root, { recursive: true, force: true })));

interface Scenario {
  readonly name: string;
  readonly tool: "write" | "edit" | "delete";
  readonly target: string;
  /** Content of the target before and after the effect; undefined where there is none. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly args: Json;
  /** Faults that the disk has all the time. */
  readonly disk?: (disk: Disk) => Disk;
  /** A trash on another file system. */
  readonly farTrash?: boolean;
  /** The target is a link to this. */
  readonly link?: string;
  /** Where a death in the middle leaves no proof that nothing happened. */
  readonly isVague?: (done: readonly Done[]) => boolean;
}

/** Refuses some renames and creations, as a mount point or a closed directory does. */
function refusing(
  code: string,
  verb: "rename" | "create" | "link",
  hits: (path: string, to: string) => boolean,
) {
  return (disk: Disk): Disk => ({
    ...disk,
    open: async (path, mode, permissions) => {
      if (verb === "create" && mode === "create" && hits(path, path)) throw new DiskError(code, verb, path);
      return await disk.open(path, mode, permissions);
    },
    rename: async (from, to) => {
      if (verb === "rename" && hits(from, to)) throw new DiskError(code, verb, from);
      await disk.rename(from, to);
    },
    link: async (from, to) => {
      if (verb === "link" && hits(from, to)) throw new DiskError(code, verb, from);
      await disk.link(from, to);
    },
  });
}

const isClaimed = (done: readonly Done[]): boolean => done.some((step) => step.to?.endsWith(".go") === true);
const isStagedGone = (done: readonly Done[]): boolean =>
  done.some((step) => step.verb === "remove" && basename(step.path).startsWith(".holdfast-"));

const old = "one\ntwo\nthree\n";
const fresh = "one\n2\nthree\n";
const write = {
  tool: "write",
  target: "file",
  before: old,
  after: fresh,
  args: { path: "file", content: fresh },
} as const;
const remove = {
  tool: "delete",
  target: "file",
  before: old,
  after: undefined,
  args: { path: "file" },
} as const;

const scenarios: Scenario[] = [
  { name: "write over a file", ...write },
  { name: "edit of a file", ...write, tool: "edit", args: { path: "file", old: "two", new: "2" } },
  {
    name: "write of what the file holds already",
    ...write,
    after: old,
    args: { path: "file", content: old },
  },
  { name: "write of a new file", ...write, before: undefined, isVague: isClaimed },
  {
    name: "write of a new file in new directories",
    ...write,
    target: "a/b/file",
    args: { path: "a/b/file", content: fresh },
    before: undefined,
    isVague: isClaimed,
  },
  {
    name: "write of a new file where there are no hard links",
    ...write,
    before: undefined,
    disk: refusing("EPERM", "link", () => true),
    isVague: isClaimed,
  },
  {
    name: "write in a directory that takes no new file",
    ...write,
    disk: refusing("EACCES", "create", (path) => basename(path).startsWith(".holdfast-")),
    isVague: () => true,
  },
  {
    name: "write to a mount point",
    ...write,
    disk: refusing("EBUSY", "rename", (_, to) => basename(to) === "file"),
    isVague: isStagedGone,
  },
  { name: "delete", ...remove },
  { name: "delete into a trash on another file system", ...remove, farTrash: true },
  {
    name: "delete between two mounts of one file system",
    ...remove,
    disk: refusing("EXDEV", "rename", (from) => basename(from) === "file"),
  },
  { name: "delete of a link", ...remove, before: "(link)", link: "elsewhere" },
  {
    name: "delete of a link into a trash on another file system",
    ...remove,
    before: "(link)",
    link: "elsewhere",
    farTrash: true,
  },
];

/** What somebody does between the death and the resume. */
const meddling: Record<string, (world: World) => void> = {
  nothing: () => undefined,
  "a revert": ({ path, scenario }) => {
    rmSync(path, { force: true });
    if (scenario.before !== undefined) writeFileSync(path, scenario.before);
  },
  "another edit": ({ path }) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "theirs\n");
  },
  "the same edit": ({ path, scenario }) => {
    rmSync(path, { force: true });
    mkdirSync(dirname(path), { recursive: true });
    if (scenario.after !== undefined) writeFileSync(path, scenario.after);
  },
  "git clean": ({ place, path, scenario }) => {
    for (const staged of stagedIn(place.workspace)) rmSync(staged);
    if (scenario.before === undefined) rmSync(path, { force: true });
  },
};

interface World {
  readonly scenario: Scenario;
  readonly place: OperationPlace;
  /** The target. */
  readonly path: string;
  readonly run: ToolRun;
  readonly wrap: (disk: Disk) => Disk;
}

function makeWorld(scenario: Scenario): World {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-death-")));
  roots.push(root);
  const near = placeIn(root);
  mkdirSync(near.workspace);
  const farRoot = scenario.farTrash === true ? mkdtempSync("/dev/shm/holdfast-death-") : root;
  roots.push(farRoot);
  const place = { ...near, trash: join(farRoot, "session/trash") };
  const path = join(place.workspace, scenario.target);
  if (scenario.link !== undefined) symlinkSync(scenario.link, path);
  else if (scenario.before !== undefined) writeFileSync(path, scenario.before);
  return { scenario, place, path, run: runOf(place, scenario.args), wrap: scenario.disk ?? ((disk) => disk) };
}

function stagedIn(workspace: string): string[] {
  return readdirSync(workspace, { recursive: true, encoding: "utf8" })
    .filter((name) => basename(name).startsWith(".holdfast-"))
    .map((name) => join(workspace, name));
}

function contentOf(path: string): string | undefined {
  if (!existsSync(path) && lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  return lstatSync(path).isSymbolicLink() ? "(link)" : readFileSync(path, "utf8");
}

/** Whether the effect took place: by the effects that happened, not by what the tools think. */
function hasHappened({ path, scenario }: World, done: readonly Done[]): boolean {
  const hitsTarget = (step: Done): boolean =>
    scenario.tool === "delete"
      ? step.path === path && (step.verb === "rename" || step.verb === "remove")
      : step.to === path;
  const inPlace = done.some((step) => step.path === path && step.verb === "truncate");
  return done.some(hitsTarget) || inPlace;
}

/** Lets `work` die at one effect after the other, and at last not at all. */
async function eachDeath(
  work: (death: { at: number; when: "before" | "after" } | undefined) => Promise<boolean>,
) {
  for (let at = 0; ; at++) {
    for (const when of ["before", "after"] as const) {
      const died = await work({ at, when });
      if (!died && when === "before") return;
    }
  }
}

async function diesIn(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return false;
  } catch (error) {
    if (error instanceof Death) return true;
    throw error;
  }
}

interface Dead {
  readonly world: World;
  readonly evidence: Evidence;
  readonly done: readonly Done[];
  readonly died: boolean;
}

async function dieInPerform(scenario: Scenario, death: Parameters<typeof dyingDisk>[1]): Promise<Dead> {
  const world = makeWorld(scenario);
  const evidence = await prepareReady({ ...host, disk: world.wrap(host.disk) }, scenario.tool, world.run);
  const dying = dyingDisk(world.wrap(host.disk), death);
  const tool = toolNamed({ ...host, disk: dying.disk }, scenario.tool);
  const died = await diesIn(() => tool.perform(world.run, evidence));
  return { world, evidence, done: dying.done, died };
}

function prove({ world, evidence }: Dead, disk: Disk = world.wrap(host.disk)): Promise<Proof> {
  return toolNamed({ ...host, disk }, world.scenario.tool).prove(world.run, evidence);
}

function checkProof(dead: Dead, proof: Proof, meddled: string, found: string | undefined): void {
  const { world, done } = dead;
  const { scenario } = world;
  const happened = hasHappened(world, done);
  const at = `${done.map((step) => step.verb).join(" ")} | ${meddled} | happened ${happened} → ${JSON.stringify(proof)}`;
  expect(contentOf(world.path), at).toBe(found);
  if (proof.proven === "known") expect(happened || found === scenario.after, at).toBe(true);
  if (proof.proven === "not_executed") expect(happened, at).toBe(false);
  if (meddled === "nothing") {
    const expected = happened || scenario.before === scenario.after ? "known" : "not_executed";
    const isVague = expected === "not_executed" && scenario.isVague?.(done) === true;
    expect(proof.proven, at).toBe(isVague ? "unknown" : expected);
  }
  // Nobody can tell their edit of the old file from one of a file put back.
  if (scenario.tool === "delete" && meddled === "another edit" && !happened && scenario.link === undefined) {
    expect(proof.proven, at).toBe("unknown");
  }
  if (meddled === "the same edit") expect(proof.proven, at).toBe("known");
}

describe.each(scenarios)("$name", (scenario) => {
  test.each(Object.entries(meddling))(
    "after a death anywhere and %s the proof is what happened, or unknown",
    async (meddled, meddle) => {
      await eachDeath(async (death) => {
        const dead = await dieInPerform(scenario, death);
        meddle(dead.world);
        const found = contentOf(dead.world.path);
        const proof = await prove(dead);
        checkProof(dead, proof, meddled, found);
        const { tool } = scenario;
        await toolNamed(host, tool).cleanUp(dead.world.place, dead.evidence, dead.world.run.args);
        expect(stagedIn(dead.world.place.workspace)).toEqual([]);
        expect(contentOf(dead.world.path)).toBe(found);
        if (proof.proven !== "not_executed") return dead.died;
        expect(contentOf(dead.world.path) === scenario.before || meddled !== "nothing").toBe(true);
        if (meddled === "nothing") {
          const again = { ...dead.world.place, operation: placeIn("/").operation };
          const result = await execute(host, tool, runOf(again, scenario.args));
          expect(result.outcome).toBe("ok");
          expect(contentOf(dead.world.path)).toBe(scenario.after);
        }
        return dead.died;
      });
    },
  );

  test("a recovery that dies anywhere comes to the same end when it is repeated", async () => {
    await eachDeath(async (death) => {
      const { proven } = await prove(await dieInPerform(scenario, death));
      await eachDeath(async (second) => {
        const dead = await dieInPerform(scenario, death);
        const dying = dyingDisk(dead.world.wrap(host.disk), second);
        const died = await diesIn(() => prove(dead, dying.disk));
        expect((await prove(dead)).proven).toBe(proven);
        return died;
      });
      const { died } = await dieInPerform(scenario, death);
      return died;
    });
  });

  test("a death in the preparation leaves nothing that clean-up does not find, and the target as it was", async () => {
    await eachDeath(async (death) => {
      const world = makeWorld(scenario);
      const found = contentOf(world.path);
      const dying = dyingDisk(world.wrap(host.disk), death);
      const tool = toolNamed({ ...host, disk: dying.disk }, scenario.tool);
      const died = await diesIn(() => tool.prepare(world.run));
      expect(contentOf(world.path)).toBe(found);
      await toolNamed(host, scenario.tool).cleanUp(world.place, undefined, world.run.args);
      expect(stagedIn(world.place.workspace)).toEqual([]);
      const trashed = existsSync(world.place.trash) ? readdirSync(world.place.trash) : [];
      // Of a link only a note was made, which may stay: nothing tells whose it is.
      if (scenario.link === undefined) expect(trashed).toEqual([]);
      return died;
    });
  });
});

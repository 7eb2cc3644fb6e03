import { expect, test } from "vitest";
import { resume, runTask } from "../../src/engine/index.ts";
import { isHoldfastError } from "../../src/model/errors.ts";
import type { Commit } from "../../src/model/commit.ts";
import type { Fact } from "../../src/model/facts.ts";
import { readWhole } from "./campaign/whole-session.ts";
import { EngineWorld } from "./engine-world.ts";
import { changesMachine } from "./process-verb.ts";
import { Witness } from "./witness.ts";

/** A machine on which a run says something, writes a file, runs a command, and then ends. */
function newWorld(): EngineWorld {
  const world = new EngineWorld({ commands: true });
  const calls = [
    { tool: "write", args: { path: "made.txt", content: "made\n" } },
    { tool: "exec", args: { command: `append one ${Witness.path}; say one` } },
  ];
  const turns = [{ text: "I work now.", calls }, { text: "Done." }];
  world.disk.plant("/cassette.json", JSON.stringify({ cassette: 1, turns }));
  world.disk.plant("/project/readme.txt", "read me\n");
  world.witness.set();
  world.disk.settle();
  return world;
}

async function run(world: EngineWorld, signal?: AbortController): Promise<unknown> {
  const { model, workspace } = EngineWorld;
  const control = signal === undefined ? {} : { signal: signal.signal };
  const request = {
    workspace,
    model,
    agent: "builtin",
    policy: { allowShell: true },
    task: "Do it.",
    ...control,
  };
  const observer = world.observer();
  const commit = (line: Parameters<typeof observer.commit>[0]) => {
    if (line.facts.some(({ kind }) => kind === "op.started")) signal?.abort();
    return observer.commit(line);
  };
  return await world.within(runTask(world.engine(), request, { ...observer, commit }, () => undefined));
}

/** The machine before each change of the run. */
async function momentsOf(): Promise<EngineWorld[]> {
  const world = newWorld();
  const moments: EngineWorld[] = [];
  world.disk.gate = (effect) => {
    if (changesMachine(effect)) moments.push(world.killed());
    return undefined;
  };
  await run(world);
  world.disk.gate = undefined;
  world.end();
  return moments;
}

/** A file of the command's folder, as text; nothing where it is not there. */
function fileOf(world: EngineWorld, name: string): string {
  const path = world.disk.files().find((one) => one.includes("/spool/") && one.endsWith(name));
  return Buffer.from((path === undefined ? undefined : world.disk.peek(path)) ?? "").toString();
}

/** True where a supervisor has put the end of the command on record. */
function hasEnd(world: EngineWorld): boolean {
  return fileOf(world, "/status").includes('"end"');
}

async function goOn(world: EngineWorld, session: string): Promise<Awaited<ReturnType<typeof resume>>> {
  const request = { selector: session, acceptRollback: false };
  return await world.within(resume(world.engine(), request, world.observer()));
}

/** A part of an answer is kept as one that was cut only while that answer is awaited. */
function expectNoneTwice(facts: readonly Fact[]): void {
  let isAwaited = false;
  for (const fact of facts) {
    if (fact.kind === "model.requested") isAwaited = true;
    if (fact.kind === "message" && fact.interrupted === true) expect(isAwaited).toBe(true);
    if (fact.kind === "model.answered" || fact.kind === "model.failed") isAwaited = false;
  }
}

/** What must not come apart is one line: results and their settling, a task and its run. */
function expectTogether(commits: readonly Pick<Commit, "facts">[]): void {
  for (const { facts } of commits) {
    const [first] = facts;
    const kinds = facts.map(({ kind }) => kind);
    if (kinds.includes("op.settled")) expect(first).toMatchObject({ kind: "message", role: "tool" });
    if (kinds.includes("run.created")) expect(first).toMatchObject({ kind: "message", role: "user" });
  }
}

test("wherever a run dies its effects were on record before, an end that was seen stays known, and no answer is kept twice", async () => {
  const moments = await momentsOf();
  let isSeen = false;
  for (const moment of moments) {
    const engine = moment.engine();
    const [session] = await engine.store.ids();
    if (session === undefined) continue;
    const before = await readWhole(moment.killed().engine(), session).catch(() => undefined);
    const started = [...(before?.state.operations.values() ?? [])].filter(({ at }) => at !== "asked");
    if (moment.text("/project/made.txt") !== undefined)
      expect(started.map(({ tool }) => tool)).toContain("write");
    if (moment.witness.count("one") > 0) expect(started.map(({ tool }) => tool)).toContain("exec");
    isSeen ||= hasEnd(moment);
    const cut = moment.crashed();
    if (hasEnd(cut)) expect(fileOf(cut, "/output")).toBe("one\n");
    if (started.some(({ tool, at }) => tool === "exec" && at === "started") && fileOf(cut, "/claim") === "")
      expect((await goOn(cut, session)).ending).toBe("completed");
    cut.end();
    const { ending } = await goOn(moment, session);
    if (isSeen) expect(["completed", "idle"]).toContain(ending);
    const { commits } = await readWhole(engine, session);
    expectTogether(commits);
    expectNoneTwice(commits.flatMap(({ facts }) => facts as Fact[]));
    moment.end();
  }
  expect(isSeen).toBe(true);
});

test("a process that is told to leave when an operation is on record as started does not start it any more", async () => {
  const world = newWorld();
  const leaving = new AbortController();
  const error: unknown = await run(world, leaving).catch((reason: unknown) => reason);
  expect(isHoldfastError(error, "interrupted")).toBe(true);
  expect(world.text("/project/made.txt")).toBeUndefined();
  world.end();
});

test("the list shows of a run what became of it, and nothing that was before", async () => {
  const world = newWorld();
  await run(world);
  const { store } = world.engine();
  const [session = ""] = await store.ids();
  expect(await store.lastRow(session)).toMatchObject({ row: { state: "completed" } });
  world.end();
});

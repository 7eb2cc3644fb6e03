import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { HoldfastError } from "../../src/model/errors.ts";
import type { Evidence } from "../../src/model/facts.ts";
import type { SupervisorPeerOptions } from "../peers/exec-supervisor.ts";
import {
  claimOf,
  makeCall,
  makeScene,
  prepare,
  readEvidence,
  readText,
  runsIn,
  startWorker,
  supervisorPeer,
  supervisorProgram,
  until,
  workerPeer,
  type Call,
  type Scene,
} from "./exec-kit.ts";

// Worker, supervisor and recovery are killed before each of their effects in turn. Whatever is left, the command ran at
// most once, and what is said of it is true.

let supervisorPath: string;
let workerPath: string;

beforeAll(async () => {
  [supervisorPath, workerPath] = await Promise.all([supervisorPeer(), workerPeer()]);
});

interface Story {
  readonly scene: Scene;
  readonly call: Call;
  readonly witness: string;
  readonly record: string;
}

function begin(): Story {
  const scene = makeScene(supervisorPath);
  const witness = join(scene.folder, "witness");
  const call = makeCall(scene.place(), { command: `echo run >> ${witness}; echo done` });
  return { scene, call, witness, record: join(scene.folder, "record") };
}

/** Runs a worker process to its end or death: the first one performs, later ones prove. */
async function work(
  { scene, call, record }: Story,
  dieAt: number,
  supervisor: SupervisorPeerOptions = {},
): Promise<boolean> {
  const file = join(scene.folder, `worker-died-${dieAt}`);
  const worker = startWorker(workerPath, {
    place: call.place,
    args: call.args,
    runtime: scene.runtime,
    supervisorArgs: supervisorProgram(supervisorPath, { lingerMs: 60, ...supervisor }).args,
    record,
    die: { at: dieAt, file },
  });
  await worker.ended;
  return existsSync(file);
}

/** Performs in this process, which never dies. */
async function workOn({ scene, call, record }: Story, supervisor: SupervisorPeerOptions = {}): Promise<void> {
  const tool = scene.tool({ supervisor: { lingerMs: 60, ...supervisor } });
  const evidence = await prepare(tool, call);
  writeFileSync(record, JSON.stringify(evidence));
  await tool.perform(call, evidence).catch((error: unknown) => expect(error).toBeInstanceOf(HoldfastError));
}

function dying({ scene }: Story, at: number): SupervisorPeerOptions {
  return { die: { at, file: join(scene.folder, "supervisor-died") } };
}

function supervisorDied({ scene }: Story): boolean {
  return existsSync(join(scene.folder, "supervisor-died"));
}

/** What is said of the command is true, stays so, and the command ran at most once. */
async function examine(story: Story): Promise<string> {
  const { scene, call, witness, record } = story;
  const evidence = readEvidence(record) as Evidence;
  const tool = scene.tool();
  const proof = await tool.prove(call, evidence);
  await scene.supervisorsEnd();
  const runs = runsIn(witness);
  expect(runs).toBeLessThanOrEqual(1);
  if (proof.proven === "known") {
    expect(proof.result).toMatchObject({ outcome: "ok", output: "done\n" });
    expect(runs).toBe(1);
  } else if (proof.proven === "not_executed") {
    expect(runs).toBe(0);
  } else {
    // Nothing is called unknown that could be known: a supervisor claimed it, and left no valid end.
    expect(claimOf(call.place)?.kind).toBe("start");
    expect(readText(join(call.place.spool, "status")).trim()).toBe("");
  }
  expect((await tool.prove(call, evidence)).proven).toBe(proof.proven);
  scene.end();
  return proof.proven;
}

/** Tells stories with a death at 1, 2, … until one is told without; several at once. Counts the answers. */
async function untilNobodyDies(tell: (at: number) => Promise<{ died: boolean; proven: string }>) {
  const said: Record<string, number> = {};
  const width = 3;
  for (let first = 1; ; first += width) {
    const told = await Promise.all(Array.from({ length: width }, (_, index) => tell(first + index)));
    for (const { proven } of told) said[proven] = (said[proven] ?? 0) + 1;
    if (told.some(({ died }) => !died)) return said;
  }
}

describe("a death at any step", () => {
  test("of the worker loses nothing: its supervisor ends the command and the next worker knows", async () => {
    const said = await untilNobodyDies(async (at) => {
      const story = begin();
      const died = await work(story, at);
      return { died, proven: await examine(story) };
    });
    expect(said).toEqual({ not_executed: expect.any(Number), known: expect.any(Number) });
  });

  test("of the supervisor leaves a true answer, and a worker that lives has a command started once", async () => {
    const said = await untilNobodyDies(async (at) => {
      const story = begin();
      await workOn(story, dying(story, at));
      await story.scene.supervisorsEnd();
      return { died: supervisorDied(story), proven: await examine(story) };
    });
    expect(said).toEqual({ known: expect.any(Number), unknown: expect.any(Number) });
  });

  test("of both leaves a true answer", async () => {
    const pairs = Array.from(
      { length: 15 },
      (_, index) => [2 + ((index * 5) % 24), 2 + ((index * 7) % 26)] as const,
    );
    for (let first = 0; first < pairs.length; first += 3) {
      await Promise.all(
        pairs.slice(first, first + 3).map(async ([supervisorAt, workerAt]) => {
          const story = begin();
          await work(story, workerAt, dying(story, supervisorAt));
          await examine(story);
        }),
      );
    }
  });
});

describe("a death of the recovery at any step, and a second recovery", () => {
  const states: [string, string, (story: Story) => Promise<void>][] = [
    [
      "a start on record",
      "not_executed",
      async ({ scene, call, record }) =>
        writeFileSync(record, JSON.stringify(await prepare(scene.tool(), call))),
    ],
    ["an end on record", "known", (story) => workOn(story)],
    [
      "a claim whose supervisor died",
      "unknown",
      async (story) => {
        const file = join(story.scene.folder, "hold");
        // Between claim and start.
        const working = workOn(story, { hold: { effect: "disk.syncDirectory", nth: 1, file } });
        await until(() => existsSync(`${file}.waiting`));
        for (const pid of story.scene.supervisors()) process.kill(pid, "SIGKILL");
        await working;
      },
    ],
  ];

  test.each(states)("of %s end in the same place: %s", async (_name, proven, arrange) => {
    const said = await untilNobodyDies(async (at) => {
      const story = begin();
      await arrange(story);
      const died = await work(story, at);
      return { died, proven: await examine(story) };
    });
    expect(Object.keys(said)).toEqual([proven]);
  });
});

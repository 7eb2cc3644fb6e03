import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { HoldfastError } from "../../src/model/errors.ts";
import type { Evidence } from "../../src/model/facts.ts";
import type { Json, Outcome } from "../../src/model/values.ts";
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
  workerPeer,
  type Call,
  type Scene,
} from "./exec-kit.ts";

// Stories of one command in which somebody dies or something fails. Whatever is left, the command ran at most once, and
// what is said of it is true.

export interface Story {
  readonly scene: Scene;
  readonly call: Call;
  readonly witness: string;
  readonly record: string;
}

export async function begin(): Promise<Story> {
  const scene = makeScene(await supervisorPeer());
  const witness = join(scene.folder, "witness");
  const call = makeCall(scene.place(), { command: `echo run >> ${witness}; echo done` });
  return { scene, call, witness, record: join(scene.folder, "record") };
}

/** Runs a worker process to its end or death: the first one performs, later ones prove. */
export async function work(
  { scene, call, record }: Story,
  dieAt: number,
  supervisor: SupervisorPeerOptions = {},
): Promise<boolean> {
  const file = join(scene.folder, `worker-died-${dieAt}`);
  const worker = startWorker(await workerPeer(), {
    place: call.place,
    args: call.args,
    runtime: scene.runtime,
    supervisorArgs: supervisorProgram(await supervisorPeer(), { lingerMs: 60, ...supervisor }).args,
    record,
    die: { at: dieAt, file },
  });
  await worker.ended;
  return existsSync(file);
}

/** Performs in this process, which never dies. */
export async function workOn(
  { scene, call, record }: Story,
  supervisor: SupervisorPeerOptions = {},
): Promise<Outcome | undefined> {
  const tool = scene.tool({ supervisor: { lingerMs: 60, ...supervisor } });
  const evidence = await prepare(tool, call);
  writeFileSync(record, JSON.stringify(evidence));
  try {
    return (await tool.perform(call, evidence)).outcome;
  } catch (error) {
    expect(error).toBeInstanceOf(HoldfastError);
    return undefined;
  }
}

export function dying({ scene }: Story, at: number): SupervisorPeerOptions {
  return { die: { at, file: join(scene.folder, "supervisor-died") } };
}

export function supervisorDied({ scene }: Story): boolean {
  return existsSync(join(scene.folder, "supervisor-died"));
}

/** What is said of the command is true, stays so, and the command ran at most once. */
export async function examine(story: Story): Promise<string> {
  const { scene, call, witness, record } = story;
  const evidence = readEvidence(record) as Evidence;
  const tool = scene.tool();
  const proof = await tool.prove(call, evidence);
  await scene.supervisorsEnd();
  const runs = runsIn(witness);
  expect(runs).toBeLessThanOrEqual(1);
  if (proof.proven === "known") {
    const details = proof.result.details as Record<string, Json>;
    const wasStarted = !("notStarted" in details);
    expect(proof.result.outcome).toBe(wasStarted ? "ok" : "error");
    expect(runs).toBe(wasStarted ? 1 : 0);
    if (wasStarted && !("outputFault" in details)) expect(proof.result.output).toBe("done\n");
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
export async function untilNobodyDies(tell: (at: number) => Promise<{ died: boolean; proven: string }>) {
  const said: Record<string, number> = {};
  const width = 3;
  for (let first = 1; ; first += width) {
    const told = await Promise.all(Array.from({ length: width }, (_, index) => tell(first + index)));
    for (const { proven } of told) said[proven] = (said[proven] ?? 0) + 1;
    if (told.some(({ died }) => !died)) return said;
  }
}

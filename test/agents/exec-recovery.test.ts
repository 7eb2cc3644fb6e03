import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Evidence } from "../../src/model/facts.ts";
import type { SupervisorPeerOptions } from "../peers/exec-supervisor.ts";
import {
  claimOf,
  isAlive,
  known,
  makeCall,
  makeScene,
  prepare,
  readText,
  runsIn,
  startWorker,
  supervisorOf,
  supervisorPeer,
  supervisorProgram,
  until,
  workerPeer,
  type Call,
  type Scene,
} from "./exec-kit.ts";

let supervisorPath: string;
let workerPath: string;
let scene: Scene;
let witness: string;

beforeAll(async () => {
  [supervisorPath, workerPath] = await Promise.all([supervisorPeer(), workerPeer()]);
});
beforeEach(() => {
  scene = makeScene(supervisorPath);
  witness = join(scene.folder, "witness");
});
afterEach(() => scene.end());

/** A worker process that performs `command`. */
function work(command: string, supervisor: SupervisorPeerOptions = {}) {
  const call = makeCall(scene.place(), { command });
  const worker = startWorker(workerPath, {
    place: call.place,
    args: call.args,
    runtime: scene.runtime,
    supervisorArgs: supervisorProgram(supervisorPath, supervisor).args,
    record: join(scene.folder, "record"),
  });
  return { call, worker };
}

/** A command of which only its start is on record. */
async function recordStart(command: string): Promise<{ call: Call; evidence: Evidence }> {
  const call = makeCall(scene.place(), { command });
  return { call, evidence: await prepare(scene.tool(), call) };
}

describe("a command that takes its own claim away", () => {
  test.each([
    ["after it had written something", "echo out; rm $SPOOL/claim"],
    ["and its record with it", "rm $SPOOL/claim $SPOOL/status"],
    ["and goes on", "rm $SPOOL/claim; sleep 7"],
  ])("%s is never taken for one that did not run", async (_, rest) => {
    const place = scene.place();
    const command = `echo run >> ${witness}; ${rest.replaceAll("$SPOOL", place.spool)}`;
    const call = makeCall(place, { command });
    const worker = startWorker(workerPath, {
      place,
      args: call.args,
      runtime: scene.runtime,
      supervisorArgs: supervisorProgram(supervisorPath, {}).args,
      record: join(scene.folder, "record"),
    });
    const evidence = await worker.started;
    await until(() => runsIn(witness) === 1 && !existsSync(join(place.spool, "claim")));
    worker.child.kill("SIGKILL");
    await worker.ended;
    for (let asked = 0; asked < 2; asked++) {
      expect((await scene.tool().prove(call, evidence)).proven).not.toBe("not_executed");
    }
    expect(runsIn(witness)).toBe(1);
  });
});

describe("a worker that died", () => {
  test("leaves its command to the next one, which gets the whole output and the real end", async () => {
    const go = join(scene.folder, "go");
    const { call, worker } = work(
      `echo run >> ${witness}; echo first; while [ ! -e ${go} ]; do sleep 0.02; done; echo last; exit 4`,
    );
    const evidence = await worker.started;
    await until(() => runsIn(witness) === 1);
    worker.child.kill("SIGKILL");
    await worker.ended;
    const proving = scene.tool().prove(call, evidence);
    await until(() => call.shown.text.includes("first"));
    writeFileSync(go, "");
    expect(known(await proving)).toMatchObject({ outcome: "error", output: "first\nlast\n[exit code 4]" });
    expect(call.shown.text).toBe("first\nlast\n");
    expect(runsIn(witness)).toBe(1);
  });

  test("leaves a command that can still be canceled, through its supervisor", async () => {
    const { call, worker } = work("echo up; sleep 71");
    const evidence = await worker.started;
    await supervisorOf(call.place);
    worker.child.kill("SIGKILL");
    await worker.ended;
    const proving = scene.tool().prove(call, evidence);
    await until(() => call.shown.text.includes("up"));
    call.abort.abort();
    expect(known(await proving)).toMatchObject({ outcome: "canceled", details: { signal: "SIGTERM" } });
  });

  test("leaves a known end, also after a reboot, and asking twice gives the same answer", async () => {
    const { call, worker } = work(`echo run >> ${witness}; echo done`);
    const evidence = await worker.started;
    await worker.ended;
    await until(() => !isAlive(claimOf(call.place)?.pid ?? 0));
    const path = join(call.place.spool, "claim");
    const claim = JSON.parse(readFileSync(path, "utf8")) as object;
    writeFileSync(path, JSON.stringify({ ...claim, bootId: "another-boot", pid: process.pid }));
    const first = known(await scene.tool().prove(call, evidence));
    expect(first).toMatchObject({ outcome: "ok", output: "done\n" });
    expect(known(await scene.tool().prove(call, evidence))).toEqual(first);
    expect(runsIn(witness)).toBe(1);
  });

  test("together with its supervisor leaves an unknown end, with all that is to be found", async () => {
    const { call, worker } = work(`echo run >> ${witness}; echo partial; sleep 72`);
    const evidence = await worker.started;
    await until(() => readText(join(call.place.spool, "output")) === "partial\n");
    const supervisor = await supervisorOf(call.place);
    worker.child.kill("SIGKILL");
    process.kill(supervisor, "SIGKILL");
    await until(() => !isAlive(supervisor));
    const proof = await scene.tool().prove(call, evidence);
    expect(proof).toMatchObject({
      proven: "unknown",
      evidence: {
        claim: { kind: "start", operation: call.place.operation, pid: supervisor },
        supervisor: { pid: supervisor, isSameBoot: true },
        status: "blank",
        output: { bytes: 8, tail: "partial\n" },
      },
    });
    const { survivors } =
      proof.proven === "unknown" ? (proof.evidence as { survivors: { pid: number }[] }) : { survivors: [] };
    expect(survivors.length).toBeGreaterThan(0);
    for (const { pid } of survivors) process.kill(pid, "SIGKILL");
    expect(runsIn(witness)).toBe(1);
  });

  test("before any claim leaves a command that never ran, and never will", async () => {
    const { call, evidence } = await recordStart(`echo run >> ${witness}`);
    expect(await scene.tool().prove(call, evidence)).toMatchObject({ proven: "not_executed" });
    expect(await scene.tool().prove(call, evidence)).toMatchObject({ proven: "not_executed" });
    await expect(scene.tool().perform(call, evidence)).rejects.toMatchObject({ code: "agent_failed" });
    expect(runsIn(witness)).toBe(0);
  });
});

describe("a supervisor that comes late", () => {
  test.each([
    ["its lock", "locks.tryLock", 2],
    ["its claim", "disk.link", 1],
  ])("held before %s until a recovery said `not executed`, starts nothing", async (_what, effect, nth) => {
    const file = join(scene.folder, "hold");
    const { call, worker } = work(`echo run >> ${witness}`, { hold: { effect, nth, file } });
    const evidence = await worker.started;
    await until(() => existsSync(`${file}.waiting`));
    worker.child.kill("SIGKILL");
    await worker.ended;
    expect(await scene.tool().prove(call, evidence)).toMatchObject({ proven: "not_executed" });
    writeFileSync(file, "");
    await scene.supervisorsEnd();
    expect(runsIn(witness)).toBe(0);
    expect(claimOf(call.place)?.kind).toBe("void");
  });

  test("after the recovery's clean-up finds no folder and makes none", async () => {
    const file = join(scene.folder, "hold");
    const { call, worker } = work(`echo run >> ${witness}`, { hold: { effect: "disk.link", nth: 1, file } });
    const evidence = await worker.started;
    await until(() => existsSync(`${file}.waiting`));
    worker.child.kill("SIGKILL");
    await worker.ended;
    const tool = scene.tool();
    expect(await tool.prove(call, evidence)).toMatchObject({ proven: "not_executed" });
    await tool.cleanUp(call.place, evidence, call.args);
    writeFileSync(file, "");
    await scene.supervisorsEnd();
    expect(runsIn(witness)).toBe(0);
    expect(await tool.prove(call, evidence)).toMatchObject({ proven: "unknown" });
  });
});

describe("a supervisor that died", () => {
  test("under a waiting worker: the worker says that it cannot know, and the proof says unknown", async () => {
    const tool = scene.tool();
    const call = makeCall(scene.place(), { command: `echo run >> ${witness}; sleep 0.5; exit 3` });
    const evidence = await prepare(tool, call);
    const performing = tool.perform(call, evidence);
    await until(() => runsIn(witness) === 1);
    process.kill(await supervisorOf(call.place), "SIGKILL");
    await expect(performing).rejects.toMatchObject({ code: "agent_failed" });
    expect(await tool.prove(call, evidence)).toMatchObject({ proven: "unknown" });
    expect(runsIn(witness)).toBe(1);
  });

  test("before its claim: the worker has another one start the command, once", async () => {
    const file = join(scene.folder, "hold");
    const tool = scene.tool({ supervisor: { hold: { effect: "disk.link", nth: 1, file } } });
    const call = makeCall(scene.place(), { command: `echo run >> ${witness}` });
    const performing = tool.perform(call, await prepare(tool, call));
    await until(() => existsSync(`${file}.waiting`));
    for (const pid of scene.supervisors()) process.kill(pid, "SIGKILL");
    expect(await performing).toMatchObject({ outcome: "ok" });
    expect(runsIn(witness)).toBe(1);
  });

  test("leaves nothing that a later command trips over", async () => {
    const first = await recordStart("sleep 73");
    const tool = scene.tool();
    const performing = tool.perform(first.call, first.evidence);
    const supervisor = await supervisorOf(first.call.place);
    process.kill(supervisor, "SIGKILL");
    await expect(performing).rejects.toMatchObject({ code: "agent_failed" });
    const second = await recordStart("echo next");
    expect(await tool.perform(second.call, second.evidence)).toMatchObject({ output: "next\n" });
    const left = await scene.host.processes.findByEnvironment(
      "HOLDFAST_OPERATION",
      first.call.place.operation,
    );
    for (const { pid } of left) process.kill(pid, "SIGKILL");
  });
});

describe("what stands in the folder", () => {
  async function finished(): Promise<{ call: Call; evidence: Evidence }> {
    const started = await recordStart("echo done");
    await scene.tool().perform(started.call, started.evidence);
    await scene.supervisorsEnd();
    return started;
  }

  test.each([
    [
      "torn",
      (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 100), Buffer.alloc(bytes.length - 100, 0x20)]),
    ],
    ["zeros", (bytes: Buffer) => Buffer.alloc(bytes.length)],
    ["cut", (bytes: Buffer) => bytes.subarray(0, 50)],
    ["changed", (bytes: Buffer) => Buffer.from(bytes.toString().replace('"code":0', '"code":1'))],
    ["garbage", (bytes: Buffer) => Buffer.alloc(bytes.length, 0xff)],
  ])("a status that is %s is not believed", async (_name, damage) => {
    const { call, evidence } = await finished();
    const path = join(call.place.spool, "status");
    writeFileSync(path, damage(readFileSync(path)));
    expect(await scene.tool().prove(call, evidence)).toMatchObject({ proven: "unknown" });
  });

  test("a status of another start is not believed", async () => {
    const [ours, other] = [await finished(), await finished()];
    writeFileSync(
      join(ours.call.place.spool, "status"),
      readFileSync(join(other.call.place.spool, "status")),
    );
    expect(await scene.tool().prove(ours.call, ours.evidence)).toMatchObject({ proven: "unknown" });
  });

  test("an output that is not the one of the status is shown with a warning; the end stays known", async () => {
    const { call, evidence } = await finished();
    writeFileSync(join(call.place.spool, "output"), "d0ne\n");
    const result = known(await scene.tool().prove(call, evidence));
    expect(result.outcome).toBe("ok");
    expect(result.output).toContain("[the kept output is damaged]");
  });

  test("a claim that cannot be read makes nothing known and lets nothing start", async () => {
    const { call, evidence } = await recordStart(`echo run >> ${witness}`);
    writeFileSync(join(call.place.spool, "claim"), "{");
    expect(await scene.tool().prove(call, evidence)).toMatchObject({
      proven: "unknown",
      evidence: { claim: "{" },
    });
    await expect(scene.tool().perform(call, evidence)).rejects.toMatchObject({ code: "agent_failed" });
    expect(runsIn(witness)).toBe(0);
  });

  test("a folder that somebody removed proves nothing, and is not made again", async () => {
    const { call, evidence } = await recordStart(`echo run >> ${witness}`);
    rmSync(call.place.spool, { recursive: true });
    expect(await scene.tool().prove(call, evidence)).toMatchObject({ proven: "unknown" });
    expect((await scene.tool().perform(call, evidence)).outcome).toBe("not_executed");
    expect(runsIn(witness)).toBe(0);
  });

  test("what an attempt left that died before its claim is not taken for the command's", async () => {
    const { call, evidence } = await recordStart("echo fresh");
    writeFileSync(join(call.place.spool, "output"), "stale\n");
    writeFileSync(join(call.place.spool, "status"), "stale");
    writeFileSync(join(call.place.spool, "claim.draft"), "stale");
    expect(await scene.tool().perform(call, evidence)).toMatchObject({ outcome: "ok", output: "fresh\n" });
  });
});

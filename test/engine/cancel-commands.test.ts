import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import {
  abandonRun,
  approveOperation,
  cancelRun,
  findRun,
  readSession,
  resolveOperation,
} from "../../src/engine/index.ts";
import { createSession } from "../../src/engine/create-session.ts";
import { environmentOf, wires } from "../agents/wire.ts";
import type { EngineWorkerLine } from "../peers/engine-worker.ts";
import { startModelServer } from "../peers/model-server.ts";
import { examine, expectKept, expectSettledOnce, factsOf } from "./examine.ts";
import { Home, list, type WorkerProcess } from "./home.ts";
import { useHomes } from "./use-homes.ts";

const { newHome, servers } = useHomes();

/** Finds the line with this piece of what is live. */
const heard = (text: string) => (line: EngineWorkerLine) =>
  (line["live"] as { text?: string } | undefined)?.text?.includes(text) ?? false;

const done = { text: "Done." };

/** A worker whose command has said `begun`. */
async function running(
  command: string,
  { home = newHome(), cancelGraceMs = 200, turns = [done] as unknown[] } = {},
): Promise<{ home: Home; worker: WorkerProcess }> {
  const model = home.cassette([{ calls: [{ tool: "exec", args: { command } }] }, ...turns]);
  const worker = home.worker({ run: home.task({ model }), cancelGraceMs });
  await worker.line(heard("begun"));
  return { home, worker };
}

const session = (home: Home): string => home.sessions()[0] ?? "";
const examined = (home: Home) => examine(home.engine(), session(home));

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // One that waits to be reaped does nothing any more.
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo(); tries++) {
    if (tries > 1000) throw new Error("it never came to be");
    await sleep(10);
  }
}

/** The process of the supervisor of the one command that runs. */
function supervisorOf(home: Home): number {
  const [spool = ""] = list(home.inSession("spool"));
  return (JSON.parse(readFileSync(home.inSession("spool", spool, "claim"), "utf8")) as { pid: number }).pid;
}

describe("a command that runs when its run is canceled", () => {
  test("is ended with its whole group, also where that does not listen, and its real end is recorded", async () => {
    const deaf = `trap '' TERM; sleep 60 & echo begun $$ $!; wait`;
    const { home, worker } = await running(`${deaf}; echo x > never`);
    const said = worker.lines
      .map((line) => (line["live"] as { text?: string } | undefined)?.text ?? "")
      .join("");
    const pids = [...said.matchAll(/\d+/g)].map(Number);
    expect(pids).toHaveLength(2);
    expect(pids.map(isAlive)).toEqual([true, true]);
    const ended = await worker.signal("SIGINT");
    expect(ended).toMatchObject({ code: 4, report: { ending: "canceled" }, stderr: "" });
    await until(() => !pids.some(isAlive));
    const log = await examined(home);
    expectKept(log, ended.commits);
    expectSettledOnce(log);
    expect(factsOf(log, "op.known")).toMatchObject([
      { outcome: "canceled", details: { stopped: "cancel", signal: "SIGKILL", survivors: [] } },
    ]);
    expect(factsOf(log, "run.ended")).toMatchObject([{ status: "canceled", by: "ada" }]);
    expect(list(home.workspace)).toEqual([]);
    expect(list(home.inSession("spool"))).toEqual([]);
  });

  test("names what it left behind outside of its group", async () => {
    const { home, worker } = await running(`setsid sleep 3 >/dev/null 2>&1 & echo begun; sleep 30`);
    expect(await worker.signal("SIGINT")).toMatchObject({ code: 4 });
    const [known] = factsOf(await examined(home), "op.known");
    expect(known).toMatchObject({
      outcome: "canceled",
      details: { signal: "SIGTERM", survivors: [{ command: "sleep 3" }] },
    });
    expect(known?.output).toMatch(/still running: \d+ sleep 3/);
  });

  test("is canceled by another process, who is told when that is done", async () => {
    const { home, worker } = await running(`echo begun; sleep 30; echo x > ${newHome().witness}`);
    const canceling = home.worker({ cancel: { session: session(home), by: "bob" } });
    expect(await canceling.ended).toMatchObject({ code: 0, stderr: "" });
    expect(canceling.lines.findLast((line) => "shown" in line)?.["shown"]).toMatchObject({
      status: "canceled",
      error: "canceled by bob",
    });
    expect(await worker.ended).toMatchObject({ code: 4, report: { ending: "canceled" } });
    const { queue, state } = await examined(home);
    expect([...queue.requests.values()]).toMatchObject([{ verb: "cancel", by: "bob", answer: { ok: true } }]);
    expect([...state.runs.values()]).toMatchObject([{ at: "canceled", by: "bob" }]);
    expect(await outcomeOf(cancelRun(home.engine(), { session: session(home) }))).toBe("done");
  });

  test("is ended by whoever asked for it, in his own time, where the one who worked dies over it", async () => {
    const { home, worker } = await running(
      `trap 'echo told' TERM; echo begun; while :; do sleep 0.05; done`,
      { cancelGraceMs: 600_000 },
    );
    const canceling = home.worker({ cancel: { session: session(home), by: "bob" } });
    await worker.line(heard("told"));
    await worker.kill();
    expect(await canceling.ended).toMatchObject({ code: 0 });
    const log = await examined(home);
    expect(factsOf(log, "run.ended")).toMatchObject([{ status: "canceled", by: "bob" }]);
    expect([...log.queue.requests.values()]).toMatchObject([{ answer: { ok: true } }]);
    expectSettledOnce(log);
  });

  test("and of which nobody can tell how it ended keeps the run from being canceled until a person does", async () => {
    const { home, worker } = await running(`trap '' TERM; echo begun; sleep 60`, {
      cancelGraceMs: 20_000,
      turns: [done, done],
    });
    const supervisor = supervisorOf(home);
    process.kill(worker.pid, "SIGINT");
    await worker.line((line) => line["stops"] === "SIGINT");
    process.kill(supervisor, "SIGKILL");
    expect(await worker.ended).toMatchObject({ code: 3, report: { ending: "input_required" } });
    const asked = { session: session(home), by: "ada" };
    expect(await outcomeOf(cancelRun(home.engine(), asked))).toBe("input_required");
    const run = findRun(await readSession(home.engine(), asked.session), undefined);
    const [operation] = run.operations;
    expect(operation).toMatchObject({ state: "unknown", evidence: { output: { tail: "begun\n" } } });
    // Nobody is its parent any more.
    const evidence = operation?.evidence as { survivors: { pid: number }[] };
    expect(evidence.survivors.map(({ pid }) => isAlive(pid))).toEqual([true, true]);
    for (const { pid } of evidence.survivors) process.kill(pid, "SIGKILL");
    const place = { ...asked, run: run.run, operation: operation?.id ?? "" };
    await resolveOperation(home.engine(), { ...place, outcome: "error", output: "I ended it" });
    expect((await cancelRun(home.engine(), asked)).status).toBe("canceled");
    const next = await home.resume({ task: "Next." });
    expect(next).toMatchObject({ code: 0, report: { ending: "completed" } });
    const log = await examined(home);
    expectSettledOnce(log);
    expect([...log.state.runs.values()].map((one) => one.at)).toEqual(["canceled", "completed"]);
  });

  test("was left by a worker that died, and is ended by whoever cancels", async () => {
    const { home, worker } = await running(`echo begun; sleep 30; echo never`);
    await worker.kill();
    const view = await cancelRun(home.engine(), { session: session(home), by: "ada" });
    expect(view).toMatchObject({ status: "canceled", operations: [{ outcome: "canceled" }] });
    expect(view.operations[0]?.output).toMatch(/^begun\n\[canceled after/);
    expectSettledOnce(await examined(home));
  });

  test("was left by a worker that died, and ends by itself while a person gives its run up", async () => {
    const { home, worker } = await running(`echo begun; sleep 0.3; echo finished`);
    const supervisor = supervisorOf(home);
    await worker.kill();
    await until(() => !isAlive(supervisor) || list(home.inSession("spool")).length === 0 || ended(home));
    const view = await abandonRun(home.engine(), { session: session(home), by: "ada" });
    expect(view).toMatchObject({
      status: "failed",
      operations: [{ outcome: "ok", output: "begun\nfinished\n" }],
    });
  });
});

/** True where the one command's end is on record. */
function ended(home: Home): boolean {
  const [spool = ""] = list(home.inSession("spool"));
  const status = home.inSession("spool", spool, "status");
  return existsSync(status) && readFileSync(status, "utf8").trim() !== "";
}

const outcomeOf = (verb: Promise<unknown>): Promise<string> =>
  verb.then(
    () => "done",
    (error: unknown) => String((error as { code?: string }).code ?? error),
  );

test("the model of the next run is sent a conversation that it takes, with what was canceled", async () => {
  const server = await startModelServer();
  servers.push(server);
  const home = newHome();
  home.environment = { ...home.environment, ...environmentOf(server.url) };
  const call = (id: string, command: string) => ({ id, name: "exec", args: JSON.stringify({ command }) });
  server.push({ text: "Both.", calls: [call("a", "echo begun; sleep 30"), call("b", "echo never")] });
  server.push({ text: "Done." });
  const worker = home.worker({ run: home.task({ model: wires.anthropic.model }), cancelGraceMs: 100 });
  await worker.line(heard("begun"));
  expect(await worker.signal("SIGINT")).toMatchObject({ code: 4 });
  expect(await home.resume({ task: "Next." })).toMatchObject({ code: 0 });
  const messages = server.requests[1]?.body["messages"] as { role: string; content: unknown[] }[];
  expect(messages.map((message) => message.role)).toEqual(["user", "assistant", "user"]);
  expect(messages[2]?.content).toMatchObject([
    { type: "tool_result", tool_use_id: "a", is_error: true },
    { type: "tool_result", tool_use_id: "b", content: "canceled before it started: nothing happened" },
    { type: "text", text: "Next." },
  ]);
});

describe("a command that a person must allow", () => {
  async function asking(): Promise<{ home: Home; selector: string }> {
    const home = newHome();
    const command = `echo x >> ${home.witness}`;
    const model = home.cassette([{ calls: [{ tool: "exec", args: { command } }] }, done]);
    const policy = { allowShell: true, approvals: { exec: "ask" as const } };
    const selector = await createSession(home.engine(), home.task({ model, policy }));
    return { home, selector };
  }

  test("waits in a process that lives as long as that takes, and starts when another one allows it", async () => {
    const { home, selector } = await asking();
    const worker = home.worker({
      resume: { selector, acceptRollback: false },
      approvals: { kind: "wait" },
    });
    await worker.fact("approval.asked");
    await sleep(100);
    expect(existsSync(home.witness)).toBe(false);
    const run = findRun(await readSession(home.engine(), selector), undefined);
    const operation = run.operations[0]?.id ?? "";
    const allow = { session: selector, run: run.run, operation, decision: "allow", remember: false } as const;
    expect(await home.worker({ approve: { ...allow, by: "bob" } }).ended).toMatchObject({ code: 0 });
    expect(await worker.ended).toMatchObject({ code: 0, report: { ending: "completed" }, stderr: "" });
    expect(readFileSync(home.witness, "utf8")).toBe("x\n");
  });

  test("waits on in the next process where the first was killed and the word came between them", async () => {
    const { home, selector } = await asking();
    const resume = { selector, acceptRollback: false };
    const first = home.worker({ resume, approvals: { kind: "wait" } });
    await first.fact("approval.asked");
    await first.kill();
    const run = findRun(await readSession(home.engine(), selector), undefined);
    const operation = run.operations[0]?.id ?? "";
    await approveOperation(home.engine(), {
      session: selector,
      run: run.run,
      operation,
      decision: "allow",
      remember: false,
      by: "bob",
    });
    expect(existsSync(home.witness)).toBe(false);
    // It asks nobody: in its mode everything is denied that was not allowed before.
    expect(await home.resume(resume)).toMatchObject({ code: 0, report: { ending: "completed" } });
    expect(readFileSync(home.witness, "utf8")).toBe("x\n");
    const log = await examined(home);
    expect(factsOf(log, "approval.asked")).toHaveLength(1);
    expect(factsOf(log, "approval.decided")).toMatchObject([{ decision: "allow", by: "bob" }]);
  });

  test("waits in a process that ends at once when it is told to", async () => {
    for (const [signal, code] of [
      ["SIGTERM", 11],
      ["SIGINT", 4],
    ] as const) {
      const { home, selector } = await asking();
      const resume = { selector, acceptRollback: false };
      const worker = home.worker({ resume, approvals: { kind: "wait", forMs: 3_600_000 } });
      await worker.fact("approval.asked");
      expect(await worker.signal(signal)).toMatchObject({ code, signal: null, stderr: "" });
      expect(existsSync(home.witness)).toBe(false);
    }
  });
});

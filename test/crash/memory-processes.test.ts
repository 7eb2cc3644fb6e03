import { describe, expect, test } from "vitest";
import { isDiskError, type ChildProcess } from "../../src/host/index.ts";
import { EngineWorld } from "./engine-world.ts";
import type { MemoryProcess } from "./memory-processes.ts";
import { Witness } from "./witness.ts";

/** A machine, and a process on it that starts others. */
function newMachine(): { world: EngineWorld; parent: MemoryProcess } {
  const world = new EngineWorld({ commands: true });
  world.disk.plant("/project/file", "");
  world.witness.set();
  return { world, parent: world.start("parent") };
}

function startShell(parent: MemoryProcess, line: string, env: Record<string, string> = {}): ChildProcess {
  return parent.host.processes.spawn({ file: "/bin/sh", args: ["-c", line], cwd: "/project", env });
}

/** Collects what a child writes, and tells when nobody holds its pipe any more. */
function outputOf(child: ChildProcess): { text: string; isOver: boolean } {
  const output = { text: "", isOver: false };
  child.onOutput(
    (chunk) => (output.text += new TextDecoder().decode(chunk)),
    () => (output.isOver = true),
  );
  return output;
}

describe("a command in memory", () => {
  test("takes its steps in order and exits with its code", async () => {
    const { world, parent } = newMachine();
    const child = startShell(
      parent,
      `say one; append word ${Witness.path}; sleep 50; say two; fail 7; say three`,
    );
    const output = outputOf(child);
    expect(await world.within(child.exited)).toEqual({ code: 7 });
    await world.quiet();
    expect(output).toEqual({ text: "one\ntwo\n", isOver: true });
    expect(world.witness.count("word")).toBe(1);
    expect(world.clock.monotonicMs()).toBe(50);
    expect(parent.host.processes.isAlive(child.pid)).toBe(false);
  });

  test("leaves its pipe to what it left in the background, which is of its group", async () => {
    const { world, parent } = newMachine();
    const child = startShell(parent, "sleep 1000 & say started", { MARK: "x" });
    const output = outputOf(child);
    expect(await world.within(child.exited)).toEqual({ code: 0 });
    expect(output.isOver).toBe(false);
    const found = await parent.host.processes.findByEnvironment("MARK", "x");
    expect(found).toMatchObject([{ group: child.pid, command: "sleep 1000" }]);
    expect(child.signalGroup("SIGKILL")).toBe(true);
    expect(child.signalGroup("SIGKILL")).toBe(false);
    await world.quiet();
    expect(output).toEqual({ text: "started\n", isOver: true });
  });

  test("ends by a signal unless it takes no notice of it", async () => {
    const { world, parent } = newMachine();
    const mild = startShell(parent, "sleep 1000");
    const stubborn = startShell(parent, "stubborn; sleep 1000");
    await parent.host.clock.sleep(1);
    for (const child of [mild, stubborn]) expect(child.signalGroup("SIGTERM")).toBe(true);
    expect(await world.within(mild.exited)).toEqual({ signal: "SIGTERM" });
    expect(parent.host.processes.isAlive(stubborn.pid)).toBe(true);
    stubborn.signalGroup("SIGKILL");
    expect(await world.within(stubborn.exited)).toEqual({ signal: "SIGKILL" });
  });

  test("outlives its parent, and dies when it says something that nobody reads", async () => {
    const { world, parent } = newMachine();
    startShell(parent, `sleep 10; append before ${Witness.path}; say lost; append after ${Witness.path}`);
    await parent.host.clock.sleep(1);
    parent.die();
    await world.quiet();
    expect([world.witness.count("before"), world.witness.count("after")]).toEqual([1, 0]);
    expect(world.commands()).toEqual([]);
  });

  test("that cannot be started says why and signals nobody", async () => {
    const { parent } = newMachine();
    const starting = { file: "/bin/sh", args: ["-c", "say x"], cwd: "/project", env: {} };
    const cases = [
      [{ ...starting, file: "/bin/none" }, "ENOENT"],
      [{ ...starting, cwd: "/none" }, "ENOENT"],
      [{ ...starting, cwd: "/project/file" }, "ENOTDIR"],
    ] as const;
    for (const [request, code] of cases) {
      const child = parent.host.processes.spawn(request);
      const error: unknown = await child.exited.catch((thrown: unknown) => thrown);
      expect(isDiskError(error, code)).toBe(true);
      expect([child.pid, child.signalGroup("SIGKILL")]).toEqual([0, false]);
      expect(() => parent.host.processes.spawnDetached(request)).toThrow(code);
    }
  });
});

describe("a process in memory", () => {
  test("does nothing any more from the effect on before which it died", async () => {
    const { world, parent } = newMachine();
    const other = world.start("other");
    const sent: string[] = [];
    await other.host.sockets.listen("/project/s", (connection) =>
      connection.onMessage(
        (message) => void sent.push(String(message)),
        () => void sent.push("closed"),
      ),
    );
    const connection = await parent.host.sockets.connect("/project/s");
    connection.send("before");
    world.disk.gate = (effect) => {
      if (effect.process === parent.name && effect.verb === "send") parent.die();
      return undefined;
    };
    expect(connection.send("after")).toBe(false);
    expect(startShell(parent, `append word ${Witness.path}`).pid).toBe(0);
    let isOver = false;
    void parent.host.clock.sleep(5).then(() => (isOver = true));
    void parent.host.disk.stat("/project").then(() => (isOver = true));
    await other.host.clock.sleep(100);
    expect(sent).toEqual(["before", "closed"]);
    expect([isOver, world.witness.count("word"), world.executions.length]).toEqual([false, 0, 0]);
  });

  test("whose listener was killed leaves a name that refuses, and that another one may take", async () => {
    const { world, parent } = newMachine();
    const heir = world.start("heir");
    await parent.host.sockets.listen("/project/s", () => undefined);
    parent.die();
    const refused: unknown = await heir.host.sockets.connect("/project/s").catch((error: unknown) => error);
    expect(isDiskError(refused, "ECONNREFUSED")).toBe(true);
    await heir.host.sockets.listen("/project/s", () => undefined);
    expect((await heir.host.sockets.connect("/project/s")).send("x")).toBe(true);
  });

  test("that is stopped does nothing and hears nothing until it goes on", async () => {
    const { world, parent } = newMachine();
    const other = world.start("other");
    const seen: string[] = [];
    await parent.host.sockets.listen("/project/s", (connection) =>
      connection.onMessage(
        (message) => void seen.push(String(message)),
        () => undefined,
      ),
    );
    parent.disk.stop();
    void parent.host.clock.sleep(5).then(() => seen.push("awake"));
    (await other.host.sockets.connect("/project/s")).send("hello");
    await other.host.clock.sleep(100);
    expect(seen).toEqual([]);
    parent.disk.goOn();
    await world.quiet();
    expect(seen.toSorted()).toEqual(["awake", "hello"]);
  });

  test("has a number that none had before it, on a machine that tells its starts apart", () => {
    const { world, parent } = newMachine();
    const { pid, bootId } = parent.host.processes.self;
    const killed = world.killed().start("next").host.processes.self;
    const crashed = world.crashed().start("next").host.processes.self;
    expect([killed.pid > pid, crashed.pid > pid]).toEqual([true, true]);
    expect([killed.bootId === bootId, crashed.bootId === bootId]).toEqual([true, false]);
  });
});

describe("a machine in memory", () => {
  test("loses in a power cut what the witness was not made to keep, and remembers what was started", async () => {
    const { world, parent } = newMachine();
    world.disk.settle();
    const moments: number[][] = [];
    world.disk.gate = ({ verb, path }) => {
      if (path !== Witness.path || verb === "open") return undefined;
      const [killed, crashed] = [world.killed(), world.crashed()];
      moments.push([killed, crashed].map(({ witness }) => witness.count("word")));
      expect(crashed.executions).toHaveLength(1);
      expect(crashed.commands()).toEqual([]);
      return undefined;
    };
    startShell(parent, `append word ${Witness.path}`);
    await world.quiet();
    // Before the write, before the sync, before the file is closed.
    expect(moments).toEqual([
      [0, 0],
      [1, 0],
      [1, 1],
    ]);
  });

  test("says so when somebody waits and nobody does anything any more", async () => {
    const { world } = newMachine();
    await expect(world.within(new Promise(() => undefined))).rejects.toThrow(/nobody does anything/);
  });
});

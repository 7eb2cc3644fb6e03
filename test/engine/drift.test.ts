import { describe, expect, test } from "vitest";
import type { AgentRequest, ResumeRequest, TaskRequest } from "../../src/engine/index.ts";
import { resume, runTask } from "../../src/engine/index.ts";
import { defaultDefinition } from "../../src/model/default-definition.ts";
import type { AgentDefinition } from "../../src/model/facts.ts";
import { changesDisk } from "../crash/memory-disk.ts";
import { EngineWorld } from "../crash/engine-world.ts";
import { examine, expectKept, factsOf } from "./examine.ts";

/** What a session was locked to, and what is given again when it goes on. */

const { workspace, model } = EngineWorld;
const failure = { error: { status: 401, message: "no" } };

/** A session whose run is suspended: a failed call first, then these turns. */
async function suspended(
  members: Partial<TaskRequest> = {},
  turns: unknown[] = [{ text: "Done." }],
): Promise<{ world: EngineWorld; selector: string }> {
  const world = new EngineWorld();
  world.disk.plant("/cassette.json", JSON.stringify({ cassette: 1, turns: [failure, ...turns] }));
  world.disk.plant("/project/a.txt", "a\n");
  const request = { workspace, model, agent: "builtin", policy: {}, task: "Do it.", ...members };
  const report = await runTask(world.engine(), request, world.observer(), () => undefined);
  expect(report.ending).toBe("suspended");
  return { world, selector: report.session };
}

/** All bytes of the state directory. Who would have held a session is written for messages, also by whoever is refused. */
function bytesOf(world: EngineWorld): Record<string, string | undefined> {
  const files = world.disk.files().filter((path) => path.startsWith("/state/") && !path.endsWith("/lease"));
  return Object.fromEntries(files.map((path) => [path, world.text(path)]));
}

function resumed(world: EngineWorld, request: Omit<ResumeRequest, "acceptRollback">) {
  return resume(world.engine(), { acceptRollback: false, ...request }, world.observer());
}

/** The capabilities that an agent was opened with when the session went on. */
async function openedWith(
  world: EngineWorld,
  request: Omit<ResumeRequest, "acceptRollback">,
): Promise<AgentRequest | undefined> {
  const engine = world.engine();
  let opened: AgentRequest | undefined;
  const openAgent = (asked: AgentRequest) => {
    opened = asked;
    return engine.openAgent(asked);
  };
  await resume({ ...engine, openAgent }, { acceptRollback: false, ...request }, world.observer());
  return opened;
}

const other: AgentDefinition = {
  ...defaultDefinition,
  spec: {
    ...defaultDefinition.spec,
    objective: "Do something else.",
    execution: { ...defaultDefinition.spec.execution, maxTurns: 7 },
  },
};

describe("a definition that is given again", () => {
  test("is nothing new where it is the same", async () => {
    const { world, selector } = await suspended({ definition: other });
    expect((await resumed(world, { selector, definition: other })).ending).toBe("completed");
  });

  test("is refused where it is another, with the difference, and no byte changes", async () => {
    const { world, selector } = await suspended();
    const before = bytesOf(world);
    const policy = { allowShell: true };
    for (const more of [{}, { policy }, { policy, acceptPolicy: true }]) {
      await expect(resumed(world, { selector, definition: other, ...more })).rejects.toMatchObject({
        code: "definition_drift",
        message: expect.stringMatching(
          /is another one:\n {2}spec\.objective: "Do what.*\n {2}spec\.execution\.maxTurns: 200 is recorded, 7 was given$/,
        ) as string,
        details: { hint: expect.stringContaining(`holdfast resume ${selector}`) as string },
      });
      expect(bytesOf(world)).toEqual(before);
    }
    expect((await resumed(world, { selector })).ending).toBe("completed");
  });
});

describe("a policy that is given again", () => {
  test("is nothing new where it is the same, also where it is to be accepted", async () => {
    const { world, selector } = await suspended({ policy: { passEnv: ["B", "A"], maxTurns: 9 } });
    const policy = { maxTurns: 9, passEnv: ["A", "B", "A"] };
    expect((await resumed(world, { selector, policy, acceptPolicy: true })).ending).toBe("completed");
    expect(factsOf(await examine(world.engine(), selector), "policy.accepted")).toEqual([]);
  });

  test("is refused where it is another, with a line for each member that differs, and no byte changes", async () => {
    const { world, selector } = await suspended({ policy: { allowShell: true, maxTurns: 9 } });
    const before = bytesOf(world);
    const policy = { deniedCapabilities: ["write"], approvals: { edit: "ask" as const } };
    await expect(resumed(world, { selector, policy })).rejects.toMatchObject({
      code: "policy_drift",
      message: [
        `the policy of session ${selector} is another one:`,
        '  deniedCapabilities: [] is recorded, ["write"] was given',
        "  allowShell: true is recorded, false was given",
        "  maxTurns: 9 is recorded, nothing was given",
        '  approvals.edit: nothing is recorded, "ask" was given',
      ].join("\n"),
    });
    expect(bytesOf(world)).toEqual(before);
  });

  test("holds from then on where it is accepted: on record before anything is done under it, and by whom", async () => {
    const { world, selector } = await suspended();
    const policy = { allowShell: true, deniedCapabilities: ["write"] };
    const opened = await openedWith(world, { selector, policy, acceptPolicy: true });
    expect(opened?.capabilities).toEqual(["delete", "edit", "exec", "glob", "grep", "read"]);
    const examined = await examine(world.engine(), selector);
    const [accepted] = factsOf(examined, "policy.accepted");
    expect(accepted).toMatchObject({
      policy: { allowShell: true, deniedCapabilities: ["write"], allowMcp: false },
      by: expect.stringMatching(/./) as string,
    });
    const kinds = examined.facts.map((fact) => fact.kind);
    expect(kinds.indexOf("policy.accepted")).toBeLessThan(kinds.lastIndexOf("run.started"));
    expectKept(examined, world.told);
    // What is in force is what a later resume is compared with.
    const finished = { selector, policy };
    expect((await resumed(world, finished)).ending).toBe("idle");
    await expect(resumed(world, { selector, policy: {} })).rejects.toMatchObject({ code: "policy_drift" });
  });

  test("that was accepted and taken back bounds the agent by what was locked at first", async () => {
    const { world, selector } = await suspended({}, [failure, failure, { text: "Done." }]);
    await resumed(world, { selector, policy: { allowShell: true }, acceptPolicy: true });
    const opened = await openedWith(world, { selector, policy: {}, acceptPolicy: true });
    expect(opened?.capabilities).toEqual(["delete", "edit", "glob", "grep", "read", "write"]);
    const again = await openedWith(world, { selector });
    expect(again?.capabilities).toEqual(opened?.capabilities);
    expect(factsOf(await examine(world.engine(), selector), "policy.accepted")).toHaveLength(2);
  });

  test("is refused where it denies what the agent requires, and no byte changes", async () => {
    const { world, selector } = await suspended();
    const before = bytesOf(world);
    const policy = { deniedCapabilities: ["read"], allowedCapabilities: ["write"] };
    await expect(resumed(world, { selector, policy, acceptPolicy: true })).rejects.toMatchObject({
      code: "usage",
      message: expect.stringMatching(/\n {2}read: .*deniedCapabilities; .*allowedCapabilities$/) as string,
    });
    expect(bytesOf(world)).toEqual(before);
  });

  test("is accepted with nothing else only where it is given", async () => {
    const { world, selector } = await suspended();
    const before = bytesOf(world);
    await expect(resumed(world, { selector, acceptPolicy: true })).rejects.toMatchObject({ code: "usage" });
    expect(bytesOf(world)).toEqual(before);
  });

  test("is accepted wholly or not at all, wherever the worker dies, and the same command again comes to the end", async () => {
    const { world: start, selector } = await suspended();
    const request = { selector, policy: { allowShell: true }, acceptPolicy: true };
    const snapshots: EngineWorld[] = [];
    const world = start.killed();
    world.disk.gate = (effect) => {
      if (changesDisk(effect)) snapshots.push(world.killed());
      return undefined;
    };
    await resumed(world, request);
    expect(snapshots.length).toBeGreaterThan(10);
    for (const snapshot of snapshots) {
      const crashed = snapshot.crashed((_change, index) => (index % 2 === 0 ? "dropped" : "kept"));
      for (const after of [snapshot.killed(), crashed]) {
        await resumed(after, request);
        const examined = await examine(after.engine(), selector);
        expect(factsOf(examined, "policy.accepted")).toHaveLength(1);
        expect([...examined.state.runs.values()].map((run) => run.at)).toEqual(["completed"]);
        expectKept(examined, after.told);
      }
    }
  });
});

describe("a session is made", () => {
  const asking = (required: string[]): AgentDefinition => ({
    ...defaultDefinition,
    metadata: { name: "asker" },
    spec: { ...defaultDefinition.spec, capabilities: { required, optional: ["grep", "mcp__a__b"] } },
  });
  const refused = async (members: Partial<TaskRequest>) => {
    const world = new EngineWorld();
    world.disk.plant("/cassette.json", JSON.stringify({ cassette: 1, turns: [{ text: "Done." }] }));
    world.disk.plant("/project/a.txt", "a\n");
    const request = { workspace, model, agent: "builtin", policy: {}, task: "Do it.", ...members };
    const error: unknown = await runTask(world.engine(), request, world.observer(), () => undefined).catch(
      (thrown: unknown) => thrown,
    );
    expect(world.disk.files().filter((path) => path.startsWith("/state/"))).toEqual([]);
    return error;
  };

  test("with what is asked for and permitted; what it can do without and may not is left out", async () => {
    const { world, selector } = await suspended({
      definition: asking(["read"]),
      policy: { deniedCapabilities: ["grep"] },
    });
    const { state } = await examine(world.engine(), selector);
    expect(state.created).toMatchObject({
      capabilities: ["read"],
      definition: { metadata: { name: "asker" } },
      policy: { deniedCapabilities: ["grep"] },
    });
  });

  test("or not at all, where something that it requires is not permitted; each is named with what would permit it", async () => {
    const definition = asking(["exec", "mcp__a__c", "write", "edit", "read"]);
    const policy = {
      deniedCapabilities: ["write"],
      allowedCapabilities: ["exec", "write", "edit", "mcp__a__c"],
      approvals: { edit: "deny" as const },
    };
    expect(await refused({ definition, policy })).toMatchObject({
      code: "usage",
      message: [
        "the policy does not permit what the agent asker requires:",
        "  exec: give --allow-shell, or allowShell in the policy",
        "  mcp__a__c: give --allow-mcp, or allowMcp in the policy",
        "  write: take it out of the policy's deniedCapabilities",
        "  edit: let the policy's approvals not deny it",
        "  read: name it in the policy's allowedCapabilities",
      ].join("\n"),
    });
  });

  test("or not at all, where nothing offers a tool that it requires", async () => {
    const error = await refused({ definition: asking(["mcp__a__c"]), policy: { allowMcp: true } });
    expect(error).toMatchObject({ code: "usage", message: expect.stringContaining("mcp__a__c") as string });
  });
});

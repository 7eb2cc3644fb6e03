import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { stateDirectory, World } from "../crash/world.ts";
import { DiskError, type Host, noLocks } from "../../src/host/index.ts";
import { isHoldfastError } from "../../src/model/errors.ts";
import type { Fact, Row } from "../../src/model/facts.ts";
import { message, row } from "./builders.ts";
import { goOn } from "./go-on.ts";
import { heldSession, RealStage, temporaryDirectory } from "./real-stage.ts";

const root = temporaryDirectory({ inMemory: true });
afterAll(root.remove);
const ground = () => heldSession(root.path);

async function codeOf(attempt: Promise<unknown>): Promise<string> {
  return await attempt.then(
    () => "none",
    (error: unknown) => (isHoldfastError(error) ? error.code : `untyped ${String(error)}`),
  );
}

function kindsOf(path: string): string[][] {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return lines.map((line) => (JSON.parse(line) as { facts: Fact[] }).facts.map(({ kind }) => kind));
}

describe("the line that begins an epoch", () => {
  test("carries the row where its facts change one", async () => {
    const { stage, actor, session, log } = await ground();
    await actor.release();
    const asked: string[][] = [];
    const made = (facts: readonly Fact[]): Row | undefined => {
      asked.push(facts.map(({ kind }) => kind));
      return facts.some(({ kind }) => kind === "session.moved") ? row("moved") : undefined;
    };
    const first = stage.actor("here");
    await first.hold(session, { row: made });
    await first.release();
    expect(kindsOf(log).at(-2)).toEqual(["epoch.raised"]);
    const copy = stage.copiedTo(join(root.path, "copy"));
    copy.oracle.mayAdopt = true;
    const second = copy.actor("there");
    await second.hold(session, { row: made });
    await second.release();
    expect(kindsOf(copy.path(session, "log.jsonl")).at(-2)).toEqual(["epoch.raised", "session.moved", "row"]);
    expect(asked).toEqual([["epoch.raised"], ["epoch.raised", "session.moved"]]);
    await goOn(copy);
  });
});

describe("a repair", () => {
  test("is one stay: the lease that mends is the one that records it", async () => {
    const { stage, actor, session, log } = await ground();
    await actor.admit("a");
    await actor.abandon();
    appendFileSync(log, "torn");
    const queue = stage.path(session, "queue.jsonl");
    appendFileSync(queue, "torn, too");
    const taken: string[] = [];
    const counting = (host: Host): Host => ({
      ...host,
      locks: {
        tryLock: async (path, options) => {
          const lock = await host.locks.tryLock(path, options);
          if (lock !== undefined && path.endsWith("/lease")) taken.push(path);
          return lock;
        },
      },
    });
    const repairs = await stage.actor("repairer", counting).repair(session);
    expect(repairs.map(({ file, repaired }) => [file, repaired?.action])).toEqual([
      ["log", "cut"],
      ["queue", "cut"],
    ]);
    expect(taken).toHaveLength(1);
    expect(kindsOf(log).slice(-2)).toEqual([["epoch.raised", "repaired"], ["lease.released"]]);
    expect(kindsOf(queue).at(-1)).toEqual(["epoch.raised", "repaired"]);
    await goOn(stage);
  });

  test("of a sound session writes nothing", async () => {
    const { stage, actor, session, log } = await ground();
    await actor.release();
    const before = readFileSync(log);
    const repairs = await stage.actor("repairer").repair(session);
    expect(repairs).toEqual([{ file: "log" }, { file: "queue" }]);
    expect(readFileSync(log)).toEqual(before);
  });
});

describe("a good-bye that the disk does not take", () => {
  test.each([
    ["the line", "log.jsonl"],
    ["the head", "head"],
  ])("(%s) lets the session go all the same, and still under the append lock", async (_name, file) => {
    const world = new World();
    const actor = world.actor("worker");
    const session = await actor.create();
    await actor.hold();
    await actor.say("one");
    const path = `${stateDirectory}/sessions/${session}/${file}`;
    world.disk.fault = (effect) =>
      effect.verb === "write" && effect.path === path ? { code: "ENOSPC" } : undefined;
    expect(await actor.release()).toBe(true);
    world.disk.fault = undefined;
    expect(await world.actor("reader").store.isHeld(session)).toBe(false);
    await goOn(world);
  });
});

describe("a log with the line that head names at another place", () => {
  test("is not the one that was known, until a person accepts that", async () => {
    const { stage, actor, session, log } = await ground();
    await actor.release();
    const lines = readFileSync(log).toString().trimEnd().split("\n");
    // A copy of a line that stands there already is void, and moves what is behind it.
    const changed = [...lines.slice(0, -1), lines[2], ...lines.slice(-1)].join("\n");
    writeFileSync(log, `${changed}\n`);
    expect(await codeOf(stage.actor("next").hold(session))).toBe("rolled_back");
    expect(readFileSync(log, "utf8")).toBe(`${changed}\n`);
    const accepting = stage.actor("accepting");
    await accepting.hold(session, { acceptRollback: true });
    await accepting.release();
    const later = stage.actor("later");
    await later.hold(session);
    await later.release();
  });
});

describe("a message that is there already", () => {
  test("is refused where anything that happened with it is another, and found where only the row is", async () => {
    const { actor, log } = await ground();
    const facts: Fact[] = [
      message("three"),
      { kind: "run.created", run: "run_1", message: message("three").id },
    ];
    const first = await actor.held.append([...facts, row("three")]);
    const size = readFileSync(log).length;
    expect(await actor.held.append(facts)).toEqual(first);
    expect(await codeOf(actor.held.append([message("three")]))).toBe("message_id_conflict");
    expect(readFileSync(log).length).toBe(size);
    await actor.release();
  });
});

describe("what a write that fails in the middle of work says", () => {
  test.each(["ENOSPC", "EIO"])(
    "(%s) tells nobody to run a command again: it would be done twice",
    async (code) => {
      for (const verb of ["write", "sync", "read", "statFile"] as const) {
        const world = new World();
        const actor = world.actor("worker");
        await actor.create();
        await actor.hold();
        await actor.say("one");
        world.disk.fault = (effect) =>
          effect.verb === verb && effect.path.endsWith("log.jsonl") ? { code } : undefined;
        const error: unknown = await actor.say("two").catch((reason: unknown) => reason);
        if (!isHoldfastError(error)) throw new Error(`${verb}: no typed error`);
        expect(error.details.hint ?? "", verb).not.toMatch(/again/);
      }
    },
  );
});

describe("a system without locks", () => {
  const lockless = (host: Host): Host => ({
    ...host,
    locks: { tryLock: async (path) => await Promise.reject(new DiskError(noLocks, "lock", path)) },
  });

  test("is refused as unsafe before a session or a store is made; what is there can be read", async () => {
    const stage = new RealStage(join(root.path, "without-locks"));
    expect(await codeOf(stage.actor("new", lockless).create())).toBe("unsafe_storage");
    expect(existsSync(stage.directory)).toBe(false);
    const { stage: made, actor, session } = await ground();
    await actor.release();
    const reader = made.actor("reader", lockless);
    expect(await codeOf(reader.create())).toBe("unsafe_storage");
    expect(await codeOf(reader.hold(session))).toBe("unsafe_storage");
    expect(await reader.store.isHeld(session)).toBe(false);
    expect((await reader.store.readStrictly(session, () => undefined)).remainder.state).toBe("none");
  });
});

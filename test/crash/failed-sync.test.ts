import { describe, expect, test } from "vitest";
import { isHoldfastError } from "../../src/model/errors.ts";
import type { Fact } from "../../src/model/facts.ts";
import { compare, goOn } from "../store/go-on.ts";
import type { Effect, Fault } from "./memory-disk.ts";
import type { Actor } from "../store/actor.ts";
import { stateDirectory, World } from "./world.ts";

/** After a sync that failed, reads show the bytes and the disk lacks them, for good. */

async function heldSession(): Promise<{
  world: World;
  actor: Actor;
  log: string;
  queue: string;
  head: string;
}> {
  const world = new World();
  const actor = world.actor("holder");
  const session = await actor.create();
  await actor.hold();
  await actor.say("one");
  await actor.admit("waiting");
  const folder = `${stateDirectory}/sessions/${session}`;
  return { world, actor, log: `${folder}/log.jsonl`, queue: `${folder}/queue.jsonl`, head: `${folder}/head` };
}

async function codeOf(attempt: Promise<unknown>): Promise<string> {
  return await attempt.then(
    () => "none",
    (error: unknown) => (isHoldfastError(error) ? error.code : `untyped ${String(error)}`),
  );
}

const eio: Fault = { code: "EIO" };
type Fails = (effect: Effect) => boolean;
const when =
  (...rules: Fails[]) =>
  (effect: Effect): Fault | undefined =>
    rules.some((rule) => rule(effect)) ? eio : undefined;
const once = (rule: Fails): Fails => {
  let isOver = false;
  return (effect) => {
    if (isOver || !rule(effect)) return false;
    isOver = true;
    return true;
  };
};
const syncOf =
  (path: string): Fails =>
  (effect) =>
    effect.verb === "sync" && effect.path === path;
const cutOf =
  (path: string): Fails =>
  (effect) =>
    effect.verb === "cutTail" && effect.path === path;
const anyOf =
  (path: string): Fails =>
  (effect) =>
    effect.path === path && effect.verb !== "lock" && effect.verb !== "unlock";

/** What holds once an effect of the first kind was asked for. */
function after(world: World, first: Fails, then: Fails): Fails {
  const start = world.disk.effects.length;
  return (effect) => then(effect) && world.disk.effects.slice(start, effect.index).some(first);
}

function textOf(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? "").toString();
}

/** A power cut that takes all that was not synced; then everything that was acknowledged must be there. */
async function goOnAfterPowerCut(world: World): Promise<void> {
  await goOn(world.crashed());
}

describe.each(["log", "queue"] as const)("a sync of the %s that fails", (file) => {
  const append = (actor: Actor, text: string) => (file === "log" ? actor.say(text) : actor.admit(text));

  test("costs the line and nothing else where the line can be cut: the same process goes on", async () => {
    const { world, actor, [file]: path } = await heldSession();
    world.disk.fault = when(once(syncOf(path)));
    expect(await codeOf(append(actor, "lost"))).toBe("io_error");
    expect(textOf(world.disk.peek(path))).not.toContain("lost");
    await append(actor, "two");
    await append(actor, "lost");
    await actor.release();
    await goOn(world.killed());
    await goOnAfterPowerCut(world);
  });

  test("closes the file for everybody where the line cannot be cut, though it can be read", async () => {
    const { world, actor, [file]: path } = await heldSession();
    world.disk.fault = when(once(syncOf(path)), cutOf(path));
    expect(await codeOf(append(actor, "unsure"))).toBe("durability_unknown");
    world.disk.fault = undefined;
    expect(await codeOf(append(actor, "more"))).toBe("durability_unknown");
    expect(textOf(world.disk.peek(path))).toContain("unsure");
    expect(textOf(world.disk.peekDurable(path))).not.toContain("unsure");
    const again = world.killed();
    for (const attempt of ["first", "second"]) {
      const next = again.actor(attempt);
      if (file === "log") expect(await codeOf(next.hold(actor.session))).toBe("durability_unknown");
      else expect(await codeOf(next.admit("more", actor.session))).toBe("durability_unknown");
    }
    await goOnAfterPowerCut(again);
  });

  test("is settled by another mount", async () => {
    const { world, actor, [file]: path } = await heldSession();
    world.disk.fault = when(once(syncOf(path)), cutOf(path));
    expect(await codeOf(append(actor, "unsure"))).toBe("durability_unknown");
    // A disk that was unmounted has only what was synced.
    const remounted = new World(world.disk.crash(), world.oracle, world.boot);
    remounted.disk.mount = { type: "memory", trusted: true, mountId: "2" };
    await goOn(remounted);
  });

  test("is settled by a repair, which keeps what can be read", async () => {
    const { world, actor, [file]: path } = await heldSession();
    world.disk.fault = when(once(syncOf(path)), cutOf(path));
    expect(await codeOf(append(actor, "unsure"))).toBe("durability_unknown");
    const again = world.killed();
    const repairer = again.actor("repairer");
    const repairs = await repairer.repair(actor.session);
    expect(repairs.find((repair) => repair.file === file)?.repaired?.action).toBe("copied");
    expect(textOf(again.disk.peekDurable(path))).toContain("unsure");
    expect((await repairer.repair(actor.session)).every(({ repaired }) => repaired === undefined)).toBe(true);
    await goOn(again);
    await goOnAfterPowerCut(again);
  });

  test("costs the line and nothing else where only the note cannot be written", async () => {
    const { world, actor, [file]: path, head } = await heldSession();
    world.disk.fault = when(once(syncOf(path)), after(world, syncOf(path), anyOf(head)));
    expect(await codeOf(append(actor, "lost"))).toBe("io_error");
    world.disk.fault = undefined;
    await append(actor, "two");
    await goOn(world.killed());
    await goOnAfterPowerCut(world);
  });

  test("leaves no note that outlives the cut, also where taking it back fails at first", async () => {
    const { world, actor, [file]: path, head } = await heldSession();
    const cut = { isDone: false };
    world.disk.fault = (effect) => {
      if (cutOf(path)(effect)) cut.isDone = true;
      if (cut.isDone && effect.verb === "write" && effect.path === head) return eio;
      return effect.verb === "sync" && effect.path === path && !cut.isDone ? eio : undefined;
    };
    expect(await codeOf(append(actor, "lost"))).toBe("io_error");
    expect(await codeOf(append(actor, "still not"))).toBe("io_error");
    world.disk.fault = undefined;
    await append(actor, "two");
    await goOn(world.killed());
    await goOnAfterPowerCut(world);
  });

  test.each([
    ["neither note nor cut can be made", (head: string): Fails => anyOf(head)],
    [
      "nothing at all can be done after it",
      (): Fails =>
        ({ verb }) =>
          verb !== "lock" && verb !== "unlock",
    ],
  ])("in this process ends it where %s; only that process knows", async (_name, failing) => {
    const { world, actor, [file]: path, head } = await heldSession();
    world.disk.fault = when(once(syncOf(path)), after(world, syncOf(path), failing(head)), cutOf(path));
    expect(await codeOf(append(actor, "unsure"))).toBe("durability_unknown");
    world.disk.fault = undefined;
    expect(await codeOf(append(actor, "more"))).toBe("durability_unknown");
    // Nor does the process forget it when it begins anew.
    await actor.abandon();
    const anew = file === "log" ? actor.hold() : actor.admit("more");
    expect(await codeOf(anew)).toBe("durability_unknown");
    // The power cut takes the line that was never acknowledged, and nothing stands behind it.
    await goOnAfterPowerCut(world);
  });

  test("and a kill before anything was noted is the one case that nothing can know of", async () => {
    const { world, actor, [file]: path } = await heldSession();
    world.disk.fault = when(once(syncOf(path)));
    const killed = new Promise<World>((resolve) => {
      world.disk.gate = (effect) => {
        const before = world.disk.effects[effect.index - 1];
        if (before === undefined || !syncOf(path)(before)) return undefined;
        resolve(world.killed());
        return new Promise(() => undefined);
      };
    });
    void append(actor, "unsure");
    const again = await killed;
    // It reads as whole, so the next process goes on behind it.
    await goOn(again);
    // Documented residual: the remount shows a hole, and it is told as damage, never as a shorter history.
    const expected = file === "log" ? "log_damaged" : "queue_damaged";
    const next = again.crashed().actor("next");
    if (file === "log") expect(await codeOf(next.hold(actor.session))).toBe(expected);
    else expect(await codeOf(next.admit("more", actor.session))).toBe(expected);
  });
});

describe("a sync that fails for lines of somebody else", () => {
  test.each(["log", "queue"] as const)("in the %s acknowledges nothing behind them", async (file) => {
    const { world, actor, [file]: path } = await heldSession();
    const died = new Promise<void>((resolve) => {
      world.disk.gate = (effect) => {
        if (!syncOf(path)(effect)) return undefined;
        resolve();
        return new Promise(() => undefined);
      };
    });
    void (file === "log" ? actor.say("unsynced") : actor.admit("unsynced"));
    await died;
    const again = world.killed();
    again.disk.fault = when(once(syncOf(path)));
    const next = again.actor("next");
    const code = await codeOf(file === "log" ? next.hold(actor.session) : next.admit("two", actor.session));
    expect(code).toBe("durability_unknown");
    again.disk.fault = undefined;
    expect(await codeOf(next.hold(actor.session))).toBe(file === "log" ? "durability_unknown" : "none");
    await goOnAfterPowerCut(again);
    const repaired = again.killed();
    repaired.oracle.mayRepair = true;
    await goOn(repaired);
    await goOnAfterPowerCut(repaired);
  });

  test.each(["log", "queue"] as const)(
    "while the end of the %s is completed takes the line away",
    async (file) => {
      const { world, actor, [file]: path } = await heldSession();
      const bytes = world.disk.peek(path) ?? new Uint8Array();
      actor.die();
      world.oracle[file](actor.session).acknowledged.pop();
      world.disk.plant(path, bytes.subarray(0, -1));
      const again = world.killed();
      again.disk.fault = when(once(syncOf(path)));
      const next = again.actor("next");
      expect(await codeOf(file === "log" ? next.hold(actor.session) : next.admit("two", actor.session))).toBe(
        "io_error",
      );
      again.disk.fault = undefined;
      expect(again.disk.files().some((name) => name.startsWith(`${stateDirectory}/recovery/`))).toBe(true);
      await goOn(again);
      await goOnAfterPowerCut(again);
      await compare(again, actor.session);
    },
  );

  test.each(["log", "queue"] as const)(
    "while the end of the %s is completed closes it where the line cannot be taken away either",
    async (file) => {
      const { world, actor, [file]: path } = await heldSession();
      const bytes = world.disk.peek(path) ?? new Uint8Array();
      actor.die();
      world.oracle[file](actor.session).acknowledged.pop();
      world.disk.plant(path, bytes.subarray(0, -1));
      const again = world.killed();
      again.disk.fault = when(once(syncOf(path)), cutOf(path));
      const take = (name: string) => {
        const next = again.actor(name);
        return codeOf(file === "log" ? next.hold(actor.session) : next.admit(name, actor.session));
      };
      expect(await take("first")).toBe("durability_unknown");
      again.disk.fault = undefined;
      expect(await take("second")).toBe("durability_unknown");
      await goOnAfterPowerCut(again);
    },
  );
});

describe("a line that cannot be seen any more after its sync", () => {
  test.each(["statFile", "stat", "read"] as const)(
    "(%s fails) ends the writer, and the next one finds it once",
    async (verb) => {
      const { world, actor, log } = await heldSession();
      const renamed: Fact[] = [{ kind: "session.changed", title: "a new one" }];
      world.disk.fault = when(once(after(world, syncOf(log), (effect) => effect.verb === verb)));
      const size = world.disk.peek(log)?.length ?? 0;
      expect(await codeOf(actor.held.append(renamed))).toBe("io_error");
      world.disk.fault = undefined;
      expect(world.disk.peek(log)?.length).toBeGreaterThan(size);
      // Another append would repeat it for whoever believes that it failed.
      const end = world.disk.peek(log)?.length;
      expect(await codeOf(actor.held.append(renamed))).toBe("io_error");
      expect(world.disk.peek(log)?.length).toBe(end);
      await goOn(world.killed());
    },
  );
});

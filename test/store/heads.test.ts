import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { inOrder } from "../crash/in-order.ts";
import { stateDirectory, World } from "../crash/world.ts";
import { isHoldfastError } from "../../src/model/errors.ts";
import { encodeHead, type HeadRecord } from "../../src/store/head-file.ts";
import { goOn } from "./go-on.ts";
import { RealStage, temporaryDirectory } from "./real-stage.ts";

const root = temporaryDirectory({ inMemory: true });
afterAll(root.remove);
let count = 0;

async function codeOf(attempt: Promise<unknown>): Promise<string> {
  return await attempt.then(
    () => "none",
    (error: unknown) => (isHoldfastError(error) ? error.code : `untyped ${String(error)}`),
  );
}

describe("a head that says nothing", () => {
  test.each([
    ["is missing a byte", (head: Buffer) => head.subarray(0, -1)],
    ["is empty", () => Buffer.alloc(0)],
    ["is zeros", (head: Buffer) => Buffer.alloc(head.length)],
    [
      "has a changed byte",
      (head: Buffer) => Buffer.from(head.toString("latin1").replace('"seq":4', '"seq":9'), "latin1"),
    ],
    [
      "is of another session",
      (head: Buffer) => Buffer.from(head.toString("latin1").replace(/ses_.{4}/, "ses_0000"), "latin1"),
    ],
  ])("because it %s closes nothing", async (_name, change) => {
    const stage = new RealStage(join(root.path, `state-${count++}`));
    const actor = stage.actor("before");
    const session = await actor.create();
    await actor.hold();
    await actor.say("one");
    await actor.say("two");
    await actor.release();
    const head = stage.path(session, "head");
    const before = readFileSync(head);
    expect(before.length).toBe(512);
    writeFileSync(head, change(before));
    await goOn(stage);
    // A clean end writes it anew.
    expect(readFileSync(head).toString("latin1")).toContain('"seq":7');
  });
});

describe("a head that was written at a clean end", () => {
  test("is on disk after a power cut, so that a log that was put back is noticed", async () => {
    const world = new World();
    const actor = world.actor("before");
    const session = await actor.create();
    await actor.hold();
    const log = `${stateDirectory}/sessions/${session}/log.jsonl`;
    const backup = world.disk.peek(log) ?? "";
    await actor.say("one");
    await actor.release();
    const after = world.crashed();
    after.disk.plant(log, backup);
    expect(await codeOf(after.actor("next").hold(session))).toBe("rolled_back");
  });
});

describe("a log that went on another way than head knows", () => {
  test("is told as rolled back, also where its lines are as long as those that are gone", async () => {
    const world = new World();
    const actor = world.actor("before");
    const session = await actor.create();
    const [known, other] = [world.killed(), world.killed()];
    for (const [one, text] of [
      [known, "one"],
      [other, "two"],
    ] as const) {
      const holder = one.actor("holder");
      await holder.hold(session);
      await holder.say(text);
      await holder.release();
    }
    const head = `${stateDirectory}/sessions/${session}/head`;
    other.disk.plant(head, known.disk.peek(head) ?? "");
    expect(await codeOf(other.actor("next").hold(session))).toBe("rolled_back");
  });
});

/** A session whose `file` holds a line that could be neither synced nor cut, which is noted. */
async function noted(
  file: "log" | "queue",
  change: (world: World, head: string) => void,
): Promise<{ world: World; session: string }> {
  const world = new World();
  const actor = world.actor("holder");
  const session = await actor.create();
  await actor.hold();
  await actor.say("one");
  await actor.admit("waiting");
  change(world, `${stateDirectory}/sessions/${session}/head`);
  world.disk.fault = ({ verb, path }) =>
    verb === "cutTail" || (verb === "sync" && path.endsWith(`${file}.jsonl`)) ? { code: "EIO" } : undefined;
  const attempt = file === "log" ? actor.say("unsure") : actor.admit("unsure");
  expect(await codeOf(attempt)).toBe("durability_unknown");
  world.disk.fault = undefined;
  return { world: world.killed(), session };
}

describe("a note that bytes are unsure", () => {
  test.each(["log", "queue"] as const)(
    "(of the %s) holds also where there was no head, and closes nothing after a power cut",
    async (file) => {
      const { world, session } = await noted(file, ({ disk }, head) => disk.plant(head, ""));
      const next = world.actor("next");
      expect(await codeOf(file === "log" ? next.hold(session) : next.admit("no", session))).toBe(
        "durability_unknown",
      );
      await goOn(world.crashed());
    },
  );

  test("of the queue outlives an accepted rollback of the log", async () => {
    const { world, session } = await noted("queue", () => undefined);
    const log = `${stateDirectory}/sessions/${session}/log.jsonl`;
    const head = `${stateDirectory}/sessions/${session}/head`;
    const text = Buffer.from(world.disk.peek(head) ?? "").toString();
    expect(text).toContain("unsure");
    // As a clean end at a line would have it that the log has lost.
    const lines = Buffer.from(world.disk.peek(log) ?? "")
      .toString()
      .trimEnd()
      .split("\n");
    const last = JSON.parse(lines.at(-1) ?? "{}") as { seq: number; sum: string; epoch: number };
    const bytes = Buffer.from(world.disk.peek(log) ?? "").length;
    const record = JSON.parse(text) as HeadRecord;
    world.disk.plant(head, encodeHead({ ...record, seq: last.seq, sum: last.sum, bytes, epoch: last.epoch }));
    world.disk.plant(log, `${lines.slice(0, -1).join("\n")}\n`);
    const holder = world.actor("holder");
    await holder.hold(session, { acceptRollback: true });
    await holder.abandon();
    expect(await codeOf(world.actor("sender").admit("no", session))).toBe("durability_unknown");
  });
});

describe("a full disk on which the holder's line and somebody's delivery fail at once", () => {
  test("leaves no note behind that would close the session, in whatever order the two go", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(1), { minLength: 40, maxLength: 80 }), async (choices) => {
        const world = new World();
        const holder = world.actor("holder");
        const session = await holder.create();
        await holder.hold();
        const sender = world.actor("sender");
        await sender.admit("before", session);
        world.disk.fault = ({ verb, path, bytes }) =>
          verb === "write" && path.endsWith(".jsonl") ? { short: (bytes ?? 0) >> 1 } : undefined;
        const codes = await inOrder(world, choices, () =>
          Promise.all([codeOf(holder.say("one")), codeOf(sender.admit("waiting", session))]),
        );
        world.disk.fault = undefined;
        expect(codes).toEqual(["disk_full", "disk_full"]);
        const head = Buffer.from(world.disk.peek(`${stateDirectory}/sessions/${session}/head`) ?? "");
        expect(head.toString()).not.toContain("unsure");
        await holder.say("one");
        await sender.admit("waiting", session);
        await goOn(world.killed());
      }),
      { numRuns: 60 },
    );
  });
});

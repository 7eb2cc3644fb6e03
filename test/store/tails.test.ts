import { readFileSync, writeFileSync, truncateSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { isHoldfastError } from "../../src/model/errors.ts";
import { goOn } from "./go-on.ts";
import { RealStage, temporaryDirectory } from "./real-stage.ts";

const root = temporaryDirectory({ inMemory: true });
afterAll(root.remove);
let count = 0;

interface Ground {
  readonly stage: RealStage;
  readonly session: string;
  readonly log: string;
}

/** A session with two messages whose holder has died, or has let go. */
async function ground(end: "killed" | "released"): Promise<Ground> {
  const stage = new RealStage(join(root.path, `state-${count++}`));
  const actor = stage.actor("before");
  const session = await actor.create();
  await actor.hold();
  await actor.say("one");
  await actor.say("two");
  if (end === "killed") await actor.abandon();
  else await actor.release();
  return { stage, session, log: stage.path(session, "log.jsonl") };
}

function everyByteOfTheLastLine(bytes: Buffer): number[] {
  const start = bytes.lastIndexOf(0x0a, bytes.length - 2) + 1;
  return Array.from({ length: bytes.length - start }, (_, index) => start + index);
}

function linesOf(path: string): Record<string, unknown>[] {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function refusal(attempt: Promise<unknown>): Promise<{ code: string; offset?: number }> {
  try {
    await attempt;
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    const offset = error.details.at?.offset;
    return { code: error.code, ...(offset !== undefined && { offset }) };
  }
  return { code: "none" };
}

/** All bytes of a directory, by path. */
function bytesOf(directory: string): Map<string, string> {
  const paths = readdirSync(directory, { recursive: true, encoding: "utf8" });
  const files = paths.filter((path) => statSync(join(directory, path)).isFile());
  return new Map(files.map((path) => [path, readFileSync(join(directory, path), "latin1")]));
}

describe("a log that is cut at any byte of its last line", () => {
  test("after a kill is recovered by whoever takes the lease, and the piece is kept", async () => {
    const { stage, session, log } = await ground("killed");
    const whole = readFileSync(log);
    const cuts = everyByteOfTheLastLine(whole);
    const [start = 0] = cuts;
    for (const cut of cuts) {
      writeFileSync(log, whole.subarray(0, cut));
      const actor = stage.actor("next");
      await actor.hold(session);
      await actor.abandon();
      const isComplete = cut === whole.length - 1;
      expect(actor.seen, `cut at ${cut}`).toEqual(isComplete ? ["one", "two"] : ["one"]);
      const facts = linesOf(log).at(-1)?.["facts"] as { kind: string; action: string; saved?: string }[];
      const [, repaired] = facts;
      if (cut === start) expect(repaired).toBeUndefined();
      else if (isComplete)
        expect(repaired).toMatchObject({ kind: "repaired", action: "newline", offset: start });
      else {
        expect(repaired).toMatchObject({
          kind: "repaired",
          action: "cut",
          offset: start,
          bytes: cut - start,
        });
        const kept = join(stage.directory, "recovery", repaired?.saved ?? "");
        expect(readFileSync(kept)).toEqual(whole.subarray(start, cut));
        const manifest: unknown = JSON.parse(readFileSync(`${kept}.json`, "utf8"));
        expect(manifest).toMatchObject({ session, file: "log", offset: start, bytes: cut - start });
        expect(statSync(kept).mode & 0o777).toBe(0o600);
      }
    }
    expect(cuts.length).toBeGreaterThan(100);
  });

  test("after a clean end is rolled back, until a person accepts that", async () => {
    const { stage, session, log } = await ground("released");
    const whole = readFileSync(log);
    const head = readFileSync(stage.path(session, "head"));
    const cuts = everyByteOfTheLastLine(whole);
    for (const cut of cuts) {
      writeFileSync(log, whole.subarray(0, cut));
      writeFileSync(stage.path(session, "head"), head);
      const before = readFileSync(log);
      expect(await refusal(stage.actor("next").hold(session)), `cut at ${cut}`).toEqual({
        code: "rolled_back",
      });
      expect(await refusal(stage.actor("repairer").repair(session))).toEqual({ code: "rolled_back" });
      expect(readFileSync(log)).toEqual(before);
      const actor = stage.actor("accepting");
      await actor.hold(session, { acceptRollback: true });
      await actor.abandon();
      const facts = linesOf(log).at(-1)?.["facts"] as { kind: string; seq?: number }[];
      expect(facts.at(-1)).toMatchObject({ kind: "rollback.accepted", headSeq: 4 });
      // Once is enough.
      const later = stage.actor("later");
      await later.hold(session);
      await later.abandon();
    }
  });

  test("holds no longer what was known of it, whole lines missing, and is told as rolled back", async () => {
    const { stage, session, log } = await ground("released");
    const whole = readFileSync(log);
    for (let end = whole.length; end > 0; end = whole.lastIndexOf(0x0a, end - 2) + 1) {
      truncateSync(log, end);
      if (end === whole.length) continue;
      expect((await refusal(stage.actor("next").hold(session))).code).toBe("rolled_back");
    }
  });

  test("with a queue that knows a higher epoch can still be written, whether or not a head knows it", async () => {
    for (const hasHead of [true, false]) {
      const { stage, session, log } = await ground("released");
      const early = readFileSync(log);
      for (const text of ["a", "b", "c"]) {
        const actor = stage.actor(text);
        await actor.hold(session);
        await actor.admit(text);
        await actor.release();
      }
      writeFileSync(log, early);
      if (!hasHead) rmSync(stage.path(session, "head"));
      const actor = stage.actor("accepting");
      const { epoch } = await actor.hold(session, { acceptRollback: hasHead });
      expect(epoch).toBe(5);
      await actor.admit("after the rollback");
      await actor.release();
      await goOn(stage);
    }
  });

  test("never counts an epoch twice that its head knows", async () => {
    const { stage, session, log } = await ground("released");
    const early = readFileSync(log);
    for (const text of ["a", "b"]) {
      const actor = stage.actor(text);
      await actor.hold(session);
      await actor.release();
    }
    writeFileSync(log, early);
    const { epoch } = await stage.actor("accepting").hold(session, { acceptRollback: true });
    expect(epoch).toBe(4);
  });

  test("has in each line that raises the epoch what no other one has", async () => {
    const { stage, session, log } = await ground("killed");
    for (const name of ["a", "b", "c"]) {
      const actor = stage.actor(name);
      await actor.hold(session);
      await actor.abandon();
    }
    const nonces = linesOf(log).flatMap(({ facts }) =>
      (facts as { nonce?: string }[]).flatMap(({ nonce }) => nonce ?? []),
    );
    expect(nonces.length).toBe(4);
    expect(new Set(nonces).size).toBe(4);
  });
});

describe("a queue that is cut in its last line", () => {
  test("is recovered by the next admission, whose line says so", async () => {
    const { stage, session } = await ground("killed");
    await stage.actor("a").admit("a", session);
    await stage.actor("b").admit("b", session);
    const queue = stage.path(session, "queue.jsonl");
    const whole = readFileSync(queue);
    const [start = 0] = everyByteOfTheLastLine(whole);
    for (const cut of [start + 1, start + 100, whole.length - 1]) {
      writeFileSync(queue, whole.subarray(0, cut));
      await stage.actor("next").admit(`after ${cut}`, session);
      const facts = linesOf(queue).at(-1)?.["facts"] as { kind: string; action?: string }[];
      const action = cut === whole.length - 1 ? "newline" : "cut";
      expect(facts[0]).toMatchObject({ kind: "repaired", action, offset: start, bytes: cut - start });
    }
  });
});

describe("one byte that changed", () => {
  test("anywhere before the last line closes the log for writing at that line, and leaves every byte", async () => {
    const { stage, session, log } = await ground("killed");
    const whole = readFileSync(log);
    const [lastLine = 0] = everyByteOfTheLastLine(whole);
    for (let offset = 3; offset < lastLine; offset += 97) {
      const changed = Buffer.from(whole);
      changed[offset] = (changed[offset] ?? 0) ^ 0x01;
      writeFileSync(log, changed);
      const before = bytesOf(join(stage.directory, "sessions"));
      const start = whole.lastIndexOf(0x0a, offset - 1) + 1;
      const told = await refusal(stage.actor("next").hold(session));
      // A newline that appears in the middle of a line ends it there, and one that vanishes joins two.
      expect(told.code, `byte ${offset}`).toBe("log_damaged");
      if (whole[offset] !== 0x0a && changed[offset] !== 0x0a) expect(told.offset).toBe(start);
      expect(await refusal(stage.actor("repairer").repair(session))).toMatchObject({
        code: "log_damaged",
      });
      const after = bytesOf(join(stage.directory, "sessions"));
      for (const [path, bytes] of before) {
        if (!path.endsWith("/lease")) expect(after.get(path) === bytes, path).toBe(true);
      }
    }
  });

  test("in the last line after a clean end is damage, not a piece to be cut", async () => {
    const { stage, session, log } = await ground("released");
    const whole = readFileSync(log);
    for (const offset of everyByteOfTheLastLine(whole).filter((_, index) => index % 9 === 0)) {
      const changed = Buffer.from(whole);
      changed[offset] = (changed[offset] ?? 0) ^ 0x01;
      writeFileSync(log, changed);
      const told = [
        await refusal(stage.actor("next").hold(session)),
        await refusal(stage.actor("repairer").repair(session)),
      ];
      expect(
        told.map(({ code }) => code),
        `byte ${offset}`,
      ).toEqual(["log_damaged", "log_damaged"]);
      expect(readFileSync(log)).toEqual(changed);
    }
  });

  test("in the queue closes the queue, and no repair touches the log before both are proven", async () => {
    const { stage, session, log } = await ground("killed");
    for (const text of ["a", "b", "c"]) await stage.actor(text).admit(text, session);
    const queue = stage.path(session, "queue.jsonl");
    const changed = readFileSync(queue);
    changed[40] = (changed[40] ?? 0) ^ 0x01;
    writeFileSync(queue, changed);
    const torn = readFileSync(log).subarray(0, -10);
    writeFileSync(log, torn);
    expect(await refusal(stage.actor("sender").admit("d", session))).toEqual({
      code: "queue_damaged",
      offset: 0,
    });
    expect((await refusal(stage.actor("repairer").repair(session))).code).toBe("queue_damaged");
    expect(readFileSync(queue)).toEqual(changed);
    expect(readFileSync(log)).toEqual(torn);
  });
});

describe("a message that is there already", () => {
  test("is found and not written again, also by a later holder; with other content it is refused", async () => {
    const { stage, session, log } = await ground("released");
    const actor = stage.actor("next");
    await actor.hold(session);
    const size = statSync(log).size;
    const found = await actor.say("one");
    expect(found.commit.seq).toBe(2);
    expect(readFileSync(log).subarray(found.offset, found.end).toString()).toContain('"text":"one"');
    const again = await Promise.all([actor.say("three"), actor.say("three"), actor.say("three")]);
    expect(new Set(again.map(({ offset }) => offset)).size).toBe(1);
    const other = await refusal(actor.say("one", new Uint8Array(10)));
    expect(other.code).toBe("message_id_conflict");
    expect(statSync(log).size).toBe((again[0]?.end ?? 0) - 0);
    expect(again[0]?.offset ?? 0).toBe(size);
    await actor.release();
    await goOn(stage);
  });
});

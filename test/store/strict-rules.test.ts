import { createHash } from "node:crypto";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { isHoldfastError } from "../../src/model/errors.ts";
import { encodeLine, readEnvelope } from "../../src/store/line.ts";
import { readPage } from "../../src/store/page.ts";
import type { AnyFact } from "./build-log.ts";
import { LogBuilder } from "./build-log.ts";
import { admitted, idOf, message, row } from "./builders.ts";
import { readAll } from "./read-all.ts";
import { heldSession, temporaryDirectory } from "./real-stage.ts";

const root = temporaryDirectory({ inMemory: true });
afterAll(root.remove);
const ground = () => heldSession(root.path);

interface Told {
  readonly code: string;
  readonly offset: number | undefined;
  readonly message: string;
}

async function refusal(attempt: Promise<unknown>): Promise<Told | undefined> {
  try {
    await attempt;
    return undefined;
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    return { code: error.code, offset: error.details.at?.offset, message: error.message };
  }
}

/** The line that would come next, sums right and all else as `change` says. */
function nextLine(bytes: Buffer, facts: readonly AnyFact[], change: Record<string, number> = {}): Buffer {
  const last = bytes.subarray(bytes.lastIndexOf(0x0a, bytes.length - 2) + 1);
  const envelope = readEnvelope(last);
  if (envelope === undefined) throw new Error("the last line does not verify");
  const { seq, sum, rec, rev, msgs, ...rest } = envelope;
  const counters = { rec: rec + (rec === 0 ? 0 : 1), rev, msgs, ...change };
  return Buffer.from(encodeLine({ ...rest, ...counters, seq: seq + 1, prev: sum }, facts));
}

/** Lines in an intact chain that no writer of ours would have written. */
const wrongLines: [string, (bytes: Buffer) => Buffer, RegExp][] = [
  ["has a wrong rec", (bytes) => nextLine(bytes, [{ kind: "lease.released" }], { rec: 77 }), /rec is 77/],
  [
    "has a wrong rev",
    (bytes) => nextLine(bytes, [{ kind: "lease.released" }], { rec: 2, rev: 9 }),
    /rev is 9/,
  ],
  [
    "has a wrong row",
    (bytes) => nextLine(bytes, [{ kind: "lease.released" }], { rec: 2, row: 5 }),
    /row is 5/,
  ],
  [
    "repeats a message",
    (bytes) => nextLine(bytes, [message("one")], { rec: 2, rev: 3, msgs: 3 }),
    /is there already/,
  ],
  [
    "rewinds to a line that is not there",
    (bytes) =>
      nextLine(bytes, [{ kind: "rewound", session: readEnvelope(firstLine(bytes))?.ses, seq: 99 }], {
        rec: 2,
      }),
    /a rewind names a line/,
  ],
  [
    "holds an illegal fact",
    (bytes) => nextLine(bytes, [{ kind: "row", title: 5 }], { rec: 2 }),
    /row: title/,
  ],
  ["holds no fact", (bytes) => nextLine(bytes, [], { rec: 2 }), /at least one fact/],
  ["holds a fact of a queue", (bytes) => nextLine(bytes, [admitted("x")], { rec: 2 }), /in a queue only/],
];

function firstLine(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.indexOf(0x0a) + 1);
}

describe("a last line without its newline", () => {
  test.each(wrongLines)(
    "that %s is damage with its place, and every byte stays",
    async (_name, make, why) => {
      const { stage, actor, session, log } = await ground();
      await actor.abandon();
      const whole = readFileSync(log);
      const changed = Buffer.concat([whole, make(whole).subarray(0, -1)]);
      writeFileSync(log, changed);
      for (const attempt of [
        () => stage.actor("next").hold(session),
        () => stage.actor("repairer").repair(session),
        () => stage.actor("reader").store.readStrictly(session, () => undefined),
      ]) {
        const told = await refusal(attempt());
        expect(told).toMatchObject({ code: "log_damaged", offset: whole.length });
        expect(told?.message).toMatch(why);
        expect(readFileSync(log)).toEqual(changed);
      }
    },
  );

  test("that is right is folded before anybody is asked, and completed after", async () => {
    const { stage, actor, session, log } = await ground();
    await actor.abandon();
    const whole = readFileSync(log);
    const next = nextLine(whole, [message("three")], { rec: 2, rev: 3, msgs: 3 });
    writeFileSync(log, Buffer.concat([whole, next.subarray(0, -1)]));
    const after = stage.actor("next");
    await after.hold(session, {
      accept: async () => {
        expect(after.seen).toEqual(["one", "two", "three"]);
        expect(readFileSync(log).length).toBe(whole.length + next.length - 1);
      },
    });
    expect(after.seen).toEqual(["one", "two", "three"]);
    expect(readFileSync(log).subarray(0, whole.length + next.length)).toEqual(Buffer.concat([whole, next]));
    await after.say("four");
    await after.release();
  });

  test("of which a page can tell that its facts or counters are wrong is damage there, too", async () => {
    const builder = new LogBuilder(idOf("ses", "page"));
    builder.add([message("one")]);
    const whole = Buffer.from(builder.bytes);
    for (const facts of [[{ kind: "row", title: 5 }], [admitted("x")], [{ kind: "lease.released" }]]) {
      const line = nextLine(whole, facts, { rec: 40 });
      const source = builder.source(Buffer.concat([whole, line.subarray(0, -1)]));
      const { damage } = await readAll(source);
      expect(damage).toMatchObject({ offset: whole.length });
      const page = await readPage(source, { recordsMin: 9 });
      expect(page.damage).toEqual(damage);
      expect(page.commits).toHaveLength(2);
    }
  });
});

describe("a writer that finds a line which it did not write", () => {
  test.each(wrongLines)("and that %s writes nothing behind it", async (_name, make) => {
    const { actor, log } = await ground();
    appendFileSync(log, make(readFileSync(log)));
    const before = readFileSync(log);
    expect(await refusal(actor.say("three"))).toMatchObject({ code: "fenced" });
    expect(readFileSync(log)).toEqual(before);
    await actor.abandon();
  });
});

describe("a line whose facts cannot be true after those before it", () => {
  const refuseTwo = ({ facts }: { facts: readonly AnyFact[] }) =>
    facts.some((fact) => fact.kind === "message" && fact["id"] === message("two").id) ? "no two" : undefined;

  test("ends a reading there with its place; a strict one and a holder refuse it, and every byte stays", async () => {
    const { stage, actor, session, log } = await ground();
    await actor.abandon();
    const whole = readFileSync(log);
    const offset = whole.lastIndexOf(0x0a, whole.length - 2) + 1;
    const { store } = stage.actor("reader");
    const seen: number[] = [];
    const { damage } = await store.readHistory(
      session,
      (commit) => refuseTwo(commit) ?? void seen.push(commit.seq),
    );
    expect(damage).toEqual({ file: log, line: 4, offset, reason: "no two" });
    expect(seen).toEqual([0, 1, 2]);
    const told = { code: "log_damaged", offset };
    expect(await refusal(store.readStrictly(session, refuseTwo))).toMatchObject(told);
    for (const bytes of [whole, whole.subarray(0, -1)]) {
      writeFileSync(log, bytes);
      expect(await refusal(stage.actor("next").hold(session, { visit: refuseTwo }))).toMatchObject(told);
      expect(await refusal(stage.actor("repairer").repair(session, { visit: refuseTwo }))).toMatchObject(
        told,
      );
      expect(readFileSync(log)).toEqual(bytes);
    }
  });

  test("ends the writer who wrote it", async () => {
    const { actor, session, stage, log } = await ground();
    await actor.abandon();
    const next = stage.actor("next");
    const id = message("three").id;
    await next.hold(session, {
      visit: ({ facts }) => (JSON.stringify(facts).includes(id) ? "no three" : undefined),
    });
    const offset = readFileSync(log).length;
    expect(await refusal(next.say("three"))).toMatchObject({ code: "log_damaged", offset });
    expect(await refusal(next.say("four"))).toMatchObject({ code: "log_damaged", offset });
    await next.abandon();
  });
});

describe("a queue", () => {
  async function queueGround() {
    const { stage, actor, session } = await ground();
    await actor.abandon();
    await stage.actor("sender").admit("a", session);
    return { stage, session, queue: stage.path(session, "queue.jsonl") };
  }

  test.each([
    ["counts records", (bytes: Buffer) => nextLine(bytes, [admitted("b")], { rec: 1 }), "queue_damaged"],
    ["points at a row", (bytes: Buffer) => nextLine(bytes, [admitted("b")], { row: 1 }), "queue_damaged"],
    ["holds a message", (bytes: Buffer) => nextLine(bytes, [message("b")]), "queue_damaged"],
    ["holds a row", (bytes: Buffer) => nextLine(bytes, [row("b")]), "queue_damaged"],
    ["holds what nobody knows", (bytes: Buffer) => nextLine(bytes, [{ kind: "goal.set" }]), undefined],
    ["is of a newer version", (bytes: Buffer) => newerLine(bytes), "unsupported_version"],
  ])("with a line that %s", async (_name, make, code) => {
    const { stage, session, queue } = await queueGround();
    const whole = readFileSync(queue);
    appendFileSync(queue, make(whole));
    const changed = readFileSync(queue);
    const attempts = [
      await refusal(stage.actor("reader").store.readQueue(session, () => undefined)),
      await refusal(stage.actor("sender").admit("c", session)),
    ];
    expect(attempts.map((told) => told?.code)).toEqual([code, code]);
    if (code === undefined) return;
    expect(attempts.map((told) => told?.offset)).toEqual([whole.length, whole.length]);
    expect(readFileSync(queue)).toEqual(changed);
  });
});

function newerLine(bytes: Buffer): Buffer {
  const line = nextLine(bytes, [admitted("b")]);
  const hashed = Buffer.from(line.subarray(0, -43).toString().replace('{"v":1', '{"v":2'));
  const sum = createHash("sha256").update(hashed).digest("hex").slice(0, 32);
  return Buffer.concat([hashed, Buffer.from(`,"sum":"${sum}"}\n`)]);
}

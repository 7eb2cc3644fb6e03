import { describe, expect, test } from "vitest";
import type { SendReport } from "../../src/engine/index.ts";
import {
  explainResume,
  listQueue,
  readOutlook,
  readSession,
  resume,
  runTask,
  send,
} from "../../src/engine/index.ts";
import { isHoldfastError } from "../../src/model/errors.ts";
import type { Fact } from "../../src/model/facts.ts";
import { evolveRow } from "../../src/model/row.ts";
import { EngineWorld } from "../crash/engine-world.ts";
import { changesDisk } from "../crash/memory-disk.ts";
import { examine, factsOf } from "./examine.ts";

const { workspace, model } = EngineWorld;
const key = "sk-very-secret-key-0123456789";
const refused = { error: { status: 401, message: "no" } };

function newWorld(...turns: unknown[]): EngineWorld {
  const world = new EngineWorld();
  world.disk.plant("/cassette.json", JSON.stringify({ cassette: 1, turns }));
  world.disk.plant("/project/a.txt", "a\n");
  return world;
}

async function begin(world: EngineWorld, task = "First."): Promise<string> {
  const request = { workspace, model, agent: "builtin", policy: {}, task };
  return (await runTask(world.engine(), request, world.observer(), () => undefined)).session;
}

async function leave(world: EngineWorld, text: string, options: { key?: string } = {}): Promise<SendReport> {
  const [selector = ""] = await world.engine().store.ids();
  return await send(world.engine(), { selector, text, ...options });
}

async function goOn(world: EngineWorld): Promise<string> {
  const [selector = ""] = await world.engine().store.ids();
  return (await resume(world.engine(), { selector, acceptRollback: false }, world.observer())).ending;
}

/** Appends a line to the log as a holder would. */
async function record(world: EngineWorld, session: string, fact: Fact): Promise<void> {
  const engine = world.engine();
  const { state } = await examine(engine, session);
  const held = await engine.store.hold(session, {
    version: "0",
    acceptRollback: false,
    visit: () => undefined,
    visitQueue: () => undefined,
  });
  await held.append([fact, evolveRow(state.row, fact) as Fact]);
  await held.release(() => true);
}

/** The text of the queue, or the error's code and reason. */
async function refusalOf(world: EngineWorld, request: Promise<unknown>): Promise<unknown[]> {
  const before = world.disk.files().map((path) => [path, world.text(path)]);
  try {
    await request;
    return ["nothing"];
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    const after = world.disk.files().map((path) => [path, world.text(path)]);
    const hasChanged = JSON.stringify(after) !== JSON.stringify(before);
    return [
      error.code,
      ...(error.details.reason === undefined ? [] : [error.details.reason]),
      ...(hasChanged ? ["changed"] : []),
    ];
  }
}

describe("a message that is sent", () => {
  test("is on disk before its sender is told its id, whatever dies after that", async () => {
    const world = newWorld({ text: "1" }, { text: "2" });
    const session = await begin(world);
    const { delivery } = await leave(world, "Second.");
    const later = world.crashed(() => "dropped");
    expect((await listQueue(later.engine(), { selector: session, all: false })).deliveries).toMatchObject([
      { id: delivery, text: "Second.", state: "admitted", source: "user" },
    ]);
    expect(await goOn(later)).toBe("completed");
    expect(factsOf(await examine(later.engine(), session), "run.created")).toHaveLength(2);
  });

  test.each([
    ["after a completed run", [{ text: "1" }, { text: "2" }], undefined],
    ["after a failed run", [{ calls: [{ tool: "read", args: { path: "a.txt" } }] }], "failed"],
    ["while a run is suspended", [refused, { text: "1" }], "suspended"],
  ])("%s waits, wakes nobody, and says why and what leads on", async (_, turns, reason) => {
    const world = newWorld(...turns);
    const session = await begin(world);
    const before = (await examine(world.engine(), session)).commits.length;
    const report = await leave(world, "Second.");
    const next = `holdfast resume ${session}`;
    expect(report).toMatchObject({ session, state: "admitted", live: false, next });
    expect(report.held?.reason).toBe(reason);
    const { commits } = await examine(world.engine(), session);
    expect(commits).toHaveLength(before);
    // The list, the page and the sender are told the same.
    const list = await listQueue(world.engine(), { selector: session, all: false });
    const outlook = await readOutlook(world.engine(), await readSession(world.engine(), session));
    expect([list.held, outlook.held]).toEqual([report.held, report.held]);
    expect(outlook.waiting).toBe(1);
  });

  test("while a process runs the session is that one's, which is told apart from one that died", async () => {
    const world = newWorld({ text: "1" }, { text: "2" });
    const sent: Promise<SendReport>[] = [];
    const dead: EngineWorld[] = [];
    const observer = {
      ...world.observer(),
      commit: async ({ facts }: { facts: readonly { kind: string }[] }) => {
        if (!facts.some(({ kind }) => kind === "model.requested") || sent.length > 0) return;
        sent.push(leave(world, "Second."));
        await sent[0];
        dead.push(world.killed());
      },
    };
    const request = { workspace, model, agent: "builtin", policy: {}, task: "First." };
    const { session, ending } = await runTask(world.engine(), request, observer, () => undefined);
    const report = await sent[0];
    expect(ending).toBe("completed");
    expect(report).toMatchObject({ live: true, underWay: true });
    expect([report?.held, report?.next]).toEqual([undefined, undefined]);
    expect(factsOf(await examine(world.engine(), session), "run.created")).toHaveLength(2);
    const [after] = dead;
    if (after === undefined) throw new Error("nobody died");
    expect((await leave(after, "Third.")).held).toMatchObject({ reason: "interrupted" });
  });

  test("again with its key is the same delivery and says how far that is; with another text it is refused", async () => {
    const world = newWorld({ text: "1" }, { text: "2" });
    await begin(world);
    const first = await leave(world, "Second.", { key: "k" });
    expect(await leave(world, "Second.", { key: "k" })).toEqual(first);
    const other = leave(world, "Other.", { key: "k" });
    await expect(other).rejects.toMatchObject({ code: "message_id_conflict" });
    expect(await goOn(world)).toBe("completed");
    const again = await leave(world, "Second.", { key: "k" });
    expect(again).toEqual({
      session: first.session,
      delivery: first.delivery,
      state: "acknowledged",
      live: false,
      underWay: false,
    });
  });

  test.each([
    ["long", `Second. ${"long ".repeat(9000)}`],
    ["no well-formed text", "Second \ud800 \udc00."],
    ["both", `\ud800${"long ".repeat(9000)}`],
  ])("that is %s is listed whole and reaches the conversation as it was listed", async (_, text) => {
    const world = newWorld({ text: "1" }, { text: "2" });
    const session = await begin(world);
    await leave(world, text, { key: "k" });
    expect((await leave(world, text, { key: "k" })).state).toBe("admitted");
    const [listed] = (await listQueue(world.engine(), { selector: session, all: false })).deliveries;
    expect(listed?.text).toBe(text.toWellFormed());
    expect(listed?.blob !== undefined).toBe(text.length > 1000);
    expect(await goOn(world)).toBe("completed");
    const { state } = await examine(world.engine(), session);
    const [part] = state.messages.at(-2)?.message.parts ?? [];
    if (part?.type !== "text") throw new Error("it is no text");
    expect(part.blob ?? part.text).toEqual(listed?.blob ?? text.toWellFormed());
    expect(part.original !== undefined).toBe(text !== text.toWellFormed());
  });

  test("with a secret in it, or in its key, is kept without that, and is known again by its key", async () => {
    const world = newWorld({ text: "1" });
    world.environment = { ANTHROPIC_API_KEY: key };
    await begin(world);
    const first = await leave(world, `Use ${key}.`, { key: `with ${key}` });
    expect((await leave(world, `Use ${key}.`, { key: `with ${key}` })).delivery).toBe(first.delivery);
    const holding = world.disk
      .files()
      .filter((path) => path.startsWith("/state") && world.text(path)?.includes(key));
    expect(holding).toEqual([]);
  });
});

describe("a message is refused, and nothing is written, where", () => {
  async function spoiled(spoil: (world: EngineWorld, session: string) => void | Promise<void>) {
    const world = newWorld({ text: "1" }, { text: "2" });
    const session = await begin(world);
    await leave(world, "Second.");
    await spoil(world, session);
    return { world, session };
  }

  /** Changes one byte in the middle of the first line. */
  const damage = (name: string) => (world: EngineWorld, session: string) => {
    const path = `/state/sessions/${session}/${name}.jsonl`;
    world.disk.plant(path, (world.text(path) ?? "").replace(/"kind":"/, '"kind":"x'));
  };
  const damageMiddle = (world: EngineWorld, session: string) => {
    const path = `/state/sessions/${session}/log.jsonl`;
    const lines = (world.text(path) ?? "").split("\n");
    world.disk.plant(path, lines.with(4, (lines[4] ?? "").replace(/\d/, "x")).join("\n"));
  };
  const cases: [string, (world: EngineWorld, session: string) => void | Promise<void>, unknown[]][] = [
    [
      "the session is archived",
      (world, session) => record(world, session, { kind: "session.changed", archived: true }),
      ["not_resumable", "archived"],
    ],
    [
      "the session was moved away",
      (world, session) => record(world, session, { kind: "session.moved", from: "a", to: "b", sealed: true }),
      ["not_resumable", "other-device"],
    ],
    ["the log is damaged", damage("log"), ["log_damaged"]],
    ["the queue is damaged", damage("queue"), ["queue_damaged"]],
    [
      "the log was put back to an older state",
      (world, session) => {
        const path = `/state/sessions/${session}/log.jsonl`;
        world.disk.plant(path, (world.text(path) ?? "").split("\n").slice(0, 3).join("\n") + "\n");
      },
      ["rolled_back"],
    ],
    [
      "the session is being deleted",
      (world, session) => world.disk.plant(`/state/tombstones/${session}.json`, "{}"),
      ["deleted"],
    ],
  ];
  test.each(cases)("%s", async (_, spoil, refusal) => {
    const { world, session } = await spoiled(spoil);
    expect(await refusalOf(world, send(world.engine(), { selector: session, text: "More." }))).toEqual(
      refusal,
    );
    // A resume is refused for the same, where it is not the queue alone.
    const again = resume(world.engine(), { selector: session, acceptRollback: false }, world.observer());
    await expect(again).rejects.toMatchObject({ code: refusal[0] });
  });

  test("it says nothing, goes to nobody, or has a key that is none", async () => {
    const { world, session } = await spoiled(() => undefined);
    const attempts: [object, string][] = [
      [{ text: " \n" }, "usage"],
      [{ selector: "ses_nobody" }, "not_found"],
      [{ key: "" }, "usage"],
      [{ key: "\ud800" }, "usage"],
      [{ key: "k".repeat(201) }, "usage"],
    ];
    for (const [members, code] of attempts) {
      const request = { selector: session, text: "More.", ...members };
      expect(await refusalOf(world, send(world.engine(), request))).toEqual([code]);
    }
  });

  test("an archived session is also damaged or held: that it is archived comes first", async () => {
    const archive: Fact = { kind: "session.changed", archived: true };
    for (const spoil of [damageMiddle, undefined]) {
      const { world, session } = await spoiled((world, session) => record(world, session, archive));
      const held =
        spoil === undefined
          ? await world.engine().store.hold(session, {
              version: "0",
              acceptRollback: false,
              visit: () => undefined,
              visitQueue: () => undefined,
            })
          : undefined;
      spoil?.(world, session);
      const request = { selector: session, acceptRollback: false };
      const told = { code: "not_resumable", details: { reason: "archived" } };
      await expect(send(world.engine(), { ...request, text: "x" })).rejects.toMatchObject(told);
      await expect(resume(world.engine(), request, world.observer())).rejects.toMatchObject(told);
      expect((await explainResume(world.engine(), request)).code).toBe("archived");
      await held?.abandon();
    }
  });
});

describe("the list of a queue", () => {
  test("shows what is open, next one first, and all of it where all is asked for; it changes nothing", async () => {
    const world = newWorld({ text: "1" }, { text: "2" });
    const session = await begin(world);
    const ids = [await leave(world, "Second."), await leave(world, "Third.")].map(({ delivery }) => delivery);
    const [second = "", third = ""] = ids;
    await world.engine().store.appendToQueue(
      session,
      () => undefined,
      (queue) => queue.append([{ kind: "delivery.moved", delivery: third, before: second }]),
    );
    const from = world.disk.effects.length;
    const open = await listQueue(world.engine(), { selector: session, all: false });
    const all = await listQueue(world.engine(), { selector: session, all: true });
    expect(world.disk.effects.slice(from).filter(changesDisk)).toEqual([]);
    expect(open.deliveries.map(({ id, state }) => [id, state])).toEqual([
      [third, "admitted"],
      [second, "admitted"],
    ]);
    expect(all.deliveries.map(({ state }) => state)).toEqual(["acknowledged", "admitted", "admitted"]);
    expect(all.next).toBe(`holdfast resume ${session}`);
  });

  test("tells of a message whose text is lost, before and after it is blocked for that, and hides no other", async () => {
    const world = newWorld({ text: "1" }, { text: "2" });
    const session = await begin(world);
    await leave(world, `Second. ${"long ".repeat(9000)}`);
    await leave(world, "Third.");
    const { queue } = await examine(world.engine(), session);
    const [blob] = [...queue.deliveries.values()].flatMap((one) => one.blob ?? []);
    world.disk.plant(`/state/sessions/${session}/blobs/${blob?.sha256}`, "other bytes");
    const list = () => listQueue(world.engine(), { selector: session, all: false });
    expect((await list()).deliveries).toMatchObject([
      { state: "admitted", text: "", reason: expect.stringContaining("cannot be read") as string },
      { state: "admitted", text: "Third." },
    ]);
    expect(await goOn(world)).toBe("completed");
    const { deliveries, held } = await list();
    expect(deliveries).toMatchObject([
      { state: "blocked", reason: expect.stringContaining("cannot be read") as string },
    ]);
    expect(held).toMatchObject({ reason: "blocked" });
    // Who resumes is told, too.
    const outlook = await readOutlook(world.engine(), await readSession(world.engine(), session));
    expect(outlook).toMatchObject({ waiting: 0, blocked: [{ delivery: deliveries[0]?.id }] });
    expect(await leave(world, "x")).toMatchObject({ state: "admitted" });
  });

  test("works where the log is damaged, and says that nobody gets to what waits", async () => {
    const world = newWorld({ text: "1" }, { text: "2" });
    const session = await begin(world);
    await leave(world, "Second.");
    const path = `/state/sessions/${session}/log.jsonl`;
    const lines = (world.text(path) ?? "").split("\n");
    world.disk.plant(
      path,
      lines.map((line, index) => (index === 5 ? line.replace(/\d/, "x") : line)).join("\n"),
    );
    const list = await listQueue(world.engine(), { selector: session, all: false });
    expect(list.deliveries).toMatchObject(
      [{ text: "First.", state: "acknowledged" }, { text: "Second." }].slice(1),
    );
    expect(list.next).toBe(`holdfast resume ${session} --explain`);
  });

  test("of a queue that is damaged is refused; the session's page says so and shows the rest", async () => {
    const world = newWorld({ text: "1" });
    const session = await begin(world);
    const path = `/state/sessions/${session}/queue.jsonl`;
    world.disk.plant(path, (world.text(path) ?? "").replace(/"kind":"/, '"kind":"x'));
    const list = listQueue(world.engine(), { selector: session, all: false });
    await expect(list).rejects.toMatchObject({ code: "queue_damaged" });
    const outlook = await readOutlook(world.engine(), await readSession(world.engine(), session));
    expect(outlook).toMatchObject({ waiting: 0, damaged: expect.stringMatching(/line 1, byte/) as string });
  });
});

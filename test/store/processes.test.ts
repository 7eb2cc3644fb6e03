import { execFileSync } from "node:child_process";
import {
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  writeFileSync,
  copyFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import type { Host } from "../../src/host/index.ts";
import { isHoldfastError } from "../../src/model/errors.ts";
import { goOn, compare } from "./go-on.ts";
import { RealStage, temporaryDirectory } from "./real-stage.ts";
import { Peers } from "./start-peer.ts";

const root = temporaryDirectory();
const peers = new Peers();
afterEach(() => peers.killAll());
afterAll(root.remove);
let count = 0;
const newStage = (): RealStage => new RealStage(join(root.path, `state-${count++}`));

async function refusal(attempt: Promise<unknown>): Promise<{ code: string; message: string }> {
  try {
    await attempt;
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    return { code: error.code, message: error.message };
  }
  return { code: "none", message: "" };
}

function bytesOf(directory: string): Map<string, string> {
  const paths = readdirSync(directory, { recursive: true, encoding: "utf8" });
  const files = paths.filter((path) => statSync(join(directory, path)).isFile());
  return new Map(files.map((path) => [path, readFileSync(join(directory, path), "latin1")]));
}

/** The disk's effects keep this process from hearing of others; this lets it. */
const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("two processes", () => {
  test("cannot hold one session: the second is told who does, and leaves every byte as it was", async () => {
    const stage = newStage();
    const holder = await peers.start({ directory: stage.directory });
    const { value: session } = (await holder.ask({ do: "create" })) ?? {};
    await holder.ask({ do: "hold" });
    await holder.ask({ do: "say", text: "one" });
    const before = bytesOf(stage.directory);
    const loser = await peers.start({ directory: stage.directory });
    const told = await loser.ask({ do: "hold", session: String(session) });
    expect(told?.code).toBe("busy");
    expect(told?.message).toContain(`process ${holder.pid} on ${hostname()}`);
    expect(bytesOf(stage.directory)).toEqual(before);
    expect(await refusal(stage.actor("this").hold(String(session)))).toMatchObject({ code: "busy" });
    expect((await holder.ask({ do: "say", text: "two" }))?.value).toBe(3);
    await holder.kill();
    const next = stage.actor("next");
    await next.hold(String(session));
    expect(next.seen).toEqual(["one", "two"]);
  });

  test("that admit to one queue at once both get in, and a holder sees what they admitted", async () => {
    const stage = newStage();
    const session = await stage.actor("before").create();
    const both = [
      await peers.start({ directory: stage.directory }),
      await peers.start({ directory: stage.directory }),
    ];
    const holder = stage.actor("holder");
    await holder.hold(session);
    const answers = both.map((peer, index) =>
      peer.ask({ do: "admitMany", session, text: `from ${index}`, count: 100 }),
    );
    expect(await Promise.all(answers)).toEqual([{ value: 100 }, { value: 100 }]);
    await holder.held.queue.transact(async () => undefined);
    expect(new Set(holder.seenQueue).size).toBe(200);
  });

  test("do not starve: an admission gets in between another process's admissions without a pause", async () => {
    const stage = newStage();
    const session = await stage.actor("before").create();
    const busy = await peers.start({ directory: stage.directory });
    const end = busy.ask({ do: "admitMany", session, text: "back to back", count: 600 });
    const waits: number[] = [];
    let isOver = false;
    void end.then(() => (isOver = true));
    while (!isOver && waits.length < 40) {
      const start = performance.now();
      // A wait of 2 s would be told as busy, and rejects.
      await stage.actor("sender").admit(`sent ${waits.length}`, session);
      waits.push(performance.now() - start);
      await breathe();
    }
    console.log(
      `${waits.length} admissions beside another process, longest ${Math.max(...waits).toFixed(0)} ms`,
    );
    expect(waits.length).toBeGreaterThan(10);
    expect((await end)?.value).toBe(600);
  });

  test("that look without a pause who is active never make a runner believe that somebody else is", async () => {
    const stage = newStage();
    const session = await stage.actor("before").create();
    const lookers = [
      await peers.start({ directory: stage.directory }),
      await peers.start({ directory: stage.directory }),
    ];
    const ends = lookers.map((looker) => looker.ask({ do: "probe", session, count: 30_000 }));
    let isOver = false;
    void Promise.all(ends).then(() => (isOver = true));
    let rounds = 0;
    while (!isOver && rounds < 300) {
      const runner = stage.actor("runner");
      await runner.hold(session);
      expect(await stage.actor("looker").store.isHeld(session)).toBe(true);
      await runner.abandon();
      rounds++;
      await breathe();
    }
    console.log(`${rounds} times the lease was taken beside two who look without a pause`);
    expect(rounds).toBeGreaterThan(10);
  });

  test("of which one is stopped, its lease broken and taken: it finds out and stops writing", async () => {
    const stage = newStage();
    const old = await peers.start({ directory: stage.directory });
    const session = String((await old.ask({ do: "create" }))?.value);
    await old.ask({ do: "hold" });
    await old.ask({ do: "say", text: "one" });
    old.signal("SIGSTOP");
    for (const name of ["lease", "alive"]) {
      copyFileSync(stage.path(session, name), stage.path(session, `${name}.new`));
      renameSync(stage.path(session, `${name}.new`), stage.path(session, name));
    }
    const next = stage.actor("next");
    await next.hold(session);
    await next.say("two");
    old.signal("SIGCONT");
    expect((await old.ask({ do: "say", text: "stale" }))?.code).toBe("fenced");
    expect((await old.ask({ do: "say", text: "still stale" }))?.code).toBe("fenced");
    await next.say("three");
    expect(next.seen).toEqual(["one", "two", "three"]);
    await next.release();
  });
});

test("a holder whose lease was taken from it finds out by the lock file alone, before it writes", async () => {
  const stage = newStage();
  const holder = stage.actor("holder");
  const session = await holder.create();
  await holder.hold();
  await holder.say("one");
  const lease = stage.path(session, "lease");
  copyFileSync(lease, `${lease}.new`);
  renameSync(`${lease}.new`, lease);
  const before = readFileSync(stage.path(session, "log.jsonl"));
  expect(await refusal(holder.say("two"))).toMatchObject({ code: "fenced" });
  expect(readFileSync(stage.path(session, "log.jsonl"))).toEqual(before);
  await holder.abandon();
  await compare(stage, session);
});

test("a holder whose log was replaced writes neither the old file nor the new one", async () => {
  const stage = newStage();
  const holder = stage.actor("holder");
  const session = await holder.create();
  await holder.hold();
  await holder.say("one");
  const log = stage.path(session, "log.jsonl");
  linkSync(log, `${log}.old`);
  copyFileSync(log, `${log}.new`);
  renameSync(`${log}.new`, log);
  const before = readFileSync(log);
  expect(await refusal(holder.say("two"))).toMatchObject({ code: "fenced" });
  expect(readFileSync(log)).toEqual(before);
  expect(readFileSync(`${log}.old`)).toEqual(before);
  await holder.abandon();
});

describe("a process that is killed", () => {
  test("at any effect of its work loses nothing that it was told of, and needs nobody to go on", async () => {
    const stage = newStage();
    const session = await stage.actor("before").create();
    const work = async (dieAt: number): Promise<"killed" | "done"> => {
      const peer = await peers.start({ directory: stage.directory, dieAt });
      const steps = [
        { do: "hold", session },
        { do: "say", text: `one ${dieAt}` },
        { do: "admit", text: `waiting ${dieAt}` },
        { do: "say", text: `two ${dieAt}` },
        { do: "release" },
      ];
      for (const step of steps) {
        const { text } = step;
        const file = step.do === "admit" ? stage.oracle.queue(session) : stage.oracle.log(session);
        if (text !== undefined) file.tried.add(text);
        const answer = await peer.ask(step);
        if (answer === undefined) return "killed";
        expect(answer.code).toBeUndefined();
        if (text !== undefined) file.acknowledged.push(text);
      }
      await peer.kill();
      return "done";
    };
    let kills = 0;
    while ((await work(kills)) === "killed") {
      await compareAfterKill(stage, session);
      kills++;
    }
    console.log(`${kills} kills, one before each effect`);
    expect(kills).toBeGreaterThan(10);
    await goOn(stage);
  });
});

/** Takes the lease as whoever comes next does, and lets go. */
async function compareAfterKill(stage: RealStage, session: string): Promise<void> {
  const actor = stage.actor("next");
  await actor.hold(session);
  await actor.held.queue.transact(async () => undefined);
  await actor.abandon();
  await compare(stage, session);
}

describe("a copied state directory", () => {
  test("is not written until it is adopted, and then its sessions move once", async () => {
    const stage = newStage();
    const actor = stage.actor("before");
    const session = await actor.create();
    await actor.hold();
    await actor.say("one");
    await actor.release();
    const copy = stage.copiedTo(`${stage.directory}-copy`);
    const before = bytesOf(copy.directory);
    for (const attempt of [
      copy.actor("a").hold(session),
      copy.actor("b").admit("no", session),
      copy.actor("c").create(),
      copy.actor("d").repair(session),
    ]) {
      expect(await refusal(attempt)).toMatchObject({ code: "store_copied" });
    }
    expect(bytesOf(copy.directory)).toEqual(before);
    // Reading needs no identity.
    await copy.actor("reader").store.readStrictly(session, () => undefined);
    const { from, to } = await copy.actor("adopter").store.adopt();
    expect(from).not.toBe(to);
    expect(await copy.actor("again").store.adopt()).toEqual({ from: to, to });
    await goOn(copy);
    await goOn(copy);
    const moves =
      readFileSync(copy.path(session, "log.jsonl"), "utf8").split('"kind":"session.moved"').length - 1;
    expect(moves).toBe(1);
    await goOn(stage);
  });

  test("has branches and blobs of its own, and its original goes on", async () => {
    const stage = newStage();
    const actor = stage.actor("before");
    await actor.create();
    await actor.hold();
    await actor.say("with a picture", new Uint8Array(5000).fill(7));
    await actor.release();
    const copy = stage.copiedTo(`${stage.directory}-copy`);
    await copy.actor("adopter").store.adopt();
    await goOn(copy);
    await goOn(stage);
  });
});

describe("a place that cannot be trusted or written", () => {
  const untrusted = (host: Host): Host => ({
    ...host,
    disk: { ...host.disk, fileSystem: async () => ({ type: "nfs4", trusted: false, mountId: "1" }) },
  });

  test("is refused before anything is made in it", async () => {
    const stage = newStage();
    const told = await refusal(stage.actor("a", untrusted).create());
    expect(told).toMatchObject({ code: "unsafe_storage" });
    expect(told.message).toContain("nfs4");
    expect(() => statSync(stage.directory)).toThrow("ENOENT");
  });

  test("is refused also where a store is there already", async () => {
    const stage = newStage();
    const session = await stage.actor("before").create();
    for (const attempt of [
      stage.actor("a", untrusted).hold(session),
      stage.actor("b", untrusted).admit("no", session),
      stage.actor("c", untrusted).store.adopt(),
    ]) {
      expect(await refusal(attempt)).toMatchObject({ code: "unsafe_storage" });
    }
  });

  test("that is mounted read-only can be read, and is refused for writing by a typed error", async (context) => {
    const stage = newStage();
    const actor = stage.actor("before");
    const session = await actor.create();
    await actor.hold();
    await actor.say("one");
    await actor.admit("waiting");
    await actor.release();
    const mounted = new RealStage(join(root.path, "read-only"), stage.oracle.copy());
    mkdirSync(mounted.directory);
    const unmount = tryToMount(context, ["--bind", "-o", "ro", stage.directory, mounted.directory]);
    try {
      await compare(mounted, session);
      expect(await mounted.actor("looker").store.isHeld(session)).toBe(false);
      for (const attempt of [
        mounted.actor("a").hold(session),
        mounted.actor("b").admit("no", session),
        mounted.actor("c").create(),
        mounted.actor("d").repair(session),
      ]) {
        const told = await refusal(attempt);
        expect(told.code).toBe("io_error");
        expect(told.message).toContain("EROFS");
      }
    } finally {
      unmount();
    }
    await goOn(stage);
  });
});

describe("a disk that fills up", () => {
  test("never damages a line that was acknowledged, and goes on when there is space", async (context) => {
    const directory = join(root.path, "small");
    mkdirSync(directory);
    const unmount = tryToMount(context, ["-t", "tmpfs", "-o", "size=256k", "tmpfs", directory]);
    try {
      const stage = new RealStage(join(directory, "state"));
      const ballast = join(directory, "ballast");
      writeFileSync(ballast, new Uint8Array(100 * 1024));
      const actor = stage.actor("holder");
      const session = await actor.create();
      await actor.hold();
      const { code, said } = await sayUntilFull(actor);
      expect(code).toBe("disk_full");
      expect(said).toBeGreaterThan(5);
      expect((await refusal(actor.admit("x".repeat(20_000)))).code).toBe("disk_full");
      await compare(stage, session);
      writeFileSync(ballast, "");
      // The same process goes on, and then another one.
      await actor.say("when there is space again");
      await actor.admit("as well");
      await actor.release();
      await goOn(stage);
      console.log(`${said} messages fitted`);
    } finally {
      unmount();
    }
  });
});

async function sayUntilFull(actor: ReturnType<RealStage["actor"]>): Promise<{ code: string; said: number }> {
  for (let said = 0; said < 1000; said++) {
    const { code } = await refusal(actor.say(`${said} ${"x".repeat(3000)}`));
    if (code !== "none") return { code, said };
  }
  return { code: "none", said: 1000 };
}

/** Mounts, or skips the test and says why; resolves to what unmounts. */
function tryToMount(context: { skip(note: string): void }, args: readonly string[]): () => void {
  const directory = args.at(-1) ?? "";
  try {
    execFileSync("mount", args, { stdio: "pipe" });
  } catch (error) {
    context.skip(`cannot mount here: ${String(error)}`);
  }
  return () => void execFileSync("umount", [directory]);
}

describe("a tombstone", () => {
  test("refuses every admission and every new holder, and lets the run that goes on come to its end", async () => {
    const stage = newStage();
    const holder = stage.actor("holder");
    const session = await holder.create();
    await holder.hold();
    await holder.admit("waiting");
    mkdirSync(join(stage.directory, "tombstones"));
    writeFileSync(join(stage.directory, "tombstones", `${session}.json`), "{}\n");
    const queue = readFileSync(stage.path(session, "queue.jsonl"));
    expect(await refusal(stage.actor("sender").admit("no", session))).toMatchObject({ code: "deleted" });
    expect(await refusal(holder.admit("no"))).toMatchObject({ code: "deleted" });
    expect(await refusal(stage.actor("repairer").repair(session))).not.toMatchObject({ code: "none" });
    expect(readFileSync(stage.path(session, "queue.jsonl"))).toEqual(queue);
    await holder.say("the end of the run");
    expect(await holder.held.release(() => false)).toBe(true);
    expect(await refusal(stage.actor("next").hold(session))).toMatchObject({ code: "deleted" });
    expect(await refusal(stage.actor("repairer").repair(session))).toMatchObject({ code: "deleted" });
  });
});

describe("a session that is not there", () => {
  test("is told as not found by every verb, and nothing is made of it", async () => {
    const stage = newStage();
    const other = newStage();
    const session = await other.actor("other").create();
    for (const attempt of [
      stage.actor("b").store.appendToQueue(
        session,
        () => undefined,
        async () => undefined,
      ),
      stage.actor("d").repair(session),
      stage.actor("d").store.find(session),
    ]) {
      const told = await refusal(attempt);
      expect(told.code).toBe("not_found");
      expect(told.message).toContain(stage.directory);
    }
    expect(() => statSync(stage.directory)).toThrow("ENOENT");
    expect(await refusal(stage.actor("a").hold(session))).toMatchObject({ code: "not_found" });
    expect(readdirSync(stage.directory)).toEqual(["state.json"]);
  });
});

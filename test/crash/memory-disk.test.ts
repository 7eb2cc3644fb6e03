import { describe, expect, test } from "vitest";
import { isDiskError, type Disk, type DiskFile } from "../../src/host/index.ts";
import { MemoryDisk, changesDisk, type Effect, type Fate } from "./memory-disk.ts";
import { memoryHost } from "./memory-host.ts";
import { LockTable, MemoryLocks } from "./memory-locks.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

function textOf(disk: MemoryDisk, path: string): string | undefined {
  const bytes = disk.peek(path);
  return bytes === undefined ? undefined : Buffer.from(bytes).toString("latin1");
}

/** A disk with the durable directory /d and the durable file /d/log that says "one". */
function diskWithLog(): MemoryDisk {
  const disk = new MemoryDisk();
  disk.plant("/d/log", "one");
  return disk;
}

async function append(disk: Disk, path: string, ...texts: string[]): Promise<DiskFile> {
  const file = await disk.open(path, "append");
  for (const text of texts) await file.write(encode(text));
  return file;
}

async function codeOf(effect: Promise<unknown>): Promise<string | undefined> {
  return effect.then(
    () => undefined,
    (error: unknown) => (isDiskError(error) ? error.code : String(error)),
  );
}

describe("content", () => {
  test("a power cut takes what was not synced and nothing else", async () => {
    const disk = diskWithLog();
    const file = await append(disk, "/d/log", " two");
    await file.sync();
    await file.write(encode(" three"));
    expect(textOf(disk, "/d/log")).toBe("one two three");
    expect(textOf(disk.crash(), "/d/log")).toBe("one two");
  });

  test("a kill takes nothing, and a power cut after it still takes what was not synced", async () => {
    const disk = diskWithLog();
    await append(disk, "/d/log", " two");
    const killed = disk.kill();
    expect(textOf(killed, "/d/log")).toBe("one two");
    expect(textOf(killed.crash(), "/d/log")).toBe("one");
  });

  test("what a killed process still writes reaches nobody", async () => {
    const disk = diskWithLog();
    const file = await append(disk, "/d/log");
    const killed = disk.kill();
    await file.write(encode(" two"));
    expect(textOf(killed, "/d/log")).toBe("one");
  });

  test.each<[string, readonly Fate[], string]>([
    ["all kept", ["kept", "kept"], "one-AAA-BBB"],
    ["the last dropped", ["kept", "dropped"], "one-AAA"],
    ["the first dropped, so that a hole of zeros stands there", ["dropped", "kept"], "one\0\0\0\0-BBB"],
    ["the last torn", ["kept", { torn: 2 }], "one-AAA-B"],
    ["the last replaced", ["kept", { instead: encode("??") }], "one-AAA??"],
  ])("a power cut leaves each write as chosen: %s", async (_name, fates, expected) => {
    const disk = diskWithLog();
    await append(disk, "/d/log", "-AAA", "-BBB");
    const crashed = disk.crash((_change, index) => fates[index] ?? "kept");
    expect(textOf(crashed, "/d/log")).toBe(expected);
  });

  test("garbage has the length of the write and not its bytes", async () => {
    const disk = diskWithLog();
    await append(disk, "/d/log", "-AAA");
    const text = textOf(
      disk.crash(() => "garbage"),
      "/d/log",
    );
    expect(text).toHaveLength(7);
    expect(text).toMatch(/^one/);
    expect(text).not.toBe("one-AAA");
  });

  test("an unsynced cut may come back", async () => {
    const disk = diskWithLog();
    const file = await disk.open("/d/log", "update");
    await file.truncate(1);
    expect(textOf(disk, "/d/log")).toBe("o");
    expect(textOf(disk.crash(), "/d/log")).toBe("one");
    await file.sync();
    expect(textOf(disk.crash(), "/d/log")).toBe("o");
  });

  test("what a failed sync lost no later sync brings, though it can be read", async () => {
    const disk = diskWithLog();
    const file = await append(disk, "/d/log", " two");
    disk.fault = ({ verb }) => (verb === "sync" ? { code: "EIO" } : undefined);
    expect(await codeOf(file.sync())).toBe("EIO");
    disk.fault = undefined;
    await file.sync();
    const again = await disk.open("/d/log", "append");
    await again.sync();
    expect(textOf(disk, "/d/log")).toBe("one two");
    expect(textOf(disk.kill(), "/d/log")).toBe("one two");
    expect(
      textOf(
        disk.crash(() => "kept"),
        "/d/log",
      ),
    ).toBe("one");
  });

  test("what is appended after a lost write leaves a hole, and rewriting the lost bytes heals it", async () => {
    const disk = diskWithLog();
    const file = await append(disk, "/d/log", " two");
    disk.fault = ({ verb }) => (verb === "sync" ? { code: "EIO" } : undefined);
    await codeOf(file.sync());
    disk.fault = undefined;
    await file.write(encode(" three"));
    await file.sync();
    expect(textOf(disk.crash(), "/d/log")).toBe("one\0\0\0\0 three");
    const rewriting = await disk.open("/d/log", "update");
    await rewriting.write(encode(" two"), 3);
    await rewriting.sync();
    expect(textOf(disk.crash(), "/d/log")).toBe("one two three");
  });

  test("a tail that was cut stays cut", async () => {
    const disk = diskWithLog();
    disk.plant("/d/lease", "");
    const guard = { path: "/d/lease", inode: disk.inodeOf("/d/lease") ?? "" };
    expect(await disk.cutTail({ path: "/d/log", size: 1, bytes: encode("ne"), guard })).toBe(true);
    expect(textOf(disk.crash(), "/d/log")).toBe("o");
  });
});

describe("names", () => {
  test("a new file that was synced is gone when its directory was not", async () => {
    const disk = diskWithLog();
    const file = await disk.open("/d/new", "create_append");
    await file.write(encode("new"));
    await file.sync();
    expect(textOf(disk.crash(), "/d/new")).toBeUndefined();
    await disk.syncDirectory("/d");
    expect(textOf(disk.crash(), "/d/new")).toBe("new");
  });

  test("a new name without its content is an empty file", async () => {
    const disk = diskWithLog();
    const file = await disk.open("/d/new", "create_append");
    await file.write(encode("new"));
    await disk.syncDirectory("/d");
    expect(textOf(disk.crash(), "/d/new")).toBe("");
  });

  test("a directory is gone with all that is in it until its parent is synced", async () => {
    const disk = diskWithLog();
    await disk.makeDirectory("/d/sub");
    const file = await disk.open("/d/sub/new", "create");
    await file.write(encode("new"));
    await file.sync();
    await disk.syncDirectory("/d/sub");
    expect(textOf(disk.crash(), "/d/sub/new")).toBeUndefined();
    await disk.syncDirectory("/d");
    expect(textOf(disk.crash(), "/d/sub/new")).toBe("new");
  });

  test("a rename that was not synced is undone whole: the old name is back, the replaced file too", async () => {
    const disk = diskWithLog();
    disk.plant("/d/next", "two");
    await disk.rename("/d/next", "/d/log");
    expect(disk.files()).toEqual(["/d/log"]);
    const lost = disk.crash();
    expect([textOf(lost, "/d/log"), textOf(lost, "/d/next")]).toEqual(["one", "two"]);
    const kept = disk.crash(() => "kept");
    expect([textOf(kept, "/d/log"), textOf(kept, "/d/next")]).toEqual(["two", undefined]);
  });

  test("a rename into another directory is durable when the new one is synced, not the old one", async () => {
    const disk = diskWithLog();
    disk.plant("/staging/log", "two");
    await disk.rename("/staging/log", "/d/two");
    await disk.syncDirectory("/staging");
    expect(disk.crash().files()).toEqual(["/d/log", "/staging/log"]);
    await disk.syncDirectory("/d");
    expect(disk.crash().files()).toEqual(["/d/log", "/d/two"]);
  });

  test("a file made and renamed before one sync is there under its new name only", async () => {
    const disk = diskWithLog();
    await (await disk.open("/d/.tmp", "create")).close();
    await disk.rename("/d/.tmp", "/d/done");
    await disk.syncDirectory("/d");
    expect(disk.crash().files()).toEqual(["/d/done", "/d/log"]);
    expect(disk.unsynced()).toEqual([]);
  });

  test("a removed file comes back until its directory is synced", async () => {
    const disk = diskWithLog();
    await disk.remove("/d/log");
    expect(textOf(disk, "/d/log")).toBeUndefined();
    expect(textOf(disk.crash(), "/d/log")).toBe("one");
    await disk.syncDirectory("/d");
    expect(textOf(disk.crash(), "/d/log")).toBeUndefined();
  });

  test("names share their content through a crash, and the count of links is right after it", async () => {
    const disk = diskWithLog();
    await disk.link("/d/log", "/d/base");
    const before = await disk.stat("/d/log");
    expect(before?.links).toBe(2);
    expect((await disk.crash().stat("/d/log"))?.links).toBe(1);
    await disk.syncDirectory("/d");
    const crashed = disk.crash();
    const after = await crashed.stat("/d/base");
    expect(after).toMatchObject({ links: 2, inode: before?.inode, birthtimeNs: before?.birthtimeNs });
    const file = await append(crashed, "/d/log", " two");
    await file.sync();
    expect(textOf(crashed.crash(), "/d/base")).toBe("one two");
  });

  test("an inode's number is given again, but never while a power cut, a descriptor or a lock keeps the old file", async () => {
    const disk = diskWithLog();
    const locks = new MemoryLocks(disk, new LockTable());
    const inode = disk.inodeOf("/d/log");
    const born = (await disk.stat("/d/log"))?.birthtimeNs;
    const newNumber = async (name: string): Promise<string | undefined> => {
      await (await disk.open(`/d/${name}`, "create")).close();
      await disk.syncDirectory("/d");
      return disk.inodeOf(`/d/${name}`);
    };
    const file = await disk.open("/d/log", "read");
    const lock = await locks.tryLock("/d/log", { shared: true });
    await disk.remove("/d/log");
    await disk.syncDirectory("/d");
    expect(await newNumber("one")).not.toBe(inode);
    await file.close();
    expect(await newNumber("two")).not.toBe(inode);
    await lock?.release();
    expect(await newNumber("three")).toBe(inode);
    expect((await disk.stat("/d/three"))?.birthtimeNs).not.toBe(born);

    await disk.remove("/d/three");
    await (await disk.open("/d/four", "create")).close();
    expect(disk.inodeOf("/d/four")).not.toBe(inode);
    const back = disk.crash();
    expect(back.inodeOf("/d/three")).toBe(inode);
    await (await back.open("/d/five", "create")).close();
    expect(back.inodeOf("/d/five")).not.toBe(inode);
  });

  test("every choice for every change leads to a disk that can be used", async () => {
    const disk = diskWithLog();
    const file = await disk.open("/d/new", "create_append");
    await file.write(encode("new"));
    await disk.rename("/d/new", "/d/log");
    await disk.link("/d/log", "/d/link");
    await disk.remove("/d/log");
    const count = disk.unsynced().length;
    expect(count).toBe(5);
    for (let bits = 0; bits < 2 ** count; bits += 1) {
      const crashed = disk.crash((_change, index) => ((bits >> index) & 1 ? "kept" : "dropped"));
      for (const path of crashed.files()) expect((await crashed.stat(path))?.links).toBeGreaterThan(0);
      await (await crashed.open("/d/after", "create")).close();
      expect(crashed.unsynced()).toHaveLength(1);
    }
  });
});

describe("effects, faults and the gate", () => {
  test("every effect is told in order with what it is", async () => {
    const disk = diskWithLog();
    const file = await append(disk, "/d/log", " two");
    await file.sync();
    await file.close();
    await disk.rename("/d/log", "/d/old");
    expect(disk.effects).toMatchObject([
      { index: 0, process: "main", verb: "open", path: "/d/log" },
      { index: 1, verb: "write", bytes: 4 },
      { index: 2, verb: "sync" },
      { index: 3, verb: "close" },
      { index: 4, verb: "rename", path: "/d/log", to: "/d/old" },
    ]);
    expect(disk.effects.filter(changesDisk).map((effect) => effect.verb)).toEqual([
      "write",
      "sync",
      "rename",
    ]);
  });

  test("a full disk takes a part of a write and may say so or not", async () => {
    const disk = diskWithLog();
    const file = await append(disk, "/d/log");
    disk.fault = ({ verb }) => (verb === "write" ? { short: 2 } : undefined);
    expect(await file.write(encode("abcd"))).toBe(2);
    disk.fault = ({ verb }) => (verb === "write" ? { short: 1, code: "ENOSPC" } : undefined);
    expect(await codeOf(file.write(encode("abcd")))).toBe("ENOSPC");
    expect(textOf(disk, "/d/log")).toBe("oneaba");
  });

  test("an effect can happen and be reported as failed", async () => {
    const disk = diskWithLog();
    const file = await append(disk, "/d/log", " two");
    disk.fault = ({ verb }) => (verb === "sync" ? { afterwards: "EIO" } : undefined);
    expect(await codeOf(file.sync())).toBe("EIO");
    expect(textOf(disk.crash(), "/d/log")).toBe("one two");
  });

  test("the gate decides the order of several processes", async () => {
    const disk = diskWithLog();
    const waiting: { effect: Effect; open: () => void }[] = [];
    disk.gate = (effect) => new Promise((open) => waiting.push({ effect, open }));
    const done = Promise.all([append(disk.view("a"), "/d/log", "A"), append(disk.view("b"), "/d/log", "B")]);
    const order: string[] = [];
    for (const process of ["a", "b", "b", "a"]) {
      const next = waiting.findIndex(({ effect }) => effect.process === process);
      const [gate] = waiting.splice(next, 1);
      order.push(`${gate?.effect.process} ${gate?.effect.verb}`);
      gate?.open();
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    }
    await done;
    expect(order).toEqual(["a open", "b open", "b write", "a write"]);
    expect(textOf(disk, "/d/log")).toBe("oneBA");
  });

  test("a dead process does nothing more, and the others go on", async () => {
    const disk = diskWithLog();
    const dying = disk.view("dying");
    disk.gate = async (effect) => {
      if (effect.process === "dying" && effect.verb === "write") dying.die();
    };
    let ended = false;
    void append(dying, "/d/log", " two").finally(() => (ended = true));
    await append(disk.view("other"), "/d/log", " three");
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    expect(ended).toBe(false);
    expect(textOf(disk, "/d/log")).toBe("one three");
  });
});

describe("locks and the host in memory", () => {
  test("a lock excludes other processes and its own until it is released or its process dies", async () => {
    const disk = diskWithLog();
    const table = new LockTable();
    const first = new MemoryLocks(disk.view("first"), table);
    const second = new MemoryLocks(disk.view("second"), table);
    const lock = await first.tryLock("/d/lease");
    expect(lock).toBeDefined();
    expect(await first.tryLock("/d/lease")).toBeUndefined();
    expect(await second.tryLock("/d/lease", { shared: true })).toBeUndefined();
    await lock?.release();
    const shared = await second.tryLock("/d/lease", { shared: true });
    expect(await first.tryLock("/d/lease", { shared: true })).toBeDefined();
    expect(await first.tryLock("/d/lease")).toBeUndefined();
    first.die();
    await shared?.release();
    expect(await second.tryLock("/d/lease")).toBeDefined();
    second.die();
    expect(await first.tryLock("/d/lease")).toBeDefined();
  });

  test("a lock on a file that was replaced is no longer current, and excludes nobody from the new one", async () => {
    const disk = diskWithLog();
    const table = new LockTable();
    const first = new MemoryLocks(disk.view("first"), table);
    const second = new MemoryLocks(disk.view("second"), table);
    const lock = await first.tryLock("/d/lease");
    expect(await lock?.isCurrent()).toBe(true);
    await disk.remove("/d/lease");
    expect(await second.tryLock("/d/lease")).toBeDefined();
    expect(await lock?.isCurrent()).toBe(false);
  });

  test("a shared lock creates nothing; broken locks are granted to everybody", async () => {
    const disk = diskWithLog();
    const table = new LockTable();
    const locks = new MemoryLocks(disk, table);
    expect(await codeOf(locks.tryLock("/d/lease", { shared: true }))).toBe("ENOENT");
    expect(disk.peek("/d/lease")).toBeUndefined();
    const broken = new MemoryLocks(disk.view("broken"), table, { broken: true });
    expect(await locks.tryLock("/d/lease")).toBeDefined();
    expect(await broken.tryLock("/d/lease")).toBeDefined();
  });

  test("time passes only by sleeping, and chance repeats with its seed", async () => {
    const disk = new MemoryDisk();
    const make = (seed: number) => memoryHost({ disk, locks: new MemoryLocks(disk, new LockTable()), seed });
    const host = make(1);
    const start = host.clock.now();
    expect(host.clock.now()).toBe(start);
    await host.clock.sleep(1500);
    expect(host.clock.now()).toBe(start + 1500);
    expect(host.clock.monotonicMs()).toBe(1500);
    const bytes = host.ids.random(32);
    expect(make(1).ids.random(32)).toEqual(bytes);
    expect(make(2).ids.random(32)).not.toEqual(bytes);
    expect(() => host.processes.isAlive(1)).toThrow(/no processes/);
  });
});

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { isDiskError, nodeHost, type HeldLock } from "../../src/host/index.ts";
import { bundleForNode } from "../peers/bundle.ts";

const { locks, processes, clock } = nodeHost();
const children: ChildProcess[] = [];
let root = "";
let program = "";
let count = 0;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "holdfast-locks-"));
  program = await bundleForNode("test/peers/lock-peer.ts");
});
afterEach(() => children.splice(0).forEach((child) => child.kill("SIGKILL")));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const newPath = (): string => join(root, `lock-${(count += 1)}`);

interface Peer {
  ask(command: string): Promise<string>;
  kill(): Promise<void>;
}

function startPeer(): Peer {
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(command) {
      child.stdin.write(`${command}\n`);
      const { value, done } = await answers.next();
      if (done === true) throw new Error(`the peer ended at "${command}"`);
      return value;
    },
    async kill() {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** The system takes a moment to end what it killed. */
async function lockSoon(path: string): Promise<HeldLock | undefined> {
  for (let attempt = 0; attempt < 500; attempt += 1) {
    const lock = await locks.tryLock(path);
    if (lock !== undefined) return lock;
    await clock.sleep(10);
  }
  return undefined;
}

describe("a lock", () => {
  test("excludes its own process and every other, until it is released", async () => {
    const path = newPath();
    const peer = startPeer();
    const lock = await locks.tryLock(path);
    expect(lock?.inode).toBe(String(statSync(path, { bigint: true }).ino));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await locks.tryLock(path)).toBeUndefined();
    expect(await locks.tryLock(path, { shared: true })).toBeUndefined();
    expect(await peer.ask(`exclusive ${path}`)).toBe("refused");
    expect(await peer.ask(`shared ${path}`)).toBe("refused");
    await lock?.release();
    await lock?.release();
    expect(await lock?.isCurrent()).toBe(false);
    expect(await peer.ask(`exclusive ${path}`)).toBe("held");
    expect(await locks.tryLock(path)).toBeUndefined();
  });

  test("is free when its holder is killed, though a child of the holder lives on", async () => {
    const path = newPath();
    const peer = startPeer();
    expect(await peer.ask(`exclusive ${path}`)).toBe("held");
    const child = Number(await peer.ask("start-child"));
    await peer.kill();
    try {
      const lock = await lockSoon(path);
      expect(lock).toBeDefined();
      expect(processes.isAlive(child)).toBe(true);
      await lock?.release();
    } finally {
      processes.signal(child, "SIGKILL");
    }
  });

  test("is not lost when its holder reads the file through another descriptor", async () => {
    const path = newPath();
    const peer = startPeer();
    expect(await peer.ask(`exclusive ${path}`)).toBe("held");
    expect(await peer.ask(`read ${path}`)).toBe("read");
    expect(await locks.tryLock(path)).toBeUndefined();
  });

  test("is shared by all who share, and refused to who wants it alone until the last has gone", async () => {
    const path = newPath();
    const peer = startPeer();
    writeFileSync(path, "");
    const mine = await locks.tryLock(path, { shared: true });
    expect(mine).toBeDefined();
    expect(await peer.ask(`shared ${path}`)).toBe("held");
    expect(await peer.ask(`exclusive ${path}`)).toBe("refused");
    await mine?.release();
    expect(await locks.tryLock(path)).toBeUndefined();
    expect(await peer.ask("release")).toBe("released");
    const lock = await locks.tryLock(path);
    expect(lock).toBeDefined();
    await lock?.release();
  });

  test("that is shared never makes a file", async () => {
    const path = newPath();
    const error: unknown = await locks.tryLock(path, { shared: true }).catch((thrown: unknown) => thrown);
    expect(isDiskError(error, "ENOENT")).toBe(true);
    expect(existsSync(path)).toBe(false);
  });

  test("is known to be worthless once another file stands at its path", async () => {
    const path = newPath();
    const lock = await locks.tryLock(path);
    expect(await lock?.isCurrent()).toBe(true);
    writeFileSync(`${path}.new`, "");
    renameSync(`${path}.new`, path);
    expect(await lock?.isCurrent()).toBe(false);
    const other = await locks.tryLock(path);
    expect(other?.inode).not.toBe(lock?.inode);
    rmSync(path);
    expect(await other?.isCurrent()).toBe(false);
    await Promise.all([lock?.release(), other?.release()]);
  });

  test("is not granted on a file that was replaced between the open and the lock", async () => {
    const path = newPath();
    const peer = startPeer();
    writeFileSync(path, "");
    expect(await peer.ask(`replace ${path}`)).toBe("replacing");
    // Nobody else locks, so the only reason to be refused is that the path names another file by now.
    let refused = 0;
    for (let attempt = 0; attempt < 200_000 && refused === 0; attempt += 1) {
      const lock = await locks.tryLock(path);
      if (lock === undefined) refused += 1;
      await lock?.release();
    }
    expect(refused).toBe(1);
  });
});

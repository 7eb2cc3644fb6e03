import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { nodeHost } from "../../src/host/index.ts";
import { MemoryDisk } from "../crash/memory-disk.ts";
import { fullDiskContract } from "./disk-full.ts";

const { disk, processes } = nodeHost();
const mounted: string[] = [];

async function runs(file: string, ...args: string[]): Promise<boolean> {
  const request = { file, args, cwd: "/", env: { PATH: process.env["PATH"] ?? "" } };
  try {
    const { code } = await processes.spawn(request).exited;
    return code === 0;
  } catch {
    return false; // There is no such program.
  }
}

/** A small disk of its own; undefined where we may not mount one. */
async function smallDisk(): Promise<string | undefined> {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-full-")));
  mounted.push(path);
  const options = "size=65536,nr_inodes=16,mode=0700";
  return (await runs("mount", "-t", "tmpfs", "-o", options, "holdfast-test", path)) ? path : undefined;
}

afterEach(async () => {
  for (const path of mounted.splice(0)) {
    await runs("umount", path);
    rmSync(path, { recursive: true, force: true });
  }
});

describe.runIf(process.platform === "linux" && process.getuid?.() === 0)("a real disk that is full", () => {
  test.for(fullDiskContract)("$name", async ({ run }, { skip }) => {
    const directory = await smallDisk();
    if (directory === undefined) skip("no disk can be mounted here");
    else await run(disk, directory);
  });
});

describe("a disk in memory that is full", () => {
  test.each(fullDiskContract)("$name", async ({ run }) => {
    const memory = new MemoryDisk();
    await memory.makeDirectory("/d");
    memory.space = 65_536 + 123;
    await run(memory, "/d");
  });

  test("it is as full after a kill and after a power cut", async () => {
    const memory = new MemoryDisk();
    memory.plant("/d/file", new Uint8Array(1000));
    memory.space = memory.used + 5;
    for (const after of [memory.kill(), memory.crash()]) {
      expect(after.used).toBe(memory.used);
      const file = await after.open("/d/file", "append");
      expect(await file.write(new Uint8Array(9))).toBe(5);
      after.space = undefined;
      expect(await file.write(new Uint8Array(9))).toBe(9);
    }
  });
});

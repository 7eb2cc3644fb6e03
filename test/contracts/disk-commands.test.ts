import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nodeHost } from "../../src/host/index.ts";
import { MemoryDisk } from "../crash/memory-disk.ts";
import { anyDiskCommands, CommandedDisk } from "./disk-commands.ts";

const runs = Number(process.env["HOLDFAST_DISK_RUNS"] ?? 200);
const { disk } = nodeHost();
let root = "";
let count = 0;

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-commands-")));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

// The codes are those of Linux; other systems refuse the same things by other names.
test.runIf(process.platform === "linux")(
  "the disk in memory shows what the real one shows, whatever both are told to do",
  async () => {
    const property = fc.asyncProperty(anyDiskCommands, async (commands) => {
      const directory = join(root, String((count += 1)));
      await disk.makeDirectory(directory);
      const memory = new MemoryDisk();
      await memory.makeDirectory("/d");
      const [real, model] = [new CommandedDisk(disk, directory), new CommandedDisk(memory, "/d")];
      try {
        for (const command of commands) {
          expect(await model.give(command), JSON.stringify(command)).toEqual(await real.give(command));
        }
        expect(await model.tree()).toEqual(await real.tree());
      } finally {
        await real.end();
        rmSync(directory, { recursive: true, force: true });
      }
    });
    await fc.assert(property, { numRuns: runs });
  },
);

import { expect, test } from "vitest";
import { World } from "../crash/world.ts";
import { recoverTail } from "../../src/store/tail-recovery.ts";
import type { Remainder } from "../../src/store/scan.ts";

const bytes = new TextEncoder().encode("what is left");
const path = "/session/log.jsonl";

test.each(["complete", "torn"] as const)(
  "a %s end is left alone by one whose lock was replaced, and by one who read another end",
  async (state) => {
    const world = new World();
    const { host } = world.actor("mender");
    world.disk.plant(path, bytes);
    world.disk.plant("/session/lease", "");
    const inode = world.disk.inodeOf("/session/lease") ?? "";
    const mend = async (guard: string, read: Uint8Array): Promise<unknown> =>
      await recoverTail({
        host,
        session: "ses",
        file: "log",
        path,
        end: 0,
        remainder: { state, bytes: read } as Remainder,
        guard: { path: "/session/lease", inode: guard },
        unsure: { note: async () => undefined, gone: async () => undefined, settle: async () => undefined },
        recoveryDirectory: "/recovery",
      });
    const other = bytes.with(0, 0x57);
    for (const [guard, read] of [
      ["another", bytes],
      [inode, other],
      [inode, bytes.subarray(1)],
    ] as const) {
      await expect(mend(guard, read)).rejects.toMatchObject({ code: "fenced" });
      expect(world.disk.peek(path)).toEqual(bytes);
    }
    await mend(inode, bytes);
    expect(world.disk.peek(path)).not.toEqual(bytes);
  },
);

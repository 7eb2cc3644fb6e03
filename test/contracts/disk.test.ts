import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isDiskError, nodeHost } from "../../src/host/index.ts";
import { isTrustedType, macMountOf, mountTypeOf } from "../../src/host/file-systems.ts";
import { MemoryDisk } from "../crash/memory-disk.ts";
import { diskContract } from "./disk.ts";

const { disk, processes } = nodeHost();
let root = "";
let count = 0;

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-disk-")));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function newDirectory(): Promise<string> {
  const path = join(root, String((count += 1)));
  await disk.makeDirectory(path);
  return path;
}

describe("the real disk", () => {
  test.each(diskContract)("$name", async ({ run }) => run(disk, await newDirectory()));

  test("a link is told from what it points at", async () => {
    const directory = await newDirectory();
    writeFileSync(join(directory, "file"), "one");
    symlinkSync("file", join(directory, "link"));
    symlinkSync("none", join(directory, "broken"));
    expect((await disk.stat(join(directory, "link")))?.kind).toBe("file");
    expect((await disk.statLink(join(directory, "link")))?.kind).toBe("link");
    expect(await disk.realPath(join(directory, "link"))).toBe(join(directory, "file"));
    expect(await disk.stat(join(directory, "broken"))).toBeUndefined();
    expect((await disk.statLink(join(directory, "broken")))?.kind).toBe("link");
    await disk.remove(join(directory, "link"));
    expect((await disk.stat(join(directory, "file")))?.size).toBe(3);
  });

  test.runIf(process.platform === "linux")("a full device is an error, never a silent loss", async () => {
    const file = await disk.open("/dev/full", "update");
    const code = await file.write(new Uint8Array(10)).catch((error: unknown) => error);
    expect(isDiskError(code, "ENOSPC")).toBe(true);
    await file.close();
  });

  test.runIf(process.platform !== "win32")("a named pipe cannot stop the process", async () => {
    const path = join(await newDirectory(), "pipe");
    const request = { file: "mkfifo", args: [path], cwd: "/", env: { PATH: process.env["PATH"] ?? "" } };
    expect(await processes.spawn(request).exited).toEqual({ code: 0 });
    const file = await disk.open(path, "read");
    expect((await file.stat()).kind).toBe("other");
    await file.close();
  });

  test("watching an absent directory harms nobody, and a watch can be ended twice", async () => {
    const directory = await newDirectory();
    disk.watch(join(directory, "none"), () => undefined)();
    const seen = new Promise<void>((resolve) => {
      const stop = disk.watch(directory, () => {
        stop();
        stop();
        resolve();
      });
    });
    writeFileSync(join(directory, "file"), "one");
    await seen;
  });
});

describe("the disk in memory", () => {
  test.each(diskContract)("$name", async ({ run }) => {
    const memory = new MemoryDisk();
    await memory.makeDirectory("/d");
    await run(memory, "/d");
  });
});

describe("file systems", () => {
  test("those of a network, of a virtual machine's host or of a program are not trusted", () => {
    const types = [
      "nfs",
      "nfs4",
      "cifs",
      "smb3",
      "9p",
      "virtiofs",
      "fuse",
      "fuseblk",
      "fuse.sshfs",
      "ceph",
      "unknown",
    ];
    expect(types.filter(isTrustedType)).toEqual([]);
    const local = ["ext4", "ext", "xfs", "btrfs", "tmpfs", "overlay", "zfs", "f2fs", "apfs", "hfs"];
    expect(local.filter(isTrustedType)).toEqual(local);
  });

  test("the type is found behind any number of optional fields", () => {
    const table = [
      "22 27 0:21 / /proc rw,relatime - proc proc rw",
      "36 35 98:0 /a\\040b /mnt\\0402 rw,noatime master:1 shared:7 - fuse.sshfs me@there:/ rw",
      "361 35 98:0 / /mnt3 rw - ext4 /dev/vda rw",
    ].join("\n");
    expect(mountTypeOf(table, "36")).toBe("fuse.sshfs");
    expect(mountTypeOf(table, "361")).toBe("ext4");
    expect(mountTypeOf(table, "3")).toBeUndefined();
  });

  test("a Mac's table tells local mounts from others by the longest mount point", () => {
    const table = [
      "/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)",
      "/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse)",
      "//me@server/share on /Volumes/my share (smbfs, nodev, nosuid, mounted by me)",
    ].join("\n");
    expect(macMountOf(table, "/Users/me")).toEqual({ type: "apfs", isLocal: true });
    expect(macMountOf(table, "/Volumes/my share/a (b)")).toEqual({ type: "smbfs", isLocal: false });
    expect(macMountOf(table, "/Volumes/my share2")).toEqual({ type: "apfs", isLocal: true });
    expect(macMountOf("", "/")).toBeUndefined();
  });
});

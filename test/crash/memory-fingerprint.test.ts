import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyDiskCommands, CommandedDisk, type DiskCommand } from "../contracts/disk-commands.ts";
import { MemoryDisk } from "./memory-disk.ts";
import { fatesOf, randomCut } from "./power-cut.ts";

/** All that is on a disk, slowly and in full. */
async function described(disk: MemoryDisk): Promise<string> {
  const tree: unknown[] = [];
  const walk = async (path: string): Promise<void> => {
    for (const name of (await disk.list(path)).toSorted()) {
      const below = `${path === "/" ? "" : path}/${name}`;
      const stat = await disk.stat(below);
      const { kind, inode, mode } = stat ?? {};
      const bytes = [disk.peek.bind(disk), disk.peekDurable.bind(disk)].map((look) =>
        kind === "file" ? hex(look(below)) : "",
      );
      tree.push([below, kind, inode, mode, bytes]);
      if (kind === "directory") await walk(below);
    }
  };
  await walk("/");
  const unsynced = disk.unsynced().map((change) => {
    const { order: _order, path: _path, ...rest } = change;
    const what = rest.kind === "write" ? { ...rest, bytes: hex(rest.bytes) } : rest;
    return rest.kind === "name" ? { ...what, path: change.path } : what;
  });
  return JSON.stringify([tree, unsynced]);
}

function hex(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? "none" : Buffer.from(bytes).toString("hex");
}

async function diskAfter(
  commands: readonly DiskCommand[],
  meanwhile: (disk: MemoryDisk) => Promise<void> = () => Promise.resolve(),
): Promise<MemoryDisk> {
  const disk = new MemoryDisk();
  await disk.makeDirectory("/d");
  disk.settle();
  const commanded = new CommandedDisk(disk, "/d");
  for (const command of commands) {
    await commanded.give(command);
    await meanwhile(disk);
  }
  return disk;
}

describe("a copy of a disk", () => {
  test("stays as it is whatever is done to the disk, and the other way round", async () => {
    await fc.assert(
      fc.asyncProperty(anyDiskCommands, anyDiskCommands, fc.nat(), async (commands, more, seed) => {
        const copies: { copy: MemoryDisk; was: string; fingerprint: string }[] = [];
        const random = (): number => ((seed + copies.length * 7919) % 1009) / 1009;
        const keep = async (copy: MemoryDisk): Promise<void> => {
          copies.push({ copy, was: await described(copy), fingerprint: copy.fingerprint() });
        };
        const disk = await diskAfter(commands, async (now) => {
          await keep(now.kill());
          const unsynced = now.unsynced();
          await keep(now.crash(fatesOf(randomCut(unsynced, "arbitrary", random), unsynced)));
        });
        for (const { copy, was, fingerprint } of copies) {
          expect(await described(copy)).toBe(was);
          expect(copy.fingerprint()).toBe(fingerprint);
        }
        const [was, last] = [await described(disk), disk.kill()];
        const commanded = new CommandedDisk(last, "/d");
        for (const command of more) await commanded.give(command);
        expect(await described(disk)).toBe(was);
        expect(await described(disk.kill())).toBe(was);
      }),
      { numRuns: 40 },
    );
  });

  test("after a power cut that leaves all is the same that a kill leaves, but that all of it is durable", async () => {
    await fc.assert(
      fc.asyncProperty(anyDiskCommands, async (commands) => {
        const disk = await diskAfter(commands);
        const [killed, crashed] = [disk.kill(), disk.crash(() => "kept")];
        killed.settle();
        expect(await described(crashed)).toBe(await described(killed));
        expect(crashed.fingerprint()).toBe(killed.fingerprint());
      }),
      { numRuns: 60 },
    );
  });
});

describe("a fingerprint", () => {
  test("is equal for equal disks and for no others, as far as what is there can be described", async () => {
    const fingerprints = new Map<string, string>();
    const descriptions = new Map<string, string>();
    await fc.assert(
      fc.asyncProperty(anyDiskCommands, async (commands) => {
        await diskAfter(commands.slice(0, 15), async (disk) => {
          for (const one of [disk.kill(), disk.crash(), disk.crash(() => "kept")]) {
            const [is, fingerprint] = [await described(one), one.fingerprint()];
            expect(descriptions.get(fingerprint) ?? is).toBe(is);
            descriptions.set(fingerprint, is);
            // Names that a power cut may bring back are not described.
            if (one.unsynced().length > 0) continue;
            expect(fingerprints.get(is) ?? fingerprint).toBe(fingerprint);
            fingerprints.set(is, fingerprint);
          }
        });
      }),
      { numRuns: 60 },
    );
    expect(fingerprints.size).toBeLessThan(descriptions.size);
  });

  test("does not tell when something was written and by how many steps", async () => {
    const make = async (texts: readonly string[]): Promise<MemoryDisk> => {
      const disk = new MemoryDisk();
      disk.plant("/d/log", "");
      const file = await disk.open("/d/log", "append");
      for (const text of texts) await file.write(new TextEncoder().encode(text));
      await file.sync();
      return disk;
    };
    const [one, other] = [await make(["one", "two"]), await make(["onetwo"])];
    expect(one.fingerprint()).toBe(other.fingerprint());
    expect((await one.stat("/d/log"))?.mtimeNs).not.toBe((await other.stat("/d/log"))?.mtimeNs);
  });

  test("tells apart what only a power cut would, and files of which other files tell", async () => {
    const disk = new MemoryDisk();
    disk.plant("/d/a", "");
    disk.plant("/d/b", "");
    const write = async (on: MemoryDisk, ...names: readonly string[]): Promise<string> => {
      for (const name of names) {
        const file = await on.open(`/d/${name}`, "append");
        await file.write(Uint8Array.of(1));
      }
      return on.fingerprint();
    };
    expect(await write(disk.kill(), "a", "b")).not.toBe(await write(disk.kill(), "b", "a"));
    const synced = disk.kill();
    await write(synced, "a", "b");
    const unsynced = synced.kill();
    synced.settle();
    expect(synced.fingerprint()).not.toBe(unsynced.fingerprint());

    const born = async (tells: (birth: string) => string, late: boolean): Promise<string> => {
      const on = disk.kill();
      if (late) await on.setAttributes("/d/a", { mode: 0o600, uid: 0, gid: 0 });
      on.plant("/d/c", "");
      on.plant("/d/told", tells((await on.stat("/d/c"))?.birthtimeNs ?? ""));
      return on.fingerprint();
    };
    expect(await born(() => "nothing", true)).toBe(await born(() => "nothing", false));
    const first = (
      await (async () => {
        const on = disk.kill();
        on.plant("/d/c", "");
        return on.stat("/d/c");
      })()
    )?.birthtimeNs;
    const told = (): string => JSON.stringify({ birthtimeNs: first });
    expect(await born(told, true)).not.toBe(await born(told, false));
  });
});

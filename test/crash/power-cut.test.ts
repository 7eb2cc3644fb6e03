import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MemoryDisk } from "./memory-disk.ts";
import { everyCut, fatesOf, lettersNext, mayCut, namedCuts, randomCut, type Device } from "./power-cut.ts";

const devices = ["sequential", "safe_append", "arbitrary"] as const satisfies Device[];
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** What is done to one of three files, or to its name. */
const anyStep = fc.record({
  file: fc.constantFrom("a", "b", "c"),
  does: fc.oneof(
    { weight: 3, arbitrary: fc.constant("append" as const) },
    { weight: 1, arbitrary: fc.constantFrom("overwrite", "truncate", "rename", "remove", "sync", "link") },
  ),
  length: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constantFrom(600, 5000)),
});
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never;

/** A disk after those steps; what is written is never zero and never the same at neighbouring places. */
async function diskAfter(steps: readonly Step[]): Promise<MemoryDisk> {
  const disk = new MemoryDisk();
  disk.plant("/d/a", "old");
  for (const { file, does, length } of steps) {
    const path = `/d/${file}`;
    const mode = disk.peek(path) === undefined ? "create" : "update";
    const open = await disk.open(path, mode);
    const end = (await open.stat()).size;
    if (does === "append") await open.write(bytesOf(length, end), end);
    if (does === "overwrite") await open.write(bytesOf(length, end), Math.min(1, end));
    if (does === "truncate") await open.truncate(Math.min(length, end));
    if (does === "sync") await open.sync();
    await open.close();
    if (does === "rename") await disk.rename(path, "/d/b");
    if (does === "remove") await disk.remove(path);
    if (does === "link" && disk.peek("/d/l") === undefined) await disk.link(path, "/d/l");
  }
  return disk;
}

function bytesOf(length: number, start: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => 1 + ((start + index) % 251));
}

const anyDisk = (maxLength: number) =>
  fc.array(anyStep, { minLength: 1, maxLength }).map((steps) => ({ steps, disk: diskAfter(steps) }));

function stateOf(disk: MemoryDisk): string {
  return JSON.stringify(
    disk.files().map((path) => [path, Buffer.from(disk.peek(path) ?? "").toString("hex")]),
  );
}

const textOf = (disk: MemoryDisk, path: string): string | undefined => {
  const bytes = disk.peek(path);
  return bytes === undefined ? undefined : Buffer.from(bytes).toString("latin1");
};

describe("what the generators yield", () => {
  test.each(devices)("named and random cuts are such as a device may do that is %s", async (device) => {
    await fc.assert(
      fc.asyncProperty(
        anyDisk(8),
        fc.infiniteStream(fc.double({ min: 0, max: 0.999 })),
        async (any, chance) => {
          const unsynced = (await any.disk).unsynced();
          const random = (): number => chance.next().value ?? 0;
          const named = namedCuts(unsynced, device).map(({ letters }) => letters);
          expect(new Set(named).size).toBe(named.length);
          for (const letters of [
            ...named,
            ...Array.from({ length: 5 }, () => randomCut(unsynced, device, random)),
          ]) {
            expect(mayCut(letters, unsynced, device), letters).toBe(true);
            expect(letters).not.toMatch(/\s/);
            (await any.disk).crash(fatesOf(letters, unsynced));
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test.each(devices)(
    "every cut is one that a device may do that is %s, and none comes twice",
    async (device) => {
      await fc.assert(
        fc.asyncProperty(anyDisk(3), async (any) => {
          const unsynced = (await any.disk).unsynced().slice(0, 4);
          const all = new Set<string>();
          for (const letters of everyCut(unsynced, device)) {
            expect(all.size).toBeLessThan(all.add(letters).size);
            if (!mayCut(letters, unsynced, device)) throw new Error(letters);
          }
          for (const { letters } of namedCuts(unsynced, device)) expect(all).toContain(letters);
          // Step by step it is the same.
          const first = lettersNext("", unsynced, device);
          if (unsynced.length > 0)
            expect(new Set([...all].map((letters) => letters[0]))).toEqual(new Set(first));
        }),
        { numRuns: 30 },
      );
    },
  );

  test("all and nothing are always among the named ones", async () => {
    const disk = await diskAfter([{ file: "b", does: "append", length: 5 }]);
    for (const device of devices) {
      const named = namedCuts(disk.unsynced(), device).map(({ letters }) => letters);
      expect(named).toEqual(expect.arrayContaining(["dd", "kk", "kd", "kh"]));
    }
    expect(namedCuts([], "arbitrary")).toEqual([{ name: "nothing survives", letters: "-" }]);
    expect([...everyCut([], "sequential")]).toEqual(["-"]);
  });
});

describe("what a device may do", () => {
  test("every state that an orderly device leaves any device may leave", async () => {
    await fc.assert(
      fc.asyncProperty(anyDisk(3), async (any) => {
        const disk = await any.disk;
        const unsynced = disk.unsynced();
        if (unsynced.length > 4) return;
        const statesOf = (device: Device): Set<string> =>
          new Set(
            [...everyCut(unsynced, device)].map((letters) => stateOf(disk.crash(fatesOf(letters, unsynced)))),
          );
        const arbitrary = statesOf("arbitrary");
        for (const device of ["sequential", "safe_append"] as const) {
          expect([...statesOf(device)].filter((state) => !arbitrary.has(state))).toEqual([]);
        }
      }),
      { numRuns: 25 },
    );
  });

  test("a sequential one keeps a prefix, and of the change after it a part at most", async () => {
    const disk = await diskAfter([
      { file: "b", does: "append", length: 5 },
      { file: "a", does: "append", length: 5 },
    ]);
    const cuts = [...everyCut(disk.unsynced(), "sequential")];
    for (const letters of cuts) expect(letters).toMatch(/^k*[^kd]?d*$/);
    expect(cuts).toContain("kkk");
    expect(cuts).toContain("kgd");
    expect(cuts).not.toContain("gdd"); // A name is there or not.
  });

  test("one of safe appends leaves nothing in a file that only grew but a beginning of it", async () => {
    const appends = fc
      .array(anyStep, { minLength: 1, maxLength: 4 })
      .map((steps) =>
        steps.map((step): Step => ({ ...step, does: step.does === "sync" ? "sync" : "append" })),
      );
    await fc.assert(
      fc.asyncProperty(appends, async (steps) => {
        const disk = await diskAfter(steps);
        const unsynced = disk.unsynced();
        for (const { letters } of namedCuts(unsynced, "safe_append")) expectBeginnings(disk, letters);
        let count = 0;
        for (const letters of everyCut(unsynced, "safe_append")) {
          expectBeginnings(disk, letters);
          if ((count += 1) > 200) break;
        }
      }),
      { numRuns: 40 },
    );
  });

  function expectBeginnings(disk: MemoryDisk, letters: string): void {
    const crashed = disk.crash(fatesOf(letters, disk.unsynced()));
    for (const path of crashed.files()) {
      const [whole, left] = [textOf(disk, path) ?? "", textOf(crashed, path) ?? ""];
      if (!whole.startsWith(left)) throw new Error(`${letters} leaves a hole in ${path}`);
    }
  }

  test("one of safe appends writes in place in any order, and never garbage", async () => {
    const disk = new MemoryDisk();
    disk.plant("/d/a", "........");
    const file = await disk.open("/d/a", "update");
    await file.write(encode("abcd"), 0);
    await file.write(encode("efghij"), 4);
    const cuts = [...everyCut(disk.unsynced(), "safe_append")];
    expect(cuts).toContain("dk");
    expect(cuts).toContain("ed");
    expect(cuts.join("")).not.toMatch(/[rtxzg]/);
    expect(textOf(disk.crash(fatesOf("ek", disk.unsynced())), "/d/a")).toBe("..cdefghij");
  });
});

describe("letters", () => {
  test("what was dropped before what was kept leaves a hole of zeros", async () => {
    const disk = new MemoryDisk();
    disk.plant("/d/a", "old");
    const file = await disk.open("/d/a", "append");
    for (const text of ["-AAA", "-BBB", "-CCC"]) await file.write(encode(text));
    const left = (letters: string): string | undefined =>
      textOf(disk.crash(fatesOf(letters, disk.unsynced())), "/d/a");
    expect(left("ddk")).toBe("old\0\0\0\0\0\0\0\0-CCC");
    expect(left("kdk")).toBe("old-AAA\0\0\0\0-CCC");
    expect(left("dod")).toBe("old\0\0\0\0-");
    expect(left("kde")).toBe("old-AAA\0\0\0\0\0\0CC");
    expect(mayCut("kdk", disk.unsynced(), "arbitrary")).toBe(true);
    expect(mayCut("kdk", disk.unsynced(), "safe_append")).toBe(false);
    expect(mayCut("khd", disk.unsynced(), "safe_append")).toBe(true);
    expect(mayCut("kdk", disk.unsynced(), "sequential")).toBe(false);
  });

  test("each letter leaves of a write what it says", async () => {
    const disk = new MemoryDisk();
    disk.plant("/d/a", "1234567890");
    const file = await disk.open("/d/a", "update");
    await file.write(encode("abcdef"), 6);
    const left = (letters: string): string | undefined =>
      textOf(disk.crash(fatesOf(letters, disk.unsynced())), "/d/a")?.replaceAll("\0", "0");
    expect(["k", "d", "o", "h", "l", "e", "t", "z"].map(left)).toEqual([
      "123456abcdef",
      "1234567890",
      "123456a890",
      "123456abc0",
      "123456abcde",
      "123456789def",
      "123456abc000",
      "123456000000",
    ]);
    expect(left("r")).toMatch(/^123456[^abc]{3}def$/);
    expect(left("x")).toMatch(/^123456abc[^def]{3}$/);
    expect(left("g")).toMatch(/^123456[^abcdef]{6}$/);
    expect(() => left("s")).toThrow(RangeError); // All of it is in one sector.
  });

  test("a long write is torn at sectors and pages of the device, not of the write", async () => {
    const disk = new MemoryDisk();
    disk.plant("/d/a", new Uint8Array(100));
    const file = await disk.open("/d/a", "append");
    await file.write(new Uint8Array(9000).fill(1));
    const sizes = ["s", "p"].map(
      (letter) => disk.crash(fatesOf(letter, disk.unsynced())).peek("/d/a")?.length,
    );
    expect(sizes).toEqual([8704, 4096]);
  });

  test("names are undone: what was created vanishes, what was renamed and removed comes back", async () => {
    const disk = new MemoryDisk();
    disk.plant("/d/a", "a");
    disk.plant("/d/b", "b");
    disk.plant("/d/c", "c");
    await (await disk.open("/d/new", "create")).close();
    await disk.rename("/d/a", "/d/b");
    await disk.remove("/d/c");
    const left = (letters: string): string => disk.crash(fatesOf(letters, disk.unsynced())).files().join(" ");
    expect(left("kkk")).toBe("/d/b /d/new");
    expect(left("dkk")).toBe("/d/b");
    expect(left("kdk")).toBe("/d/a /d/b /d/new");
    expect(left("kkd")).toBe("/d/b /d/c /d/new");
  });

  test("text that fits no cut of these changes is refused", async () => {
    const disk = await diskAfter([{ file: "b", does: "append", length: 5 }]);
    const unsynced = disk.unsynced();
    for (const letters of ["", "-", "k", "kkk", "hk", "kq", "k ", "KK", "ks", "k/"]) {
      expect(() => fatesOf(letters, unsynced), letters).toThrow(RangeError);
    }
    expect(() => fatesOf("k", [])).toThrow(RangeError);
    const choose = fatesOf("kk", unsynced);
    const [first] = unsynced;
    if (first !== undefined)
      expect(() => choose({ ...first, order: first.order + 9 }, 0)).toThrow(RangeError);
  });
});

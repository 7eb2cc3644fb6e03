import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DiskError, nodeHost, type Disk } from "../../src/host/index.ts";
import type { Json } from "../../src/model/values.ts";
import { forward } from "./dying-disk.ts";
import { execute, placeIn, prepareReady, realWorld, runOf, toolNamed, type RealWorld } from "./file-world.ts";

let world: RealWorld;
beforeEach(() => {
  world = realWorld();
});
afterEach(() => world.remove());

const inside = (path: string): string => join(world.workspace, path);
const textOf = (path: string): string => readFileSync(inside(path), "utf8");

function plant(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(inside(path)), { recursive: true });
  writeFileSync(inside(path), content);
}

function names(): string[] {
  return readdirSync(world.workspace, { recursive: true, encoding: "utf8" }).sort();
}

describe("write", () => {
  test("creates a file with the directories it needs, and tells what it did", async () => {
    const result = await world.call("write", { path: "a/b/c.txt", content: "one\ntwo" });
    expect(result).toMatchObject({ outcome: "ok", output: "Created a/b/c.txt (2 lines, 7 bytes)." });
    expect(result.durationMs).toBeGreaterThanOrEqual(0);
    expect(textOf("a/b/c.txt")).toBe("one\ntwo");
    expect(names()).toEqual(["a", "a/b", "a/b/c.txt"]);
  });

  test("replaces a file, keeps its mode and owner, and leaves nothing else behind", async () => {
    plant("run.sh", "old\n");
    chmodSync(inside("run.sh"), 0o751);
    chownSync(inside("run.sh"), 1234, 4321);
    const { output } = await world.call("write", { path: "run.sh", content: "" });
    expect(output).toBe("Wrote run.sh (0 lines, 0 bytes; it had 4 bytes).");
    const { mode, uid, gid } = statSync(inside("run.sh"));
    expect([mode & 0o777, uid, gid]).toEqual([0o751, 1234, 4321]);
    expect(names()).toEqual(["run.sh"]);
  });

  test("keeps the mode of a file that is ours", async () => {
    plant("mine.sh", "old\n");
    chmodSync(inside("mine.sh"), 0o710);
    await world.call("write", { path: "mine.sh", content: "new\n" });
    expect(statSync(inside("mine.sh")).mode & 0o777).toBe(0o710);
  });

  test("to a mount point that has other names is refused, since they would change too", async () => {
    plant("file", "old\n");
    linkSync(inside("file"), join(world.root, "other-name"));
    const disk: Disk = {
      ...forward(nodeHost().disk),
      rename: () => Promise.reject(new DiskError("EBUSY", "rename", inside("file"))),
    };
    const run = runOf(placeIn(world.root), { path: "file", content: "new\n" });
    expect(await execute({ ...world.host, disk }, "write", run)).toMatchObject({
      details: { reason: "hard_links" },
    });
    expect(textOf("file")).toBe("old\n");
  });

  test("of what a file holds already succeeds", async () => {
    plant("same", "same\n");
    expect(await world.call("write", { path: "same", content: "same\n" })).toMatchObject({ outcome: "ok" });
  });

  test("stores any text exactly, and refuses what UTF-8 cannot hold", async () => {
    const content = "\uFEFFä😀\r\n\u2028\0\u0001";
    await world.call("write", { path: "any", content });
    expect(textOf("any")).toBe(content);
    const result = await world.call("write", { path: "any", content: "half \ud83d of it" });
    expect(result).toMatchObject({ outcome: "error", details: { reason: "lone_surrogate" } });
    expect(result.output).toContain("character 6");
    expect(textOf("any")).toBe(content);
  });

  test("refuses a directory, and a path below a file", async () => {
    plant("file", "x");
    mkdirSync(inside("directory"));
    expect((await world.call("write", { path: "directory", content: "" })).output).toContain(
      "is a directory",
    );
    expect((await world.call("write", { path: ".", content: "" })).output).toContain("is a directory");
    expect((await world.call("write", { path: "file/x", content: "" })).output).toContain("file is a file");
  });

  test("keeps the owner by writing in place where a replacement would have another", async () => {
    plant("theirs", "old\n");
    chownSync(inside("theirs"), 1234, 4321);
    const disk: Disk = { ...forward(nodeHost().disk), setAttributes: async () => undefined };
    const { inode } = (await disk.stat(inside("theirs"))) ?? { inode: "" };
    const run = runOf(placeIn(world.root), { path: "theirs", content: "new\n" });
    expect(await execute({ ...world.host, disk }, "write", run)).toMatchObject({ outcome: "ok" });
    expect(textOf("theirs")).toBe("new\n");
    expect((await disk.stat(inside("theirs")))?.inode).toBe(inode);
    expect(names()).toEqual(["theirs"]);
    linkSync(inside("theirs"), join(world.root, "other-name"));
    expect(await execute({ ...world.host, disk }, "write", run)).toMatchObject({
      details: { reason: "hard_links" },
    });
    expect(readFileSync(join(world.root, "other-name"), "utf8")).toBe("new\n");
  });

  test("does not replace what may not be written, though its directory would allow it", async () => {
    plant("closed", "old\n");
    const disk: Disk = {
      ...forward(nodeHost().disk),
      open: async (path, mode, permissions) => {
        if (mode === "update") throw new DiskError("EACCES", "open", path);
        return await nodeHost().disk.open(path, mode, permissions);
      },
    };
    const run = runOf(placeIn(world.root), { path: "closed", content: "new\n" });
    const result = await execute({ ...world.host, disk }, "write", run);
    expect(result).toMatchObject({ outcome: "error", details: { reason: "EACCES" } });
    expect(result.output).toBe("closed cannot be written: permission denied (EACCES).");
  });
});

describe("edit", () => {
  test("replaces exact text and shows the change in short", async () => {
    plant("a.txt", "one\ntwo\nthree\n");
    const { output } = await world.call("edit", { path: "a.txt", old: "two", new: "2" });
    expect(output).toBe("Edited a.txt (1 replacement).\n@@ line 2 @@\n one\n-two\n+2\n three");
    expect(textOf("a.txt")).toBe("one\n2\nthree\n");
  });

  test("keeps byte order mark and CRLF, whatever line ends the model writes", async () => {
    plant("windows.txt", "\uFEFFone\r\ntwo\r\nthree\r\n");
    await world.call("edit", { path: "windows.txt", old: "one\ntwo\n", new: "1\n2\n2b\n" });
    expect(textOf("windows.txt")).toBe("\uFEFF1\r\n2\r\n2b\r\nthree\r\n");
  });

  test.each<[string, Json, string]>([
    ["no match", { old: "nowhere", new: "x" }, "old does not stand in a.txt. Read the file again"],
    ["other white space", { old: "if (a)  {", new: "x" }, "differs only in white space begins at line 2"],
    ["line numbers", { old: "2\tif", new: "x" }, "Leave out the line numbers"],
    ["several matches", { old: "twice", new: "x" }, "stands 2 times in a.txt, at lines 3, 4"],
    ["nothing to look for", { old: "", new: "x" }, "old is empty"],
    ["nothing to do", { old: "twice", new: "twice" }, "are equal"],
    ["half a character", { old: "if", new: "\udc00" }, "half of a surrogate pair"],
  ])("%s is told and changes nothing", async (_name, args, message) => {
    const content = "first\nif (a) {\ntwice\ntwice\n";
    plant("a.txt", content);
    const result = await world.call("edit", { path: "a.txt", ...(args as Record<string, Json>) });
    expect(result.outcome).toBe("error");
    expect(result.output).toContain(message);
    expect(textOf("a.txt")).toBe(content);
    expect(names()).toEqual(["a.txt"]);
  });

  test("replaces all where all are wanted, dollar signs included", async () => {
    plant("a.txt", "x x x");
    await world.call("edit", { path: "a.txt", old: "x", new: "$&$1", all: true });
    expect(textOf("a.txt")).toBe("$&$1 $&$1 $&$1");
  });

  test.each([
    ["a missing file", "missing", "Use write to create it"],
    ["a binary file", "binary", "is not UTF-8 text"],
    ["a Latin-1 file", "latin", "is not UTF-8 text"],
  ])("refuses %s", async (_name, path, message) => {
    plant("binary", new Uint8Array([0, 1, 2]));
    plant("latin", new Uint8Array([0xe4, 0x6f]));
    expect((await world.call("edit", { path, old: "o", new: "u" })).output).toContain(message);
  });
});

describe("delete", () => {
  test("moves the file into the session's trash, from where it can be taken back", async () => {
    plant("gone", "content");
    const place = placeIn(world.root);
    expect(await execute(world.host, "delete", runOf(place, { path: "gone" }))).toMatchObject({
      outcome: "ok",
    });
    expect(names()).toEqual([]);
    expect(readFileSync(join(place.trash, place.operation), "utf8")).toBe("content");
    renameSync(join(place.trash, place.operation), inside("gone"));
    expect(textOf("gone")).toBe("content");
  });

  test("of a link onto another file system keeps a note of where it led", async () => {
    plant("real", "content");
    symlinkSync("real", inside("link"));
    const place = { ...placeIn(world.root), trash: join("/dev/shm", `holdfast-trash-${process.pid}`) };
    await execute(world.host, "delete", runOf(place, { path: "link" }));
    expect(readFileSync(join(place.trash, place.operation), "utf8")).toBe(
      `A symbolic link to ${inside("real")}\n`,
    );
    rmSync(place.trash, { recursive: true });
    expect(names()).toEqual(["real"]);
  });

  test("refuses directories, the workspace, what is missing", async () => {
    mkdirSync(inside("directory"));
    for (const path of ["directory", "."]) {
      expect((await world.call("delete", { path })).output).toContain("removes single files only");
    }
    expect((await world.call("delete", { path: "missing" })).output).toBe("missing does not exist.");
  });
});

describe("between preparation and effect", () => {
  const calls: [string, Json][] = [
    ["write", { path: "file", content: "new\n" }],
    ["edit", { path: "file", old: "old", new: "new" }],
    ["delete", { path: "file" }],
  ];

  test.each(calls)("what somebody else does to the target of %s is kept", async (tool, args) => {
    const theirs: [string, () => void][] = [
      ["edited", () => writeFileSync(inside("file"), "theirs\n")],
      ["replaced", () => (rmSync(inside("file")), writeFileSync(inside("file"), "theirs\n"))],
      ["deleted", () => rmSync(inside("file"))],
      ["turned into a directory", () => (rmSync(inside("file")), mkdirSync(inside("file")))],
      ["turned into a link", () => (rmSync(inside("file")), symlinkSync("/etc/passwd", inside("file")))],
    ];
    for (const [what, change] of theirs) {
      rmSync(inside("file"), { recursive: true, force: true });
      plant("file", "old\n");
      const run = runOf(placeIn(world.root), args);
      const evidence = await prepareReady(world.host, tool, run);
      change();
      const found = names().filter((name) => !name.startsWith(".holdfast-"));
      const result = await toolNamed(world.host, tool).perform(run, evidence);
      expect(result, what).toMatchObject({ outcome: "error", details: { reason: "changed_underneath" } });
      await toolNamed(world.host, tool).cleanUp(run.place, evidence, run.args);
      expect(names(), what).toEqual(found);
      if (what === "edited" || what === "replaced") expect(textOf("file")).toBe("theirs\n");
    }
  });

  test("a new file does not replace one that came meanwhile, not even right before its name is taken", async () => {
    const run = runOf(placeIn(world.root), { path: "file", content: "new\n" });
    const evidence = await prepareReady(world.host, "write", run);
    const disk: Disk = {
      ...forward(world.host.disk),
      link: async (from, to) => {
        writeFileSync(to, "theirs\n");
        await world.host.disk.link(from, to);
      },
    };
    const result = await toolNamed({ ...world.host, disk }, "write").perform(run, evidence);
    expect(result).toMatchObject({ outcome: "error", details: { reason: "changed_underneath" } });
    await toolNamed(world.host, "write").cleanUp(run.place, evidence, run.args);
    expect(textOf("file")).toBe("theirs\n");
    expect(names()).toEqual(["file"]);
  });

  test("content that was prepared and then removed is not written", async () => {
    plant("file", "old\n");
    const run = runOf(placeIn(world.root), { path: "file", content: "new\n" });
    const evidence = await prepareReady(world.host, "write", run);
    rmSync(inside(`.holdfast-${run.place.operation}`));
    const result = await toolNamed(world.host, "write").perform(run, evidence);
    expect(result).toMatchObject({ outcome: "error", details: { reason: "staged_lost" } });
    writeFileSync(inside(`.holdfast-${run.place.operation}`), "something else\n");
    expect(await toolNamed(world.host, "write").perform(run, evidence)).toEqual({
      ...result,
      startedAt: expect.any(Number),
      endedAt: expect.any(Number),
      durationMs: expect.any(Number),
    });
    expect(textOf("file")).toBe("old\n");
  });

  test("a delete leaves an equal file alone that somebody put in the place of the one it looked at", async () => {
    plant("file", "same\n");
    const run = runOf(placeIn(world.root), { path: "file" });
    const evidence = await prepareReady(world.host, "delete", run);
    renameSync(inside("file"), join(world.root, "kept"));
    writeFileSync(inside("file"), "same\n");
    const result = await toolNamed(world.host, "delete").perform(run, evidence);
    expect(result).toMatchObject({ outcome: "error", details: { reason: "changed_underneath" } });
    expect(textOf("file")).toBe("same\n");
  });

  test("a recovery that voided it wins over whoever comes later", async () => {
    plant("file", "old\n");
    const run = runOf(placeIn(world.root), { path: "file", content: "new\n" });
    const evidence = await prepareReady(world.host, "write", run);
    expect(await toolNamed(world.host, "write").prove(run, evidence)).toMatchObject({
      proven: "not_executed",
    });
    expect((await toolNamed(world.host, "write").perform(run, evidence)).outcome).toBe("error");
    expect(textOf("file")).toBe("old\n");
  });

  test.each(calls)("a cancel of %s before the effect leaves everything as it was", async (tool, args) => {
    plant("file", "old\n");
    const controller = new AbortController();
    const run = runOf(placeIn(world.root), args, controller.signal);
    const evidence = await prepareReady(world.host, tool, run);
    controller.abort();
    expect((await toolNamed(world.host, tool).perform(run, evidence)).outcome).toBe("canceled");
    await toolNamed(world.host, tool).cleanUp(run.place, evidence, run.args);
    expect(names()).toEqual(["file"]);
    expect(textOf("file")).toBe("old\n");
  });
});

test("a rename into the trash that a power cut left half done counts as not done, and its other half goes", async () => {
  plant("file", "content");
  const run = runOf(placeIn(world.root), { path: "file" });
  const evidence = await prepareReady(world.host, "delete", run);
  const trashed = join(run.place.trash, run.place.operation);
  linkSync(inside("file"), trashed);
  expect(await toolNamed(world.host, "delete").prove(run, evidence)).toMatchObject({
    proven: "not_executed",
  });
  expect(existsSync(trashed)).toBe(false);
  expect(textOf("file")).toBe("content");
});

test("clean-up after a delete keeps what is in the trash, also when the file is back", async () => {
  plant("file", "content");
  const run = runOf(placeIn(world.root), { path: "file" });
  const evidence = await prepareReady(world.host, "delete", run);
  await toolNamed(world.host, "delete").perform(run, evidence);
  plant("file", "content");
  await toolNamed(world.host, "delete").cleanUp(run.place, evidence, run.args);
  expect(existsSync(join(run.place.trash, run.place.operation))).toBe(true);
});

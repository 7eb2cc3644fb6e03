import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Json } from "../../src/model/values.ts";
import { placeIn, prepareReady, realWorld, runOf, toolNamed, type RealWorld } from "./file-world.ts";

let world: RealWorld;
let inside: (path: string) => string;
let outside: (path: string) => string;

beforeEach(() => {
  world = realWorld();
  inside = (path) => join(world.workspace, path);
  outside = (path) => join(world.root, "outside", path);
  mkdirSync(outside("directory"), { recursive: true });
  mkdirSync(inside("directory"));
  writeFileSync(outside("secret"), "secret\n");
  writeFileSync(outside("directory/secret"), "secret\n");
  writeFileSync(inside("plain"), "plain\n");
  writeFileSync(inside("directory/plain"), "plain\n");
  symlinkSync(outside("secret"), inside("file-out"));
  symlinkSync(outside("directory"), inside("directory-out"));
  symlinkSync(outside("nothing"), inside("dangling-out"));
  symlinkSync("../outside/secret", inside("directory/relative-out"));
  symlinkSync("directory-out", inside("link-to-link-out"));
  symlinkSync("loop", inside("loop"));
});
afterEach(() => world.remove());

const argumentsOf: Record<string, (path: string) => Json> = {
  read: (path) => ({ path }),
  glob: (path) => ({ pattern: "**", path }),
  grep: (path) => ({ pattern: "secret", path }),
  write: (path) => ({ path, content: "attacked\n" }),
  edit: (path) => ({ path, old: "secret", new: "attacked" }),
  delete: (path) => ({ path }),
};

const tools = Object.keys(argumentsOf);

/** Everything outside of the workspace, as text. */
function outsideAsText(): string {
  const names = readdirSync(join(world.root, "outside"), { recursive: true, encoding: "utf8" }).sort();
  return names
    .map((name) => `${name}:${lstatSync(outside(name)).isFile() ? readFileSync(outside(name), "utf8") : ""}`)
    .join();
}

const attacks: [string, (w: RealWorld) => string][] = [
  ["a parent segment", () => "../outside/secret"],
  ["a parent segment in the middle", () => "directory/../../outside/secret"],
  ["a parent segment that stays inside", () => "directory/../plain"],
  ["an absolute path", (w) => join(w.root, "outside/secret")],
  ["an absolute path of the system", () => "/etc/passwd"],
  ["an absolute path that has the workspace as its prefix only", (w) => `${w.workspace}-other/file`],
  ["a link at a directory, on the way", () => "directory-out/secret"],
  ["a link at a link at a directory", () => "link-to-link-out/secret"],
  ["a new file below a link at a directory", () => "directory-out/new"],
  ["new directories below a link at a directory", () => "directory-out/new/new/new"],
  ["a NUL character", () => "plain\0.txt"],
  ["half of a surrogate pair", () => "plain\ud800"],
  ["nothing", () => ""],
  ["a loop of links", () => "loop/file"],
  ["a staged file of ours", () => ".holdfast-op_00000000000000000000000000"],
  ["a staged file of ours in other letters", () => "directory/.HOLDFAST-OP_x/file"],
];

describe.each(tools)("%s", (tool) => {
  test.each(attacks)("refuses %s, says so and touches nothing outside", async (_name, pathIn) => {
    const before = outsideAsText();
    const result = await world.call(tool, argumentsOf[tool]?.(pathIn(world)) ?? {});
    expect(result.outcome).toBe("error");
    expect(result.output).not.toContain("secret\n");
    expect(result.output.length).toBeGreaterThan(10);
    expect(outsideAsText()).toBe(before);
  });

  test.each(["file-out", "dangling-out", "directory/relative-out"])(
    "does not go through the link %s that leads out",
    async (path) => {
      const before = outsideAsText();
      const result = await world.call(tool, argumentsOf[tool]?.(path) ?? {});
      // delete takes the link itself away, which is inside.
      expect(result.outcome).toBe(tool === "delete" ? "ok" : "error");
      expect(outsideAsText()).toBe(before);
      expect(existsSync(outside("nothing"))).toBe(false);
    },
  );

  test("answers bad arguments with every problem and its place", async () => {
    const result = await world.call(tool, { path: 7, surplus: true });
    expect(result).toMatchObject({ outcome: "error", details: { reason: "bad_arguments" } });
    expect(result.output).toContain("path: expected string, received number");
    expect(result.output).toContain("surplus: unknown argument");
  });

  test("answers arguments that are no object at all", async () => {
    for (const args of [null, [], "path", 3] as Json[]) {
      expect(await world.call(tool, args)).toMatchObject({ outcome: "error" });
    }
  });
});

describe("a state directory inside the workspace", () => {
  beforeEach(() => {
    mkdirSync(inside("state/sessions"), { recursive: true });
    writeFileSync(inside("state/sessions/log"), "secret\n");
    symlinkSync("state/sessions", inside("way-in"));
  });

  test.each(tools)("is closed to %s, also through a link", async (tool) => {
    for (const path of ["state/sessions/log", "state", "way-in/log", "state/new"]) {
      expect(await world.call(tool, argumentsOf[tool]?.(path) ?? {})).toMatchObject({ outcome: "error" });
    }
    expect(readFileSync(inside("state/sessions/log"), "utf8")).toBe("secret\n");
    expect(readdirSync(inside("state"))).toEqual(["sessions"]);
  });

  test("is passed over by a search of the whole workspace", async () => {
    expect((await world.call("grep", { pattern: "secret" })).output).not.toContain("state/");
    expect((await world.call("glob", { pattern: "**" })).output).not.toContain("state");
  });
});

describe("links inside the workspace", () => {
  beforeEach(() => {
    symlinkSync("directory", inside("directory-in"));
    symlinkSync("directory/plain", inside("file-in"));
  });

  test("are followed by read and kept by write and edit, whose target is what they point at", async () => {
    expect((await world.call("read", { path: "file-in" })).output).toBe("1\tplain");
    await world.call("write", { path: "file-in", content: "written\n" });
    await world.call("edit", { path: "directory-in/plain", old: "written", new: "edited" });
    expect(readFileSync(inside("directory/plain"), "utf8")).toBe("edited\n");
    expect(lstatSync(inside("file-in")).isSymbolicLink()).toBe(true);
  });

  test("are deleted themselves, not what they point at", async () => {
    expect(await world.call("delete", { path: "file-in" })).toMatchObject({ outcome: "ok" });
    expect(existsSync(inside("file-in"))).toBe(false);
    expect(readFileSync(inside("directory/plain"), "utf8")).toBe("plain\n");
  });

  test("an absolute path inside the workspace is as good as a relative one", async () => {
    expect((await world.call("read", { path: inside("directory-in/plain") })).output).toBe("1\tplain");
  });
});

test("a directory that becomes a link out between preparation and effect is noticed", async () => {
  for (const tool of ["write", "edit", "delete"]) {
    mkdirSync(inside(tool));
    writeFileSync(inside(`${tool}/secret`), "secret\n");
    const run = runOf(placeIn(world.root), argumentsOf[tool]?.(`${tool}/secret`) ?? {});
    const evidence = await prepareReady(world.host, tool, run);
    const before = outsideAsText();
    renameSync(inside(tool), inside(`${tool}-moved`));
    symlinkSync(outside("directory"), inside(tool));
    const result = await toolNamed(world.host, tool).perform(run, evidence);
    expect(result).toMatchObject({ outcome: "error", details: { reason: "changed_underneath" } });
    expect(outsideAsText()).toBe(before);
  }
});

test("walks neither follow links at directories nor show staged files", async () => {
  symlinkSync("..", inside("directory/up"));
  writeFileSync(inside(".holdfast-op_00000000000000000000000001"), "secret\n");
  const listed = await world.call("glob", { pattern: "**" });
  expect(listed.output.split("\n").sort()).toEqual([
    "dangling-out",
    "directory-out",
    "directory/plain",
    "directory/relative-out",
    "directory/up",
    "file-out",
    "link-to-link-out",
    "loop",
    "plain",
  ]);
  expect((await world.call("grep", { pattern: "secret" })).output).toBe(
    "[No line matches in the workspace.]",
  );
});

test("a write breaks a hard link instead of reaching through it to a file outside", async () => {
  linkSync(outside("secret"), inside("hard"));
  await world.call("write", { path: "hard", content: "mine\n" });
  expect(readFileSync(outside("secret"), "utf8")).toBe("secret\n");
  expect(readFileSync(inside("hard"), "utf8")).toBe("mine\n");
});

import { chmodSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { placeIn, realWorld, runOf, toolNamed, type RealWorld } from "./file-world.ts";

let world: RealWorld;
beforeEach(() => {
  world = realWorld();
});
afterEach(() => world.remove());

function plant(path: string, content: string | Uint8Array): void {
  const full = join(world.workspace, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, content);
}

const lines = (count: number): string =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");

describe("read", () => {
  test("shows numbers and text and says how to read on, until the end is reached", async () => {
    plant("long", lines(4_500));
    let output = (await world.call("read", { path: "long" })).output.split("\n");
    expect(output[0]).toBe("1\tline 1");
    expect(output).toHaveLength(2_001);
    expect(output.at(-1)).toBe("[More follows: read on with offset 2001.]");
    output = (await world.call("read", { path: "long", offset: 4_001, limit: 5_000 })).output.split("\n");
    expect(output).toHaveLength(500);
    expect(output.at(-1)).toBe("4500\tline 4500");
  });

  test("reading on reaches every line, whatever their length", async () => {
    const long = Array.from({ length: 300 }, (_, index) => `${index}:${"x".repeat(1_900)}`);
    plant("wide", long.join("\n"));
    const seen: string[] = [];
    for (let offset = 1; ;) {
      const output = (await world.call("read", { path: "wide", offset })).output.split("\n");
      const next = /offset (\d+)/.exec(output.at(-1) ?? "")?.[1];
      seen.push(...output.slice(0, next === undefined ? undefined : -1));
      if (next === undefined) break;
      offset = Number(next);
    }
    expect(seen).toEqual(long.map((line, index) => `${index + 1}\t${line}`));
  });

  test("cuts a long line visibly and tells its length", async () => {
    plant("one", "x".repeat(600_000));
    const { output } = await world.call("read", { path: "one" });
    expect(output).toBe(`1\t${"x".repeat(2_000)} … [cut: the line has 600000 characters]`);
  });

  test("shows neither byte order mark nor carriage return, but tells of the line ends", async () => {
    plant("windows", "\uFEFFone\r\ntwo\r\n");
    expect((await world.call("read", { path: "windows" })).output).toBe(
      "1\tone\n2\ttwo\n[Lines end in CRLF.]",
    );
    plant("mixed", "one\r\ntwo\n");
    expect((await world.call("read", { path: "mixed" })).output).toContain(
      "[Some lines end in CRLF, some in LF.]",
    );
  });

  test("a character that lies across two pieces is whole", async () => {
    plant("edge", `${"a".repeat(256 * 1024 - 1)}ä\r\nend`);
    const { output } = await world.call("read", { path: "edge", offset: 2 });
    expect(output).toBe("2\tend");
  });

  test.each([
    ["binary", new Uint8Array([65, 0, 66]), "is a binary file (3 bytes)"],
    ["latin", new Uint8Array([65, 0xe4, 66, 10]), "is not UTF-8 text"],
    ["cut", new Uint8Array([65, 0xc3]), "is not UTF-8 text"],
  ])("tells of a %s file instead of showing it", async (name, bytes, message) => {
    plant(name, bytes);
    const result = await world.call("read", { path: name });
    expect(result.outcome).toBe("error");
    expect(result.output).toContain(message);
  });

  test("tells a missing file, a directory, an empty file and a line behind the end apart", async () => {
    plant("empty", "");
    plant("directory/short", "one\n");
    expect((await world.call("read", { path: "missing" })).output).toContain("does not exist");
    expect((await world.call("read", { path: "directory" })).output).toContain("is a directory");
    expect((await world.call("read", { path: "directory/short/deeper" })).output).toContain(
      "is a file, not a directory",
    );
    expect(await world.call("read", { path: "empty" })).toMatchObject({
      outcome: "ok",
      output: "[empty is empty.]",
    });
    expect((await world.call("read", { path: "directory/short", offset: 9 })).output).toContain(
      "only 1 lines",
    );
  });

  test("a file larger than memory is answered from its first pieces", async () => {
    plant("huge", lines(40_000));
    truncateSync(join(world.workspace, "huge"), 8 * 1024 ** 3);
    expect((await world.call("read", { path: "huge", limit: 1 })).output.split("\n")[0]).toBe("1\tline 1");
    expect((await world.call("read", { path: "huge", offset: 50_000 })).output).toContain("is a binary file");
  });
});

describe("glob", () => {
  beforeEach(() => {
    for (const path of ["b.ts", "a.ts", "src/deep/c.ts", "src/d.js", ".github/ci.yml"]) plant(path, "");
    for (const path of ["node_modules/x/index.ts", ".git/config", "src/node_modules/y.ts"]) plant(path, "");
  });

  test.each([
    ["*", undefined, [".github/", "a.ts", "b.ts", "src/"]],
    ["**/*.ts", undefined, ["a.ts", "b.ts", "src/deep/c.ts"]],
    ["**/*.{js,yml}", undefined, [".github/ci.yml", "src/d.js"]],
    ["*", "src", ["src/d.js", "src/deep/"]],
    ["node_modules/**", undefined, ["node_modules/x/index.ts"]],
    ["**/*.ts", "node_modules", ["node_modules/x/index.ts"]],
    [".git/*", undefined, [".git/config"]],
  ])("%s in %s", async (pattern, path, expected) => {
    const { output } = await world.call("glob", { pattern, ...(path !== undefined && { path }) });
    expect(output.split("\n")).toEqual(expected);
  });

  test("takes an absolute pattern of the workspace and refuses any other", async () => {
    expect((await world.call("glob", { pattern: join(world.workspace, "*.ts") })).output).toBe("a.ts\nb.ts");
    expect((await world.call("glob", { pattern: "/etc/*" })).outcome).toBe("error");
    expect((await world.call("glob", { pattern: "../*" })).outcome).toBe("error");
  });

  test("says so where nothing matches, and where there is more than it shows", async () => {
    expect((await world.call("glob", { pattern: "c.ts" })).output).toContain(
      "**/c.ts looks in all directories",
    );
    for (let index = 0; index < 1_001; index++) plant(`many/${String(index).padStart(4, "0")}`, "");
    const all = (await world.call("glob", { pattern: "many/*" })).output.split("\n");
    expect(all).toHaveLength(1_001);
    expect(all[999]).toBe("many/0999");
    expect(all.at(-1)).toContain("there are more");
  });
});

describe("grep", () => {
  beforeEach(() => {
    plant("a.ts", "const one = 1;\nconst Two = 2;\n");
    plant("src/b.ts", "// one\r\nlast one");
    plant("src/c.md", "one\n");
    plant("binary", new Uint8Array([0, 111, 110, 101]));
    plant("node_modules/x.ts", "one\n");
  });

  test("prints path, line and text of every hit", async () => {
    expect((await world.call("grep", { pattern: "\\bone\\b" })).output.split("\n")).toEqual([
      "a.ts:1:const one = 1;",
      "src/b.ts:1:// one",
      "src/b.ts:2:last one",
      "src/c.md:1:one",
    ]);
  });

  test.each([
    [{ pattern: "one", glob: "*.ts" }, ["a.ts:1:const one = 1;", "src/b.ts:1:// one", "src/b.ts:2:last one"]],
    [{ pattern: "one", glob: "src/*.md" }, ["src/c.md:1:one"]],
    [{ pattern: "^ONE$", ignoreCase: true }, ["src/c.md:1:one"]],
    [{ pattern: "(?i)TWO" }, ["a.ts:2:const Two = 2;"]],
    [{ pattern: "\\p{Lu}wo" }, ["a.ts:2:const Two = 2;"]],
    [{ pattern: "one", path: "src/c.md" }, ["src/c.md:1:one"]],
    [{ pattern: "one", path: "node_modules" }, ["node_modules/x.ts:1:one"]],
    [{ pattern: "nowhere" }, ["[No line matches in the workspace.]"]],
  ])("%j", async (args, expected) => {
    expect((await world.call("grep", args)).output.split("\n")).toEqual(expected);
  });

  test("a pattern that backtracks without end is stopped and named, also among alternatives alone", async () => {
    plant("slow/trap", `fine\n${"a".repeat(60)}!\n`);
    for (const pattern of ["(a+)+$", "(a|a)*$", `${"(a|aa)".repeat(40)}$`]) {
      const result = await world.call("grep", { pattern, path: "slow" });
      expect(result).toMatchObject({ outcome: "error", details: { reason: "pattern_too_slow" } });
      expect(result.output).toContain("slow/trap:2");
    }
  });

  test("what is no regular expression is answered, not thrown", async () => {
    expect(await world.call("grep", { pattern: "(" })).toMatchObject({ outcome: "error" });
    expect(await world.call("grep", { pattern: "(".repeat(50_000) + ")".repeat(50_000) })).toMatchObject({
      outcome: "error",
    });
  });

  test("caps the hits, shows long lines around the match and says what it left out", async () => {
    plant("many", "hit\n".repeat(600));
    const many = (await world.call("grep", { pattern: "hit", path: "many" })).output.split("\n");
    expect(many).toHaveLength(501);
    expect(many.at(-1)).toContain("there are more");
    plant("wide", `${"x".repeat(40_000)}needle${"y".repeat(40_000)}`);
    const wide = (await world.call("grep", { pattern: "needle", path: "wide" })).output;
    expect(wide).toMatch(/^wide:1:…x{100}needley{194}…\n\[1 very long lines were searched only in part.\]$/);
  });

  test("an unreadable directory is told, not fatal", async () => {
    plant("closed/file", "one\n");
    chmodSync(join(world.workspace, "closed"), 0);
    const result = await world.call("grep", { pattern: "one" });
    expect(result.outcome).toBe("ok");
    chmodSync(join(world.workspace, "closed"), 0o700);
  });
});

describe("a look", () => {
  test.each([
    ["read", { path: "big", offset: 5_000_000 }],
    ["glob", { pattern: "**/nothing" }],
    ["grep", { pattern: "nothing(x+)+" }],
  ])("of %s ends soon after it is told to stop", async (tool, args) => {
    plant("big", "some line of text\n".repeat(600_000));
    for (let index = 0; index < 300; index++) plant(`tree/${index}/file`, "x\n".repeat(2_000));
    const controller = new AbortController();
    const run = runOf(placeIn(world.root), args, controller.signal);
    const looking = toolNamed(world.host, tool).perform(run, { class: "pure" });
    controller.abort();
    expect((await looking).outcome).toBe("canceled");
  });

  test.each(["read", "glob", "grep"])(
    "of %s proves nothing after a death: it has not happened",
    async (tool) => {
      const run = runOf(placeIn(world.root), { path: "a", pattern: "b" });
      expect(await toolNamed(world.host, tool).prove(run, { class: "pure" })).toEqual({
        proven: "not_executed",
      });
    },
  );
});

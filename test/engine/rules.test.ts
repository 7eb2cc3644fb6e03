import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readRules } from "../../src/engine/workspace-rules.ts";
import { nodeHost } from "../../src/host/index.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-rules-")));
  mkdirSync(join(folder, "repository", "packages", "app"), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const rulesOf = (root: string, pathInRepository: string) =>
  readRules(nodeHost().disk, { root, pathInRepository, inode: "1", birthtimeNs: "1" });

describe("the rules of a workspace", () => {
  test("come from the workspace up to the top of its repository, nearest first, and from nowhere above", async () => {
    const app = join(folder, "repository", "packages", "app");
    writeFileSync(join(app, "AGENTS.md"), "Use tabs.\n");
    writeFileSync(join(folder, "repository", "AGENTS.md"), "Use spaces.\n");
    writeFileSync(join(folder, "AGENTS.md"), "Not of this repository.\n");
    const rules = await rulesOf(app, "packages/app");
    expect(rules).toBe(
      `Rules from ${join(app, "AGENTS.md")}:\n\nUse tabs.\n\n` +
        `Rules from ${join(folder, "repository", "AGENTS.md")}:\n\nUse spaces.`,
    );
  });

  test("are said once where one file is a copy of, or a link to, the other", async () => {
    const root = join(folder, "repository");
    writeFileSync(join(root, "AGENTS.md"), "Be brief.\n");
    symlinkSync("AGENTS.md", join(root, "CLAUDE.md"));
    expect((await rulesOf(root, "")).match(/Be brief/g)).toHaveLength(1);
  });

  test("never carry what a link outside of the repository names, what is no text, or what is huge", async () => {
    const root = join(folder, "repository");
    writeFileSync(join(folder, "secret"), "outside\n");
    symlinkSync(join(folder, "secret"), join(root, "AGENTS.md"));
    writeFileSync(join(root, "CLAUDE.md"), Buffer.of(0xff, 0xfe, 0x00));
    writeFileSync(join(root, "GEMINI.md"), "x".repeat(70_000));
    expect(await rulesOf(root, "")).toBe("");
  });
});

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bindWorkspace, checkWorkspace } from "../../src/engine/workspace.ts";
import { nodeHost } from "../../src/host/index.ts";
import { HoldfastError } from "../../src/model/errors.ts";
import type { WorkspaceBinding } from "../../src/model/facts.ts";

const host = nodeHost();
const session = "ses_1";
const own = { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", LANG: "C" };
let folder: string;
let work: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-workspace-")));
  work = join(folder, "my work");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function git(at: string, ...args: string[]): void {
  const who = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
  execFileSync("git", ["-C", at, ...who, ...args], { env: own, stdio: "ignore" });
}

/** Makes a repository with one commit that no other has. */
function plantRepository(at: string): void {
  mkdirSync(at);
  git(at, "init", "-b", "main");
  writeFileSync(join(at, "name.txt"), at);
  git(at, "add", ".");
  git(at, "commit", "-m", at);
}

const bind = (environment: Record<string, string> = own): Promise<WorkspaceBinding> =>
  bindWorkspace(host, work, environment);

async function refusalOf(binding: WorkspaceBinding): Promise<HoldfastError | undefined> {
  try {
    await checkWorkspace({ host, environment: own }, session, binding);
    return undefined;
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  }
}

describe("git, asked for the workspace", () => {
  test("sees no key and nothing else that it does not need", async () => {
    mkdirSync(work);
    const seen = join(folder, "seen");
    const programs = join(folder, "bin");
    mkdirSync(programs);
    writeFileSync(join(programs, "git"), `#!/bin/sh\nenv >> '${seen}'\nexit 1\n`);
    chmodSync(join(programs, "git"), 0o755);
    await bind({
      ...own,
      PATH: `${programs}:${own.PATH}`,
      ANTHROPIC_API_KEY: "sk-secret",
      GIT_SSH_COMMAND: "x",
      OTHER: "y",
    });
    const names = readFileSync(seen, "utf8")
      .trim()
      .split("\n")
      .map((line) => line.split("=")[0] ?? "");
    // The shell itself adds the last ones.
    const allowed = ["PATH", "HOME", "LANG", "LC_ALL", "GIT_OPTIONAL_LOCKS", "PWD", "OLDPWD", "SHLVL", "_"];
    expect(names).toContain("PATH");
    expect(names.filter((name) => !allowed.includes(name))).toEqual([]);
  });

  test("speaks of the workspace's own repository, whatever repository the environment names", async () => {
    plantRepository(work);
    const other = join(folder, "other");
    plantRepository(other);
    const misled = {
      GIT_DIR: join(other, ".git"),
      GIT_WORK_TREE: other,
      GIT_INDEX_FILE: join(other, ".git/index"),
    };
    expect(await bind({ ...own, ...misled })).toEqual(await bind());
  });
});

describe("a session's workspace is refused", () => {
  test("where a directory was made anew at its path", async () => {
    mkdirSync(work);
    const binding = await bind();
    expect(await refusalOf(binding)).toBeUndefined();
    renameSync(work, `${work}.away`);
    mkdirSync(work);
    expect(await refusalOf(binding)).toMatchObject({
      code: "workspace_mismatch",
      message: expect.stringContaining("another directory") as string,
      details: { hint: expect.stringContaining(`holdfast resume ${session}`) as string },
    });
  });

  test("where another repository lies at its path, and taken again where the same was cloned anew", async () => {
    plantRepository(work);
    const binding = await bind();
    renameSync(work, `${work}.away`);
    plantRepository(work);
    writeFileSync(join(work, "other.txt"), "");
    git(work, "add", ".");
    git(work, "commit", "--amend", "-m", "another beginning");
    expect(await refusalOf(binding)).toMatchObject({ code: "workspace_mismatch" });
    rmSync(work, { recursive: true });
    cpSync(`${work}.away`, work, { recursive: true });
    expect(await refusalOf(binding)).toBeUndefined();
  });

  test("where another branch is checked out, until the command of the hint was run", async () => {
    plantRepository(work);
    const binding = await bind();
    for (const away of [
      ["switch", "-c", "other"],
      ["switch", "--detach"],
    ]) {
      git(work, ...away);
      const refusal = await refusalOf(binding);
      expect(refusal).toMatchObject({ code: "branch_mismatch" });
      const command = /with: (git .*) — /.exec(refusal?.details.hint ?? "")?.[1] ?? "false";
      execFileSync("sh", ["-c", command], { env: own, stdio: "ignore" });
      expect(await refusalOf(binding)).toBeUndefined();
    }
    writeFileSync(join(work, "more.txt"), "");
    git(work, "add", ".");
    git(work, "commit", "-m", "more");
    expect(await refusalOf(binding)).toBeUndefined();
  });

  test("where it was detached at another commit, until the command of the hint was run", async () => {
    plantRepository(work);
    git(work, "switch", "--detach");
    const binding = await bind();
    git(work, "commit", "--allow-empty", "-m", "more");
    const refusal = await refusalOf(binding);
    expect(refusal).toMatchObject({ code: "branch_mismatch" });
    const command = /with: (git .*) — /.exec(refusal?.details.hint ?? "")?.[1] ?? "false";
    execFileSync("sh", ["-c", command], { env: own, stdio: "ignore" });
    expect(await refusalOf(binding)).toBeUndefined();
  });
});

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { resume, runTask } from "../../src/engine/index.ts";
import type { Commit } from "../../src/model/commit.ts";
import { examine, expectCassettePlayedOnce, expectKept, expectSettledOnce } from "./examine.ts";
import { bundlePrograms, Home, type Programs } from "./home.ts";

let programs: Programs;
const homes: Home[] = [];
beforeAll(async () => {
  programs = await bundlePrograms();
});
afterAll(() => {
  for (const home of homes) home.end();
});

function newHome(parent?: string): Home {
  const home = parent === undefined ? new Home(programs) : new Home(programs, parent);
  homes.push(home);
  return home;
}

const silent = { commit: () => undefined, live: () => undefined };

/** All bytes of the session's folder, by name. */
function bytesOf(home: Home): Record<string, string> {
  const folder = home.inSession();
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  // Who holds it is written for messages, also by whoever is refused then.
  const told = files.filter((one) => one.name !== "lease");
  return Object.fromEntries(
    told.map((one) => [
      join(one.parentPath, one.name),
      readFileSync(join(one.parentPath, one.name), "latin1"),
    ]),
  );
}

describe("a resume that may not go on", () => {
  async function suspended(): Promise<{ home: Home; selector: string }> {
    const home = newHome();
    const model = home.cassette([{ error: { status: 401, message: "no" } }, { text: "Done." }]);
    const { ending, session } = await runTask(home.engine(), home.task({ model }), silent, () => undefined);
    expect(ending).toBe("suspended");
    return { home, selector: session };
  }

  test("since its workspace is gone says so, makes none, and changes no byte; put back, it goes on", async () => {
    const { home, selector } = await suspended();
    const before = bytesOf(home);
    renameSync(home.workspace, `${home.workspace}.away`);
    const request = { selector, acceptRollback: false };
    for (const plant of [() => undefined, () => writeFileSync(home.workspace, "a file")]) {
      plant();
      await expect(resume(home.engine(), request, silent)).rejects.toMatchObject({
        code: "workspace_mismatch",
      });
      expect(bytesOf(home)).toEqual(before);
    }
    expect(await home.resume()).toMatchObject({ code: 6 });
    rmSync(home.workspace);
    renameSync(`${home.workspace}.away`, home.workspace);
    expect((await resume(home.engine(), request, silent)).ending).toBe("completed");
  });

  test("since its policy differs names the difference and changes no byte", async () => {
    const { home, selector } = await suspended();
    const before = bytesOf(home);
    const request = { selector, acceptRollback: false };
    const drifted = resume(home.engine(), { ...request, policy: { passEnv: ["NPM_TOKEN"] } }, silent);
    await expect(drifted).rejects.toMatchObject({
      code: "policy_drift",
      message: expect.stringMatching(
        /allowShell: true is recorded, false was given\n  passEnv: \[\] is recorded, \["NPM_TOKEN"\] was given/,
      ) as string,
    });
    expect(bytesOf(home)).toEqual(before);
    expect((await resume(home.engine(), { ...request, policy: { allowShell: true } }, silent)).ending).toBe(
      "completed",
    );
  });

  test("since another task was given names the open run and changes no byte", async () => {
    const { home, selector } = await suspended();
    const before = bytesOf(home);
    const other = resume(home.engine(), { selector, acceptRollback: false, task: "Something else." }, silent);
    await expect(other).rejects.toMatchObject({ code: "usage" });
    expect(bytesOf(home)).toEqual(before);
  });
});

/** Mounts a small file system of its own at `path`; false where that is not allowed here. */
function mountSmall(path: string): boolean {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", path], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

test("a disk that fills up in the middle of a run ends the worker; with space again each thing is done once", async (context) => {
  const home = newHome();
  mkdirSync(home.state, { mode: 0o700 });
  if (!mountSmall(home.state)) return context.skip("a file system cannot be mounted here");
  try {
    const filler = join(home.state, "filler");
    const append = (word: string) => `echo ${word} >> ${home.witness}`;
    const fill = `${append("two")}; cat /dev/zero > ${filler} 2>/dev/null; echo full`;
    writeFileSync(join(home.workspace, "counter.txt"), "n\n");
    const model = home.cassette([
      { calls: [{ tool: "exec", args: { command: append("one") } }] },
      { calls: [{ tool: "exec", args: { command: fill } }] },
      // Longer than what may be left of the last page of a file.
      {
        reasoning: "long ".repeat(4000),
        calls: [{ tool: "edit", args: { path: "counter.txt", old: "n", new: "n+" } }],
      },
      { calls: [{ tool: "exec", args: { command: append("three") } }] },
      { text: "Done." },
    ]);
    const told: Commit[] = [];
    const first = await home.run(home.task({ model }));
    told.push(...first.commits);
    expect(first).toMatchObject({ code: 7, error: { code: "disk_full" } });
    expect(readFileSync(home.witness, "utf8")).toBe("one\ntwo\n");
    // Still full: nothing more happens, and nothing is lost.
    for (let again = 0; again < 2; again++) {
      const more = await home.resume();
      told.push(...more.commits);
      expect(more).toMatchObject({ code: 7, error: { code: "disk_full" } });
    }
    rmSync(filler);
    const last = await home.resume();
    told.push(...last.commits);
    expect(last).toMatchObject({ code: 0, report: { ending: "completed" } });
    expect(readFileSync(home.witness, "utf8")).toBe("one\ntwo\nthree\n");
    expect(readFileSync(join(home.workspace, "counter.txt"), "utf8")).toBe("n+\n");
    const examined = await examine(home.engine(), home.sessions()[0] ?? "");
    expectKept(examined, told);
    expectSettledOnce(examined);
    expectCassettePlayedOnce(examined, 5);
  } finally {
    execFileSync("umount", ["-l", home.state]);
  }
});

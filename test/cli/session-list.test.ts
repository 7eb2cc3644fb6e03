import { createHash } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseListWords } from "../../src/cli/list-words.ts";
import { documentIn, linesOf, Place, sessionIn } from "./program.ts";

const place = new Place();
afterAll(() => place.remove());

const ids: string[] = [];
const other = join(place.folder, "other workspace");

beforeAll(async () => {
  mkdirSync(other);
  for (const title of ["First", "Second", "Third"]) ids.push(await place.completed(title));
  const model = place.cassette({ text: "Done." });
  ids.push(
    sessionIn(
      (await place.call(["run", "--task", "Elsewhere", "--workspace", other, "--model", model])).stdout,
    ),
  );
});

const list = async (...flags: string[]) => {
  const ended = await place.call(["session", "list", "--json", ...flags]);
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  const { data } = documentIn(ended.stdout);
  return data as { sessions: Record<string, unknown>[]; nextCursor: string | null; total: number };
};
const titles = (sessions: readonly Record<string, unknown>[]) => sessions.map(({ title }) => title);

describe("session list", () => {
  test("is newest first, with all that scripts rely on", async () => {
    const { sessions, nextCursor, total } = await list();
    expect([titles(sessions), nextCursor, total]).toEqual([
      ["Elsewhere", "Third", "Second", "First"],
      null,
      4,
    ]);
    expect(sessions[1]).toEqual({
      id: ids[2],
      title: "Third",
      agent: "builtin",
      model: expect.stringMatching(/^cassette\//),
      workspace: place.workspace,
      createdAt: expect.any(Number),
      updatedAt: expect.any(Number),
      active: false,
      archived: false,
      pinned: false,
      messages: 2,
      resume: { eligible: true, code: "yes", blockers: [] },
    });
  });

  test("for people is a table, and one line each where that is asked for", async () => {
    const table = (await place.call(["session", "list"])).stdout.split("\n");
    expect(table[0]).toMatch(/^ID +AGENT +UPDATED +ACTIVE +RESUME +TITLE +PATH$/);
    expect(table[1]).toMatch(
      new RegExp(
        `^${ids[3]?.slice(0, 14)}\\w* +builtin +\\S+( ago)? +no +yes +Elsewhere +…?\\S* ?workspace$`,
      ),
    );
    expect(table.filter((line) => line.length > 80)).toEqual([]);
    const plain = (await place.call(["session", "list", "--plain"])).stdout;
    expect(plain.split("\n")[0]).toBe(`${ids[3]}\t${other}\tElsewhere`);
  });

  test("a short id of the table selects its session", async () => {
    const [, row = ""] = (await place.call(["session", "list"])).stdout.split("\n");
    const shown = await place.call(["session", "show", row.split(" ")[0] ?? "", "--json"]);
    expect(documentIn(shown.stdout).data.id).toBe(ids[3]);
  });

  test("pages follow each other without gaps, and say how many there are", async () => {
    const seen: unknown[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const page: Awaited<ReturnType<typeof list>> = await list(
        "--limit",
        "1",
        ...(cursor === "" ? [] : ["--cursor", cursor]),
      );
      seen.push(...titles(page.sessions));
      expect(page.total).toBe(4);
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(["Elsewhere", "Third", "Second", "First"]);
    const { stdout } = await place.call(["session", "list", "--limit", "3"]);
    expect(stdout).toContain("\nshown 3 of 4\n");
    const more = /more with: holdfast (session list .*)\n/.exec(stdout)?.[1] ?? "";
    expect((await place.call(more.split(" "))).stdout).toMatch(/First/);
    // Another page of the same list.
    const some = await place.call(["session", "list", "--resumable", "--workspace", ".", "--limit", "1"]);
    expect(some.stdout).toMatch(
      /more with: holdfast session list --resumable --workspace \. --limit 1 --cursor /,
    );
  });

  test("of one directory finds it under every name that it has", async () => {
    symlinkSync(other, join(place.folder, "link"));
    for (const directory of [other, `${other}/../other workspace/`, "../other workspace", "../link"]) {
      expect(titles((await list("--workspace", directory)).sessions)).toEqual(["Elsewhere"]);
    }
    expect((await list("--workspace", "/nowhere")).sessions).toEqual([]);
    expect((await place.call(["session", "list", "--workspace", other])).stdout).toContain("shown 1 of 4");
  });

  test("shows what runs now, and that it cannot be resumed meanwhile", async () => {
    const command = "while ! [ -e go ]; do sleep 0.05; done; rm go";
    const model = place.cassette({ calls: [{ tool: "exec", args: { command } }] }, { text: "Done." });
    const running = place.start(["run", "--task", "Live", "--model", model, "--allow-shell"]);
    await running.seen(/"type":"op\.started"/);
    const { sessions } = await list("--active");
    expect(sessions).toMatchObject([
      { title: "Live", active: true, resume: { eligible: false, code: "active" } },
    ]);
    expect(titles((await list("--resumable")).sessions)).toEqual(["Elsewhere", "Third", "Second", "First"]);
    expect((await place.call(["session", "list", "--active"])).stdout).toMatch(/ yes +no\(active\) +Live/);
    writeFileSync(join(place.workspace, "go"), "");
    expect((await running.ended).code).toBe(0);
    expect((await list("--active")).sessions).toEqual([]);
  });

  test("a damaged session is a row that says so and hides no other", async () => {
    const damaged = await place.completed("Broken");
    const log = place.log(damaged);
    const bytes = readFileSync(log);
    for (const [what, damage] of [
      ["nothing of it verifies", () => writeFileSync(log, "no line\n")],
      ["it is gone", () => rmSync(log)],
      ["it is a directory", () => mkdirSync(log)],
    ] as const) {
      damage();
      const { sessions, total } = await list();
      const row = sessions.find(({ id }) => id === damaged);
      expect([what, total, sessions.length]).toEqual([what, 6, 6]);
      expect([what, row?.["damaged"], row?.["resume"]]).toEqual([
        what,
        expect.any(String),
        { eligible: false, code: "damaged", blockers: ["damaged"] },
      ]);
      expect((await place.call(["session", "list"])).stdout).toMatch(/no\(damaged\) +damaged: /);
    }
    rmSync(log, { recursive: true });
    writeFileSync(log, bytes);
  });

  test("a session whose directory is gone cannot be resumed, and the list says why", async () => {
    renameSync(other, `${other}-away`);
    const { sessions } = await list();
    renameSync(`${other}-away`, other);
    const row = sessions.find(({ title }) => title === "Elsewhere");
    expect(row?.["resume"]).toEqual({ eligible: false, code: "cwd-missing", blockers: ["cwd-missing"] });
  });

  test("writes nothing, with or without a state directory", async () => {
    const before = treeOf(place.state);
    await list();
    await place.call(["session", "list", "--active"]);
    await place.call(["session", "show", ids[0] ?? ""]);
    await place.call(["run", "show", ids[0] ?? ""]);
    expect(treeOf(place.state)).toEqual(before);
    const nowhere = join(place.folder, "nowhere");
    const { stdout, code } = await place.call(["session", "list", "--state-dir", nowhere]);
    expect([code, stdout]).toEqual([
      0,
      `There are no sessions in ${nowhere}.\nStart one with --task TEXT and --model PROVIDER/MODEL: holdfast --state-dir ${nowhere} run --help\n`,
    ]);
    expect(readdirSync(place.folder)).not.toContain("nowhere");
  });

  test("a reader that goes away is no error", async () => {
    const running = place.start(["session", "list", "--json"]);
    running.child.stdout?.destroy();
    expect((await running.ended).stderr).toBe("");
  });
});

describe("the short way to a list", () => {
  test("answers as the parser of all commands does", async () => {
    for (const flags of [
      [],
      ["--json"],
      ["--limit", "2"],
      ["--plain"],
      ["--active", "--archived"],
      ["--limit", "x"],
      ["--workspace", other],
    ]) {
      expect(parseListWords(["session", "list", ...flags])).toBeDefined();
      // The other parser reads what has an equals sign.
      const long = [`--state-dir=${place.state}`, "session", "list", ...flags];
      expect(parseListWords(long)).toBeUndefined();
      const [ours, theirs] = await Promise.all([place.call(["session", "list", ...flags]), place.call(long)]);
      // But for the flag itself, and a second that passes between the two.
      const same = (text: string) =>
        text
          .replaceAll(`holdfast --state-dir ${place.state} `, "holdfast ")
          .replaceAll(/\d+s ago *|now +/g, "ago");
      expect({ ...theirs, stdout: same(theirs.stdout) }).toEqual({ ...ours, stdout: same(ours.stdout) });
    }
  });

  test("takes no words that it does not know whole", () => {
    const word = fc.constantFrom(
      "session",
      "list",
      "show",
      "--json",
      "--plain",
      "--limit",
      "5",
      "--help",
      "-h",
      "--",
      "--x",
      "--format",
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 7 }), (words) => {
        const parsed = parseListWords(words);
        if (parsed === undefined) return;
        const rest = words.filter((one, index) => words[index - 1] !== "--limit");
        expect(rest.filter((one) => !one.startsWith("--"))).toEqual(["session", "list"]);
        expect(rest.every((one) => !["--help", "-h", "--", "--x", "--format"].includes(one))).toBe(true);
      }),
    );
  });

  test("tells a fault as every command does", async () => {
    const file = join(place.folder, "file");
    writeFileSync(file, "");
    const text = await place.call(["session", "list", "--state-dir", file]);
    expect([text.code, text.stdout]).toEqual([7, ""]);
    expect(text.stderr).toMatch(
      /^holdfast: cannot read the state directory \S+\/file: ENOTDIR\n {2}Choose another/,
    );
    expect(() => linesOf(text.stderr)).toThrow();
  });
});

/** Every name below a folder with what it holds and when it was changed. */
function treeOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .toSorted()
    .map((name) => {
      const path = join(folder, name);
      const { mtimeNs, ctimeNs, size } = lstatSync(path, { bigint: true });
      const sum = lstatSync(path).isFile()
        ? createHash("sha256").update(readFileSync(path)).digest("hex")
        : "";
      return [name, mtimeNs, ctimeNs, size, sum].join(" ");
    });
}

import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { documentIn, linesOf, Place } from "./program.ts";

const place = new Place();
afterAll(() => place.remove());

const file = place.file.bind(place);
const model = place.cassette({ text: "Done." });
const good = ["--model", model, "--task", "x"];

describe("what cannot be understood ends with exit code 2, says what, and starts nothing", () => {
  const empty = file("empty.md", " \n\t");
  const binary = file("binary.md", new Uint8Array([0x66, 0xff, 0xfe]));
  const huge = file("huge.md", new Uint8Array(16 * 1024 * 1024 + 1).fill(0x61));
  const badCassette = file(
    "bad.yaml",
    "cassette: 1\nturns:\n  - txt: hello\n  - calls: [{ tool: write, arguments: {} }]\n  - usage: { input: -1 }\n",
  );
  const cases: [what: string, args: string[], says: RegExp][] = [
    ["an unknown command", ["rum"], /unknown command 'rum'[^]*Did you mean run\?/],
    ["an unknown command of a group", ["run", "lst"], /unknown command 'lst'[^]*Did you mean list\?/],
    ["an unknown flag", ["run", "--tsk", "x"], /unknown option '--tsk'[^]*Did you mean --task\?/],
    ["an unknown flag of a list", ["session", "list", "--actve"], /--actve[^]*Did you mean --active\?/],
    ["a group without a command", ["session"], /there is no command/],
    ["nothing at all", [], /there is no command/],
    ["no task", ["run", "--model", model], /there is no task[^]*--task TEXT, --task-file FILE or --stdin/],
    [
      "two tasks",
      ["run", ...good, "--task-file", empty],
      /one source, and there are 2: --task and --task-file/,
    ],
    [
      "three tasks",
      ["run", ...good, "--task-file", empty, "--stdin"],
      /there are 3: --task and --task-file and --stdin/,
    ],
    ["a task that is given twice", ["run", ...good, "--task", "y"], /'--task <text>'[^]*given twice/],
    ["an empty task", ["run", "--model", model, "--task", "  \n"], /the task of --task is empty/],
    ["an empty task file", ["run", "--model", model, "--task-file", empty], /empty\.md is empty/],
    [
      "nothing on standard input",
      ["run", "--model", model, "--stdin"],
      /the task on standard input is empty/,
    ],
    [
      "a task file that is not there",
      ["run", "--model", model, "--task-file", "no.md"],
      /the task file no\.md does not exist/,
    ],
    [
      "a directory as task file",
      ["run", "--model", model, "--task-file", "."],
      /the task file \. is a directory/,
    ],
    [
      "a task file that is no text",
      ["run", "--model", model, "--task-file", binary],
      /binary\.md is not UTF-8 text/,
    ],
    [
      "a task file without end",
      ["run", "--model", model, "--task-file", huge],
      /huge\.md is too long: a task is at most 16 MiB/,
    ],
    [
      "a device as task file",
      ["run", "--model", model, "--task-file", "/dev/zero"],
      /\/dev\/zero is no file/,
    ],
    [
      "a workspace that is not there",
      ["run", ...good, "--workspace", "nowhere"],
      /the workspace \S*\/nowhere does not exist/,
    ],
    ["a file as workspace", ["run", ...good, "--workspace", empty], /empty\.md is no directory/],
    ["no model", ["run", "--task", "x"], /no model was named/],
    [
      "an unknown provider",
      ["run", "--task", "x", "--model", "acme/best"],
      /no provider "acme"[^]*anthropic/,
    ],
    ["a provider without a model", ["run", "--task", "x", "--model", "openai"], /a provider and no model/],
    [
      "a provider without its key",
      ["run", "--task", "x", "--model", "openai/gpt-5"],
      /no key for openai\/gpt-5[^]*OPENAI_API_KEY/,
    ],
    ["an unknown agent", ["run", ...good, "--agent", "hal"], /there is no agent "hal"/],
    [
      "a cassette that is not there",
      ["run", "--task", "x", "--model", "cassette:no.yaml"],
      /no\.yaml does not exist/,
    ],
    [
      "a bad cassette, with all that is wrong and where",
      ["run", "--task", "x", "--model", `cassette:${badCassette}`],
      /turns\[0\][^]*txt[^]*turns\[1\][^]*arguments[^]*turns\[2\][^]*input/,
    ],
    ["a run list without a session", ["run", "list"], /missing required argument 'session'/],
    ["a resume without a session", ["resume"], /which session is to go on[^]*session list --resumable/],
    ["a resume with a model", ["--resume", "ses_1", "--model", model], /--resume and --model contradict/],
    [
      "a resume with a workspace",
      ["run", "--resume=ses_1", "--workspace", "."],
      /--resume and --workspace contradict/,
    ],
    ["a resume of two things", ["--resume", "ses_1", "session", "list"], /unknown command 'session'/],
    [
      "a task without its flag",
      ["run", "Fix it", "--model", "m"],
      /unknown command 'Fix it'[^]*holdfast --\S+ (text )?run --task 'Fix it' --model m/,
    ],
    ["a message without a text", ["send", "ses_1"], /there is no task[^]*as TEXT, with --task-file FILE/],
    ["a message of nothing", ["send", "ses_1", " \n"], /the text is empty/],
    ["two messages", ["send", "ses_1", "a", "--task", "b"], /there are 2: TEXT and --task/],
    ["a message for nobody", ["send"], /missing required argument 'session'/],
    ["a key that is none", ["send", "ses_1", "a", "--key", " "], /the key is blank/],
    ["a queue without a command", ["queue"], /there is no command/],
    ["a queue list without a session", ["queue", "list"], /missing required argument 'session'/],
    ["a resolution that says nothing", ["run", "resolve", "s", "r", "o"], /nothing says what happened/],
    [
      "a resolution both ways",
      ["run", "resolve", "s", "r", "o", "--output", "x", "--not-executed"],
      /contradict/,
    ],
    [
      "a resolution that failed and did not happen",
      ["run", "resolve", "s", "r", "o", "--not-executed", "--is-error"],
      /contradict/,
    ],
    [
      "a resolution by nobody",
      ["run", "resolve", "s", "r", "o", "--output", "x", "--by", " "],
      /--by names nobody/,
    ],
    [
      "a question where nobody can be asked",
      ["run", ...good, "--approvals", "prompt"],
      /--approvals prompt asks in a terminal, and standard input is none/,
    ],
    [
      "approvals in no known way",
      ["run", ...good, "--approvals", "maybe"],
      /prompt, wait or deny, not "maybe"/,
    ],
    [
      "a wait of no duration",
      ["resume", "ses_1", "--approvals", "wait:soon"],
      /--approvals wait takes a duration, not "soon"[^]*500ms/,
    ],
    [
      "a grace of no duration",
      ["run", ...good, "--cancel-grace", "-1s"],
      /--cancel-grace takes a duration, not "-1s"/,
    ],
    ["a cancel by nobody", ["run", "cancel", "s", "--by", " "], /--by names nobody/],
    ["an approval by nobody", ["run", "approve", "s", "r", "o", "--by", ""], /--by names nobody/],
    ["an abandon without a run", ["run", "abandon", "s"], /missing required argument 'run'/],
    [
      "active and archived",
      ["session", "list", "--active", "--archived"],
      /--active and --archived contradict/,
    ],
    ["a limit that is no number", ["session", "list", "--limit", "ten"], /--limit is a whole number/],
    ["a limit of nothing", ["session", "list", "--limit", "0"], /--limit is a whole number/],
    ["a cursor that is none", ["session", "list", "--cursor", "here"], /"here" is no cursor/],
    ["a format that is none", ["run", ...good, "--format", "xml"], /'xml' is invalid/],
    ["an empty state directory", ["session", "list", "--state-dir", ""], /--state-dir names no directory/],
  ];

  test.each(cases)("%s", async (_, args, says) => {
    const [text, json] = await Promise.all([
      place.call(["--format", "text", ...args]),
      place.call(["--json", ...args]),
    ]);
    expect(text.stderr).toMatch(says);
    expect(text.stderr).toMatch(/^(Usage: [^]*\n)?holdfast: /);
    expect([text.code, text.stdout]).toEqual([2, ""]);
    const { ok, error } = documentIn(json.stdout);
    expect([json.code, ok, error?.code, json.stderr]).toEqual([2, false, "usage", ""]);
    expect(`${error?.message}\n${error?.hint}`).toMatch(says);
  });

  test("a command whose output is piped says it as a JSON line as well", async () => {
    for (const args of [
      ["run"],
      ["run", "--bogus"],
      ["resume", "a", "b"],
      ["--resume", "x", "--title", "y"],
    ]) {
      const ended = await place.call(args);
      const last = linesOf(ended.stdout).at(-1);
      expect(last).toMatchObject({ schema: 1, type: "error", code: "usage" });
      expect(ended.stderr).toContain(`holdfast: ${String(last?.["message"])}`);
      expect(ended.code).toBe(2);
    }
  });

  test("nothing was made by all of this", async () => {
    const ended = await place.call(["session", "list", "--json"]);
    expect(documentIn(ended.stdout).data).toEqual({ sessions: [], nextCursor: null, total: 0 });
  });
});

describe("where things are", () => {
  test("global flags work before and after a command", async () => {
    const other = join(place.folder, "other");
    await place.call(["--state-dir", other, "run", ...good]);
    for (const args of [
      ["--state-dir", other, "--json", "session", "list"],
      ["session", "--state-dir", other, "list", "--json"],
      ["session", "--json", "list", "--state-dir", other],
      ["session", "list", `--state-dir=${other}`, "--json"],
    ]) {
      expect(documentIn((await place.call(args)).stdout).data.total).toBe(1);
    }
  });

  test("what is not found is said with the state directory that was searched, and exit code 8", async () => {
    for (const args of [
      ["resume", "ses_x"],
      ["session", "show", "ses_x"],
      ["run", "list", "ses_x"],
      ["run", "show", "ses_x"],
      ["run", "resolve", "ses_x", "run_x", "op_x", "--not-executed"],
      ["run", "approve", "ses_x", "run_x", "op_x"],
      ["run", "cancel", "ses_x"],
      ["run", "abandon", "ses_x", "run_x"],
      ["session", "repair", "ses_x"],
      ["send", "ses_x", "a"],
      ["queue", "list", "ses_x"],
    ]) {
      const ended = await place.call([...args, "--json"]);
      expect(documentIn(ended.stdout).error).toMatchObject({ code: "not_found" });
      expect(documentIn(ended.stdout).error?.message).toContain(place.state);
      expect(ended.code).toBe(8);
    }
  });

  test("a state directory that cannot be used is refused with exit code 7", async () => {
    const blocked = file("blocked", "not a directory");
    for (const args of [
      ["session", "list"],
      ["session", "show", "ses_x"],
      ["run", ...good],
    ]) {
      for (const directory of [blocked, join(blocked, "below"), "/proc/nowhere"]) {
        const ended = await place.call(["--state-dir", directory, "--json", ...args]);
        const isRead = directory === "/proc/nowhere" && args[0] === "session";
        const code = documentIn(ended.stdout).error?.code ?? "none";
        expect([args, directory, code]).toEqual([args, directory, isRead ? code : "io_error"]);
        expect(ended.code).toBe(isRead ? (args[1] === "list" ? 0 : 8) : 7);
      }
    }
  });

  test("a state directory without permission is refused", async (context) => {
    if (process.getuid?.() === 0) return context.skip("permissions do not bind root");
    const locked = join(place.folder, "locked");
    mkdirSync(locked);
    chmodSync(locked, 0o500);
    const ended = await place.call(["--state-dir", locked, "--json", "run", ...good]);
    expect([ended.code, documentIn(ended.stdout).error?.code]).toEqual([7, "io_error"]);
  });
});

/** What the help of a command lists, name by summary. */
async function listedBelow(command: string): Promise<[name: string, summary: string][]> {
  const { stdout } = await place.call([...command.split(" ").filter(Boolean), "--help"]);
  const [, list = ""] = /\nCommands:\n([^]*?)\n\n/.exec(stdout) ?? [];
  return [...list.matchAll(/^ {2}(\S+) +(.*(?:\n {4,}.*)*)/gm)].map(([, name = "", summary = ""]) => [
    [command, name].join(" ").trim(),
    summary.replaceAll(/\s+/g, " "),
  ]);
}

const top = await listedBelow("");
const below = (await Promise.all(top.map(([name]) => listedBelow(name)))).flat();
const commands = ["", ...[...top, ...below].map(([name]) => name)];

describe("help", () => {
  test("lists each command with a whole sentence, and README names it", () => {
    expect(commands).toEqual(expect.arrayContaining(["run", "run approve", "queue list", "demo"]));
    expect([...top, ...below].filter(([, summary]) => !summary.endsWith("."))).toEqual([]);
    const readme = readFileSync("README.md", "utf8");
    const groups = new Set(below.map(([name]) => name.split(" ")[0]));
    const named = (name: string) => new RegExp(`holdfast ${name}\\b`).test(readme);
    expect(commands.filter((name) => !groups.has(name) && !named(name))).toEqual([]);
  });

  test.each(commands)("of 'holdfast %s' fits 80 columns and has an example", async (command) => {
    const words = command.split(" ").filter((word) => word !== "");
    const { code, stdout, stderr } = await place.call([...words, "--help"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(stdout).toMatch(new RegExp(`^Usage: holdfast${words.map((word) => ` ${word}`).join("")}`));
    expect(stdout).toMatch(/\nExamples:\n {2}# .+\n {2}holdfast /);
    for (const flag of ["--state-dir", "--single-writer", "--json", "--format", "--help"])
      expect(stdout).toContain(flag);
  });

  test("its examples are understood", async () => {
    const all = commands.map(async (command) => {
      const { stdout } = await place.call([...command.split(" ").filter(Boolean), "--help"]);
      const examples = stdout.slice(stdout.indexOf("\nExamples:")).replaceAll("\\\n", " ");
      return [...examples.matchAll(/^ {2}holdfast (.*?)(?: \|.*)?$/gm)].map((line) => line[1] ?? "");
    });
    const lines = new Set((await Promise.all(all)).flat().filter((line) => !line.startsWith("demo")));
    expect(lines.size).toBeGreaterThan(15);
    for (const line of lines) {
      const words = line.match(/"[^"]*"|\S+/g)?.map((word) => word.replaceAll('"', "")) ?? [];
      const ended = await place.call([...words, ...(words.includes("--json") ? [] : ["--json"])]);
      const message = documentIn(ended.stdout).error?.message ?? "";
      // What they name is not here; but every word of them is a word of ours.
      const isOurs = !/unknown|missing|many|invalid|contradict|no model/.test(message);
      expect([line, message, isOurs]).toEqual([line, message, true]);
    }
  });

  test("the version is one line, or one document", async () => {
    const { version } = documentIn((await place.call(["--version", "--json"])).stdout).data as {
      version: string;
    };
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    for (const flag of ["--version", "-V"]) {
      expect(await place.call([flag])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
    }
  });
});

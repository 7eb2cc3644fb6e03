import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { documentIn, linesOf, Place } from "./program.ts";
import { hasTerminal, shownLines, startInTerminal } from "./terminal.ts";

const place = new Place();
afterAll(() => place.remove());

const file = place.file.bind(place);
const definition = (more = "", output = "{ format: text }") => `apiVersion: holdfast/v1
kind: Agent
metadata: { name: fixer, description: Fixes one failing test at a time. }
spec:
  objective: Make the failing test pass without changing what it asks for, and say what you did and why.
  instructions:
    - Read the test first.
    - Change as little as possible.
  successCriteria: [The test passes.]
  capabilities: { required: [read, write], optional: [exec, grep] }
  execution: { modelRole: execution, maxTurns: 40, maxWallClockMs: 600000, maxTokens: 500000 }
  output: ${output}
${more}`;
const good = file("agent.yaml", definition());
const bad = file(
  "bad.yaml",
  definition("  colour: red\n")
    .replace("required: [read, write]", "required: [raed, exec]")
    .replace("maxTurns: 40", "maxTurns: 0"),
);
describe("agent validate", () => {
  test("answers with the definition as it would be locked, and its hash", async () => {
    const { code, stdout, stderr } = await place.call(["agent", "validate", good, "--json"]);
    expect([code, stderr]).toEqual([0, ""]);
    const { ok, kind, data } = documentIn(stdout);
    expect([ok, kind]).toEqual([true, "agent_validate"]);
    expect(data).toMatchObject({
      definition: { metadata: { name: "fixer" }, spec: { execution: { maxTurns: 40, maxPureRetries: 3 } } },
      definitionHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      needs: ["allowShell"],
    });
    const asJson = file("agent.json", JSON.stringify(data.definition));
    const again = await place.call(["agent", "validate", asJson, "--json"]);
    expect(documentIn(again.stdout).data).toEqual(data);
  });

  test("says everything that is wrong with it, each with its path and place, and exits 2", async () => {
    const [text, json] = await Promise.all([
      place.call(["agent", "validate", bad]),
      place.call(["agent", "validate", bad, "--json"]),
    ]);
    expect([text.code, text.stdout, json.code, json.stderr]).toEqual([2, "", 2, ""]);
    const { error } = documentIn(json.stdout);
    expect(error?.code).toBe("usage");
    for (const says of [
      /spec\.capabilities\.required\[0\]: must be one of .*, not "raed" \(line 10, column 30\)/,
      /spec\.capabilities\.optional\[0\]: is the same as spec\.capabilities\.required\[1\] \(line 10, column 54\)/,
      /spec\.execution\.maxTurns: must be at least 1, not 0 \(line 11, column 38\)/,
      /spec\.colour: is not a known field \(line 13, column 3\)/,
    ]) {
      expect(error?.message).toMatch(says);
      expect(text.stderr).toMatch(says);
    }
  });

  const refused: Record<string, [string | Uint8Array, RegExp]> = {
    "is empty": ["", /it is empty/],
    "is no UTF-8": [new Uint8Array([0x6b, 0xff]), /is not UTF-8 text/],
    "is huge": ["#".repeat(256 * 1024 + 1), /is too long: a definition is at most 256 KiB/],
    "becomes huge": [
      `a: &a ${"x".repeat(60_000)}\nb: [${Array.from({ length: 60 }, () => "*a").join(", ")}]\n`,
      /is too long: it may have 256 KiB/,
    ],
    "is two documents": [`${definition()}---\n${definition()}`, /line 13, column 1: a second document/],
    "is nested without an end": [`spec: ${"[".repeat(50_000)}`, /nested deeper than 256/],
    "is a bomb of aliases": [
      Array.from({ length: 9 }, (_, level) => {
        const items =
          level === 0 ? "1,2,3,4,5,6,7,8,9" : Array.from({ length: 9 }, () => `*a${level - 1}`).join();
        return `a${level}: &a${level} [${items}]\n`;
      }).join(""),
      /Excessive alias count/,
    ],
    "is no mapping": ["- a\n", /it is not a mapping/],
  };
  test.each(Object.entries(refused))("refuses a file that %s", async (name, [content, says]) => {
    const path = file(`refused-${name.replaceAll(" ", "-")}.yaml`, content);
    const ended = await place.call(["agent", "validate", path, "--json"]);
    const { error } = documentIn(ended.stdout);
    expect([ended.code, error?.code]).toEqual([2, "usage"]);
    expect(error?.message).toMatch(says);
  });

  test("refuses what is no file, and says so", async () => {
    for (const [path, says] of [
      ["none.yaml", "does not exist"],
      [".", "is a directory"],
      ["/dev/zero", "is no file"],
    ] as const) {
      const ended = await place.call(["agent", "validate", path, "--json"]);
      expect([ended.code, documentIn(ended.stdout).error?.message]).toEqual([
        2,
        `the definition ${path} ${says}`,
      ]);
    }
    expect((await place.call(["agent", "validate"])).code).toBe(2);
  });

  test("refuses a definition that holds a key of ours, and does not say it", async () => {
    const key = "sk-very-secret-key-0123456789";
    const path = file("secret.yaml", definition().replace("Read the test first.", `Use the key ${key}.`));
    const ended = await place.call(["agent", "validate", path], { env: { OPENAI_API_KEY: key } });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(/spec\.instructions\[0\]: holds a provider's key/);
    expect(ended.stderr).not.toContain(key);
  });

  test("fits 80 columns, good or bad, without breaking a word", async (context) => {
    if (!hasTerminal) context.skip("the program `script`, which makes a terminal, is not installed");
    for (const [path, code] of [
      [good, 0],
      [bad, 2],
    ] as const) {
      const ended = await startInTerminal(place, ["agent", "validate", path]).ended;
      expect(ended.code).toBe(code);
      const lines = shownLines(ended.written);
      // A line that is exactly as wide as the terminal was broken by it, but for a path that has no blank.
      expect(lines.filter((line) => line.length >= 80 && !line.includes(place.folder))).toEqual([]);
    }
  });

  test("is shown to people in full", async () => {
    const { stdout } = await place.call(["agent", "validate", "../agent.yaml"]);
    expect(stdout).toMatchInlineSnapshot(`
      "fixer  valid
        about     Fixes one failing test at a time.
        objective Make the failing test pass without changing what it asks for, and
                  say what you did and why.
        told      2 instructions, 1 success criterion
        requires  read, write
        may use   exec, grep
        needs     --allow-shell to run commands
        bounds    40 turns · 500 000 tokens · 10 min
        answers   text
        hash      9dc1621b5e09a50778f74f2a49e44abeb35f8334b6a2bce01c6da064ea51f609
      "
    `);
  });
});

describe("run --spec --policy", () => {
  test("locks the definition and the policy into the first line, with their hashes", async () => {
    const policy = file(
      "policy.json",
      JSON.stringify({
        deniedCapabilities: ["grep"],
        passEnv: ["B"],
        maxTurns: 5,
        approvals: { write: "ask" },
      }),
    );
    const model = place.cassette({ text: "Done." });
    const flags = ["--spec", good, "--policy", policy, "--allow-shell", "--pass-env", "C", "--pass-env", "A"];
    const ended = await place.call(["run", "--task", "x", "--model", model, ...flags, "--pass-env", "B"], {
      env: { A: "1", B: "1", C: "1" },
    });
    expect([ended.code, ended.stderr]).toEqual([0, ""]);
    const [created] = linesOf(ended.stdout);
    const validated = documentIn((await place.call(["agent", "validate", good, "--json"])).stdout).data;
    expect(created).toMatchObject({
      type: "session.created",
      definition: validated.definition,
      definitionHash: validated.definitionHash,
      capabilities: ["exec", "read", "write"],
      policy: {
        deniedCapabilities: ["grep"],
        allowShell: true,
        allowMcp: false,
        passEnv: ["A", "B", "C"],
        maxTurns: 5,
        approvals: { write: "ask" },
      },
    });
    const session = String(created?.["session"]);
    const [text, json] = await Promise.all([
      place.call(["session", "show", session]),
      place.call(["session", "show", session, "--json"]),
    ]);
    expect(text.stdout).toMatch(/^ {2}spec +fixer$/m);
    expect(text.stdout.replaceAll(/\s+/g, " ")).toContain(
      "may run commands; passes A, B, C to them; denied: grep; asks before: write; at most 5 turns",
    );
    const { definition: name } = documentIn(json.stdout).data;
    expect(name).toEqual({ name: "fixer", hash: validated.definitionHash });
  });

  test("never narrows what a policy allows: flags only add to it", async () => {
    const policy = file("shell.json", JSON.stringify({ allowShell: true }));
    const model = place.cassette({ text: "Done." });
    const ended = await place.call([
      "run",
      "--task",
      "x",
      "--model",
      model,
      "--policy",
      policy,
      "--allow-mcp",
    ]);
    expect(linesOf(ended.stdout)[0]).toMatchObject({ policy: { allowShell: true, allowMcp: true } });
  });

  test("says everything that is wrong with a policy at once, and starts nothing", async () => {
    const policy = file(
      "bad.json",
      '{\n  "allowShel": true,\n  "maxTurns": 0,\n  "passEnv": ["OPENAI_API_KEY"]\n}\n',
    );
    const model = place.cassette({ text: "Done." });
    const ended = await place.call(["run", "--task", "x", "--model", model, "--policy", policy, "--json"]);
    const { error } = documentIn(ended.stdout);
    expect([ended.code, error?.code]).toEqual([2, "usage"]);
    expect(error?.message.split("\n").slice(1)).toEqual([
      "  allowShel: is not a known field (line 2, column 3)",
      "  maxTurns: must be at least 1, not 0 (line 3, column 3)",
      "  passEnv[0]: OPENAI_API_KEY is a model provider's key, which no command ever sees (line 4, column 15)",
    ]);
  });

  test("refuses variables that cannot be passed, and never says a value", async () => {
    const model = place.cassette({ text: "Done." });
    const flags = ["--pass-env", "OPENAI_API_KEY", "--pass-env", "NPM_TOKEN=npm_s3cret"];
    const ended = await place.call(["run", "--task", "x", "--model", model, "--format", "text", ...flags]);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(
      /OPENAI_API_KEY is a model provider's key.*"NPM_TOKEN" is named without a value/,
    );
    expect(ended.stderr).not.toContain("s3cret");
  });

  test("takes a variable that is not set here, and says so to people", async () => {
    const model = () => place.cassette({ text: "Done." });
    const words = ["run", "--task", "x", "--pass-env", "NPM_TOKEN"];
    const [lines, json] = await Promise.all([
      place.call([...words, "--model", model()]),
      place.call([...words, "--model", model(), "--json"]),
    ]);
    expect([lines.code, lines.stderr]).toEqual([
      0,
      "holdfast: NPM_TOKEN is to be passed to commands and is not set here\n",
    ]);
    expect([json.code, json.stderr]).toEqual([0, ""]);
    expect(linesOf(lines.stdout)[0]).toMatchObject({ policy: { passEnv: ["NPM_TOKEN"] } });
  });

  test("starts nothing where the policy does not permit what the agent requires, and says what would", async () => {
    const spec = file(
      "shell.yaml",
      definition().replace(
        "required: [read, write], optional: [exec,",
        "required: [exec, write], optional: [read,",
      ),
    );
    const policy = file("no-write.json", JSON.stringify({ deniedCapabilities: ["write"] }));
    const model = place.cassette({ text: "Done." });
    const state = join(place.folder, "untouched");
    const words = [
      "--state-dir",
      state,
      "run",
      "--task",
      "x",
      "--model",
      model,
      "--spec",
      spec,
      "--policy",
      policy,
    ];
    const ended = await place.call([...words, "--json"]);
    expect([ended.code, documentIn(ended.stdout).error?.code]).toEqual([2, "usage"]);
    expect(documentIn(ended.stdout).error?.message).toBe(
      "the policy does not permit what the agent fixer requires:\n" +
        "  exec: give --allow-shell, or allowShell in the policy\n" +
        "  write: take it out of the policy's deniedCapabilities",
    );
    expect(() => readdirSync(state)).toThrow(/ENOENT/);
  });

  test("ends a run whose answer is not what the definition demands as failed, with exit code 1", async () => {
    const spec = file("json.yaml", definition("", "{ format: json, requiredFields: [summary, files] }"));
    const model = () => place.cassette({ text: '{"summary": "x"}' });
    const words = ["run", "--task", "x", "--spec", spec, "--model"];
    const [lines, text] = await Promise.all([
      place.call([...words, model()]),
      place.call([...words, model(), "--format", "text"]),
    ]);
    expect([lines.code, text.code]).toEqual([1, 1]);
    expect(linesOf(lines.stdout).at(-1)).toMatchObject({
      type: "run.ended",
      status: "failed",
      reason: "output_invalid",
      message: expect.stringContaining("files: is missing") as string,
      text: '{"summary": "x"}',
    });
    expect(text.stdout.replaceAll(/\s+/g, " ")).toContain(
      "output_invalid: the answer does not keep to the definition's output: files: is missing",
    );
    const right = place.cassette({ text: '{"summary": "x", "files": []}' });
    expect((await place.call([...words, right])).code).toBe(0);
  });
});

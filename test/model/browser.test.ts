import { readFileSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { createContext, runInContext } from "node:vm";
import type { BuildResult } from "esbuild";
import { build } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";
import type { Commit } from "../../src/model/commit.ts";
import { applyToQueue, emptyQueueState } from "../../src/model/delivery.ts";
import { faultOfFact } from "../../src/model/facts.ts";
import { applyCommit, beginSession } from "../../src/model/fold.ts";
import { printCommit } from "../../src/model/printed-line.ts";
import { projectPrompt } from "../../src/model/projection.ts";
import { viewRun } from "../../src/model/views.ts";

// A1: the model runs in a browser. A session that was recorded with real files is folded there as it is here.
const log = readFileSync(resolve("test/model/recorded/log.jsonl"), "utf8");
const queue = readFileSync(resolve("test/model/recorded/queue.jsonl"), "utf8");

const files = readdirSync(resolve("src/model"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => name.replaceAll("\\", "/"));

async function bundleForBrowser(): Promise<BuildResult<{ metafile: true; write: false }>> {
  const contents = files.map((name, index) => `export * as file${index} from "./${name}";`).join("\n");
  return await build({
    stdin: { contents, resolveDir: resolve("src/model"), loader: "ts" },
    bundle: true,
    write: false,
    metafile: true,
    platform: "browser",
    format: "iife",
    globalName: "model",
    logLevel: "silent",
  });
}

/** What a page shows of a log: computed by the given functions, whichever world they live in. */
const readings = {
  applyCommit,
  applyToQueue,
  beginSession,
  emptyQueueState,
  faultOfFact,
  printCommit,
  projectPrompt,
  viewRun,
};

/** Must stand alone: its text is run in the browser too. */
function read(model: typeof readings, texts: { log: string; queue: string }): string {
  const parse = (text: string) =>
    text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Commit);
  const [first, ...rest] = parse(texts.log) as [Commit, ...Commit[]];
  const state = model.beginSession(first.ses, first);
  for (const commit of rest) model.applyCommit(state, commit);
  const waiting = model.emptyQueueState();
  for (const commit of parse(texts.queue)) model.applyToQueue(waiting, commit);
  const payloads = { text: () => "", base64: () => "" };
  return JSON.stringify({
    faults: [first, ...rest].flatMap(({ facts }) => facts.map((fact) => model.faultOfFact(fact) ?? "legal")),
    title: state.row.title,
    runs: [...state.runs.values()].map((run) => model.viewRun(state, run, false)),
    prompt: model.projectPrompt(state, payloads),
    deliveries: [...waiting.deliveries.values()].map(({ at, text }) => ({ at, text })),
    printed: [first, ...rest].flatMap((commit) => model.printCommit(commit)),
  });
}

describe("the model in a browser", () => {
  let bundle: BuildResult<{ metafile: true; write: false }>;
  let context: object;

  beforeAll(async () => {
    bundle = await bundleForBrowser();
    // What a page has beside the language itself. Its policy forbids to make code out of text.
    const page = { TextEncoder, btoa };
    context = createContext(page, { codeGeneration: { strings: false, wasm: false } });
    runInContext(`"use strict"; ${bundle.outputFiles[0]?.text ?? ""}; globalThis.model = model;`, context);
    runInContext("globalThis.model = Object.assign({}, ...Object.values(model))", context);
  });

  const inBrowser = (code: string): unknown => runInContext(code, context);

  test("takes nothing but its own files and the schema library", () => {
    const inputs = Object.keys(bundle.metafile.inputs).filter((name) => name !== "<stdin>");
    expect(inputs.filter((name) => name.startsWith("src/model/"))).toHaveLength(files.length);
    const foreign = inputs.filter((name) => !/^src\/model\/|node_modules\/zod\//.test(name));
    expect(foreign).toEqual([]);
  });

  test("finds no Node there", () => {
    const absent = "[typeof process, typeof Buffer, typeof require, typeof setTimeout].join()";
    expect(inBrowser(absent)).toBe("undefined,undefined,undefined,undefined");
    expect(() => inBrowser('new Function("return 1")()')).toThrow("Code generation from strings");
  });

  test("reads a recorded session as it is read here", () => {
    const there = inBrowser(`(${read.toString()})(model, ${JSON.stringify({ log, queue })})`) as string;
    expect(there).toBe(read(readings, { log, queue }));
    const seen = JSON.parse(there) as Seen;
    expect(new Set(seen.faults)).toEqual(new Set(["legal"]));
    const { title, deliveries, runs, prompt } = seen;
    expect({
      title,
      deliveries,
      runs: runs.map(summaryOf),
      prompt: prompt.map(wordsOf),
    }).toMatchInlineSnapshot(`
      {
        "deliveries": [
          {
            "at": "acknowledged",
            "text": "Write a shopping list.
      Two entries are enough.",
          },
          {
            "at": "acknowledged",
            "text": "Butter instead of bread, please.",
          },
        ],
        "prompt": [
          "user: Write a shopping list.
      Two entries are enough.",
          "assistant: The file is small, so write it whole. | I write the list. | tool_call | tool_call",
          "tool: Created list.md (2 lines, 15 bytes). | 1	- milk
      2	- bread",
          "assistant: The list has two entries.",
          "user: Butter instead of bread, please.",
          "assistant: tool_call | tool_call",
          "tool: Edited list.md (1 replacement).
      @@ line 2 @@
       - milk
      -- bread
      +- butter | missing.md does not exist. Use glob to find the right path.",
          "assistant: Butter it is.",
        ],
        "runs": [
          {
            "operations": [
              "write settled ok: Created list.md (2 lines, 15 bytes).",
              "read settled ok: 1	- milk
      2	- bread",
            ],
            "status": "completed",
            "text": "The list has two entries.",
            "turns": 2,
            "usage": {
              "cachedInput": 0,
              "input": 310,
              "output": 38,
              "reasoning": 12,
            },
          },
          {
            "operations": [
              "edit settled ok: Edited list.md (1 replacement).
      @@ line 2 @@
       - milk
      -- bread
      +- butter",
              "read settled error: missing.md does not exist. Use glob to find the right path.",
            ],
            "status": "completed",
            "text": "Butter it is.",
            "turns": 2,
            "usage": {
              "input": 240,
              "lowerBound": true,
              "output": 25,
            },
          },
        ],
        "title": "Write a shopping list.",
      }
    `);
  });

  test("makes ids, masks secrets and names remotes there", () => {
    const id = inBrowser('model.makeId("ses", 1764511111111, new Uint8Array(10))') as string;
    expect(inBrowser(`model.timeOfId(${JSON.stringify(id)})`)).toBe(1_764_511_111_111);
    expect(inBrowser('model.makeRedactor(["hunter2-é"]).text("aHVudGVyMi3DqQ== hunter2-é")')).toMatch(
      /^\[redacted\].{0,4} \[redacted\]$/,
    );
    expect(inBrowser('model.normaliseRemote("git@example.org:team/shop.git")')).toBe("example.org/team/shop");
    expect(inBrowser('model.exitCodeOf(new model.HoldfastError("busy", "x"))')).toBe(5);
  });
});

interface Seen {
  faults: string[];
  title: string;
  deliveries: object[];
  runs: SeenRun[];
  prompt: { role: string; parts: { type: string; text?: string; output?: string }[] }[];
}

interface SeenRun {
  status: string;
  turns: number;
  usage: object;
  text: string;
  operations: { tool: string; state: string; outcome: string; output: string }[];
}

function summaryOf({ status, turns, usage, text, operations }: SeenRun) {
  const told = operations.map(({ tool, state, outcome, output }) => `${tool} ${state} ${outcome}: ${output}`);
  return { status, turns, usage, text, operations: told };
}

function wordsOf({ role, parts }: Seen["prompt"][number]) {
  return `${role}: ${parts.map((part) => part.text ?? part.output ?? part.type).join(" | ")}`;
}

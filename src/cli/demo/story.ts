import type { Json } from "../../model/values.ts";

/**
 * What the demo's agent does: a small, ordinary task, recorded, so that it needs neither network nor key. Only the
 * model's words are recorded; files, commands and deaths are real.
 *
 * Each command first writes a line, with the id of its operation, to a witness outside the workspace: a command that ran
 * twice would be seen there whatever the log says. The edit is its own witness: done twice, its line would stand twice.
 */

/** The variable by which commands find the witness. */
export const witnessVariable = "HOLDFAST_DEMO_WITNESS";

/** What the user asked for. */
export const task =
  "Add a slug function with a test, mention it in the README, remove the draft, then build and release.";

const slugSource = `/** The words of a title in lower case, joined by dashes. */
export function slug(title) {
  return title.toLowerCase().match(/[a-z0-9]+/g)?.join("-") ?? "";
}
`;

// Slow on purpose: there must be time to die in it, twice.
const slugTest = `import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { slug } from '../src/slug.mjs';

const titles = ["Hello, World", "  spaces  ", "Already-slug", "Ünïcode", "A/B test", "100 %", "", "Release 1.0"];
const slugs = ["hello-world", "spaces", "already-slug", "n-code", "a-b-test", "100", "", "release-1-0"];
for (const [index, title] of titles.entries()) {
  await setTimeout(350);
  assert.equal(slug(title), slugs[index]);
  console.log("ok", index + 1, JSON.stringify(title));
}
`;

const readmeBefore = "# Notes\n\nTitles become file names.\n";
const readmeAfter = "# Notes\n\nTitles become file names.\nsrc/slug.mjs makes them.\n";

/** The workspace before the task. */
export const filesBefore: Readonly<Record<string, string>> = {
  "README.md": readmeBefore,
  "draft.txt": "Make slugs by hand?\n",
};

/** The workspace when the task is done; `undefined` where nothing may be. */
export const filesAfter: Readonly<Record<string, string | undefined>> = {
  "README.md": readmeAfter,
  "draft.txt": undefined,
  "src/slug.mjs": slugSource,
  "test/slug.test.mjs": slugTest,
  "dist/slug.mjs": slugSource,
};

/** What the witness must tell, in order: the first word of each line. */
export const deeds = ["tested", "built", "released"] as const;

function command(deed: (typeof deeds)[number], rest: string): Json {
  return {
    tool: "exec",
    args: { command: `echo "${deed} $HOLDFAST_OPERATION" >> "$${witnessVariable}"${rest}` },
  };
}

/** The recording that answers. */
export const cassette: Json = {
  cassette: 1,
  turns: [
    {
      text: "First a look at what is here.",
      calls: [
        { tool: "glob", args: { pattern: "**/*" } },
        { tool: "grep", args: { pattern: "slug" } },
      ],
      usage: { input: 610, output: 48 },
    },
    {
      text: "Nothing makes slugs yet. I write the function and a test for it.",
      calls: [
        { tool: "write", args: { path: "src/slug.mjs", content: slugSource } },
        { tool: "write", args: { path: "test/slug.test.mjs", content: slugTest } },
      ],
      usage: { input: 742, output: 391 },
    },
    {
      text: "Now the test.",
      calls: [command("tested", " && node test/slug.test.mjs")],
      usage: { input: 1160, output: 52 },
    },
    {
      text:
        "All eight titles come out right. The README should say where slugs are made, and the draft, which asked " +
        "whether to make them by hand, has had its answer and can go.",
      perTokenMs: 50,
      calls: [
        {
          tool: "edit",
          args: {
            path: "README.md",
            old: "Titles become file names.\n",
            new: "Titles become file names.\nsrc/slug.mjs makes them.\n",
          },
        },
        { tool: "delete", args: { path: "draft.txt" } },
      ],
      usage: { input: 1248, output: 133 },
    },
    {
      text: "Build, then release.",
      calls: [
        command("built", " && mkdir -p dist && cp src/slug.mjs dist/"),
        command("released", " && sleep 0.5 && echo done"),
      ],
      usage: { input: 1420, output: 96 },
    },
    {
      text: "Done: slugs are made and tested, the README says so, the draft is gone, and version 1 is released.",
      perTokenMs: 30,
      usage: { input: 1533, output: 41 },
    },
  ],
};

/** One line of a worker's JSON Lines. */
export interface WorkerEvent {
  readonly type: string;
  readonly tool?: unknown;
  readonly args?: unknown;
}

/** When a worker is killed. */
export interface PlannedKill {
  /** Completes "SIGKILL, sent when …": what was on record by then. The log tells how far the worker still got. */
  readonly moment: string;
  /** True for the event after which it is killed. */
  matches(event: WorkerEvent): boolean;
  /** The how-manieth such event of that worker. */
  readonly occurrence: number;
  /** Wait until the witness holds so many lines: the effect is under way then, for certain. */
  readonly witnessLines?: number;
}

const starts = (tool: string) => (event: WorkerEvent) => event.type === "op.started" && event.tool === tool;

/** One for each worker but the last, which may finish. */
export const kills: readonly PlannedKill[] = [
  {
    moment: "the test command had written to the witness, and ran on",
    matches: starts("exec"),
    occurrence: 1,
    witnessLines: 1,
  },
  {
    moment: "the recovery waited for that same command",
    matches: (event) => event.type === "live.output" || event.type === "op.known",
    occurrence: 1,
  },
  {
    moment: "the model was in the middle of an answer",
    matches: (event) => event.type === "live.text",
    occurrence: 6,
  },
  { moment: "the edit of the README had started", matches: starts("edit"), occurrence: 1 },
  {
    moment: "the release command had been told to start",
    matches: (event) => starts("exec")(event) && JSON.stringify(event.args).includes("released"),
    occurrence: 1,
  },
];

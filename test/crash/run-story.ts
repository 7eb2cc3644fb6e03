import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { resolveOperation } from "../../src/engine/index.ts";
import type { Commit } from "../../src/model/commit.ts";
import { examine, expectCassettePlayedOnce, expectKept, expectSettledOnce } from "../engine/examine.ts";
import { type Home, list } from "../engine/home.ts";

/** A task that looks, writes, changes, runs commands and deletes, on a real machine. */

/** Where it takes place, and who answers. */
export interface Story {
  home: Home;
  model: string;
}

/** Prepares the workspace, and what the model answers. */
export function tellStory(home: Home): Story {
  mkdirSync(join(home.workspace, "sub"));
  writeFileSync(join(home.workspace, "counter.txt"), "n\n");
  writeFileSync(join(home.workspace, "letter.txt"), "old\n");
  writeFileSync(join(home.workspace, "sub", "waste.txt"), "waste\n");
  const append = (word: string) => `echo ${word} >> ${home.witness}; echo said ${word}`;
  const model = home.cassette([
    {
      text: "I look first.",
      calls: [
        { tool: "read", args: { path: "letter.txt" } },
        { tool: "grep", args: { pattern: "waste" } },
        { tool: "glob", args: { pattern: "**/*.txt" } },
      ],
    },
    {
      calls: [
        { tool: "write", args: { path: "new/file.txt", content: "new\n" } },
        { tool: "write", args: { path: "letter.txt", content: "new\n" } },
        { tool: "edit", args: { path: "counter.txt", old: "n", new: "n+" } },
      ],
    },
    { reasoning: "Now the commands.", calls: [{ tool: "exec", args: { command: append("one") } }] },
    {
      calls: [
        { tool: "exec", args: { command: append("two") } },
        { tool: "delete", args: { path: "sub/waste.txt" } },
      ],
    },
    { text: "Done." },
  ]);
  return { home, model };
}

/** The one thing that cannot be proven: a new file between its two names. The person looks, and makes it. */
export async function finishByHand(home: Home): Promise<void> {
  const [session = ""] = home.sessions();
  const { state } = await examine(home.engine(), session);
  const open = [...state.operations.values()].filter((one) => one.at === "unknown");
  expect(open.map((one) => one.tool)).toEqual(["write"]);
  const path = join(home.workspace, "new", "file.txt");
  expect(existsSync(path)).toBe(false);
  writeFileSync(path, "new\n");
  for (const { run, operation } of open) {
    await resolveOperation(home.engine(), { session, run, operation, outcome: "ok", output: "made by hand" });
  }
}

/** That everything was done, once, and is on record so. */
export async function expectDoneOnce({ home }: Story, told: Commit[]): Promise<void> {
  const text = (...names: string[]) => readFileSync(join(home.workspace, ...names), "utf8");
  expect(readFileSync(home.witness, "utf8")).toBe("one\ntwo\n");
  expect(text("counter.txt")).toBe("n+\n");
  expect(text("letter.txt")).toBe("new\n");
  expect(text("new", "file.txt")).toBe("new\n");
  expect(existsSync(join(home.workspace, "sub", "waste.txt"))).toBe(false);
  expect([...list(home.workspace), ...list(join(home.workspace, "new"))].toSorted()).toEqual([
    "counter.txt",
    "file.txt",
    "letter.txt",
    "new",
    "sub",
  ]);
  const trash = list(home.inSession("trash"));
  expect(trash.map((name) => readFileSync(home.inSession("trash", name), "utf8"))).toEqual(["waste\n"]);
  expect(list(home.inSession("spool"))).toEqual([]);
  const examined = await examine(home.engine(), home.sessions()[0] ?? "");
  expectKept(examined, told);
  expectSettledOnce(examined);
  expectCassettePlayedOnce(examined, 5);
  const { state, queue } = examined;
  expect([...state.runs.values()].map((run) => run.at)).toEqual(["completed"]);
  expect([...queue.deliveries.values()].map((delivery) => delivery.at)).toEqual(["acknowledged"]);
  const whole = state.messages.filter(({ message }) => message.interrupted !== true);
  expect(whole.map(({ message }) => message.role).join(" ")).toBe(
    "user assistant tool assistant tool assistant tool assistant tool assistant",
  );
  expect(state.row).toMatchObject({ state: "completed", openUnknowns: 0, title: "Do it." });
  expect(state.released).toBe(true);
}

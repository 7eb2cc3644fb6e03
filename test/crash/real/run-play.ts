import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { resolveOperation, type WorkReport } from "../../../src/engine/index.ts";
import type { Mishap } from "../../peers/mishap.ts";
import type { RunStep } from "../../peers/run-worker.ts";
import { effectOf } from "../campaign/effects.ts";
import { Finding, promised } from "../campaign/finding.ts";
import type { WholeSession } from "../campaign/whole-session.ts";
import type { ChildEnd } from "./child.ts";
import { RunHome } from "./run-home.ts";
import { judgeDoubt, judgeRun, readRun, timesOfCall } from "./run-judge.ts";
import type { Room } from "./room.ts";

/** A run that is played on a real machine: what is in the workspace before, and what the model asks for. */
export interface Play {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  turns(home: RunHome): readonly unknown[];
}

const echo = (home: RunHome, word: string) => ({
  tool: "exec",
  args: { command: `echo ${word} >> ${home.witness}; echo said ${word}` },
});

/** Looks, writes a new file and an old one, edits, deletes. */
export const fileChanges: Play = {
  name: "file-changes",
  files: { "counter.txt": "n\n", "letter.txt": "old\n", "waste.txt": "waste\n" },
  turns: () => [
    {
      calls: [
        { tool: "read", args: { path: "letter.txt" } },
        { tool: "write", args: { path: "new/file.txt", content: "new\n" } },
        { tool: "write", args: { path: "letter.txt", content: "new\n" } },
      ],
    },
    {
      calls: [
        { tool: "edit", args: { path: "counter.txt", old: "n", new: "n+" } },
        { tool: "delete", args: { path: "waste.txt" } },
      ],
    },
    { text: "Done." },
  ],
};

/** Runs two commands. */
export const commands: Play = {
  name: "commands",
  files: {},
  turns: (home) => [
    { text: "I begin.", calls: [echo(home, "one")] },
    { calls: [echo(home, "two")] },
    { text: "Done." },
  ],
};

/** Runs one command. */
export const oneCommand: Play = {
  name: "one-command",
  files: {},
  turns: (home) => [{ calls: [echo(home, "one")] }, { text: "Done." }],
};

/** Runs a command and edits a file. */
export const commandAndEdit: Play = {
  name: "command-and-edit",
  files: { "counter.txt": "n\n" },
  turns: (home) => [
    {
      text: "I begin.",
      calls: [echo(home, "one"), { tool: "edit", args: { path: "counter.txt", old: "n", new: "n+" } }],
    },
    { text: "Done." },
  ],
};

/** Plays on: a worker at a time, each until its end or death. */
export class Performance {
  readonly home: RunHome;
  readonly model: string;
  readonly #calls: number;

  constructor(room: Room, play: Play, folder?: string) {
    this.home = new RunHome(room, folder);
    for (const [name, text] of Object.entries(play.files)) {
      const path = join(this.home.workspace, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    const turns = play.turns(this.home) as { calls?: unknown[] }[];
    this.model = this.home.cassette(turns);
    this.#calls = turns.reduce((count, { calls = [] }) => count + calls.length, 0);
  }

  /** The run begins, or goes on. */
  get step(): RunStep {
    const { home } = this;
    if (home.session === "") return { do: "run", task: home.task(this.model) };
    return { do: "resume", request: { selector: home.session, acceptRollback: false } };
  }

  /** A worker begins, or goes on. */
  async live(mishap?: Mishap): Promise<ChildEnd> {
    const end = await this.home.live(this.step, mishap);
    const refused = end.lines.find((line) => "refused" in line);
    if (refused !== undefined) throw new Finding("stuck", `a worker was refused: ${JSON.stringify(refused)}`);
    return end;
  }

  /** Goes on in this process until the run is over, decides what nobody can know, and judges all of it. */
  async finish(): Promise<WholeSession> {
    const { home } = this;
    if (home.session === "") await this.live();
    for (let round = 0; round < 6; round++) {
      const report = await home.goOn();
      if (await this.#isOver(report)) return this.#judge();
      if (report.ending === "input_required") await this.#decide();
      else if (report.ending !== "idle") throw new Finding("other", `it ended ${JSON.stringify(report)}`);
    }
    throw new Finding("stuck", "it does not come to an end");
  }

  async #isOver(report: WorkReport): Promise<boolean> {
    if (report.ending === "completed") return true;
    if (report.ending !== "idle") return false;
    const { home } = this;
    const { state } = await readRun(await home.engine(), home.session);
    if (state.runs.size > 0) return true;
    // It was killed before its task was admitted, and nobody was told that it was.
    promised(home.begun.size === 0, "lost", () => "the task of a session that was told of is gone");
    return (await home.goOn("Do it.")).ending === "completed";
  }

  async #judge(): Promise<WholeSession> {
    const { home } = this;
    const run = await judgeRun(home);
    const { state, queue } = run;
    const runs = [...state.runs.values()].map(({ at }) => at).join();
    promised(runs === "completed", "other", () => `its runs are ${runs}`);
    const deliveries = [...queue.deliveries.values()].map(({ at }) => at).join();
    promised(deliveries === "acknowledged", "repeated", () => `its deliveries are ${deliveries}`);
    const origins = new Set([...state.operations.values()].map(({ origin }) => origin));
    promised(
      origins.size === this.#calls,
      "lost",
      () => `${origins.size} of ${this.#calls} calls are on record`,
    );
    for (const one of state.operations.values()) {
      promised(one.at === "settled", "stuck", () => `${one.operation} is ${one.at}`);
    }
    promised(run.voids === 0, "other", () => "the log holds a void line");
    return run;
  }

  /** A person looks, and says what is so. */
  async #decide(): Promise<void> {
    const { home } = this;
    const engine = await home.engine();
    const { state } = await judgeRun(home);
    for (const one of state.operations.values()) {
      if (one.at !== "unknown") continue;
      await untilNobodyRuns(engine.host.processes, one.operation);
      judgeDoubt(home, state, one);
      const happened = timesOfCall(home, effectOf(state, one)) === 1;
      const word = { session: home.session, run: one.run, operation: one.operation };
      if (happened) await resolveOperation(engine, { ...word, outcome: "ok", output: "It did happen." });
      else await resolveOperation(engine, { ...word, outcome: "not_executed" });
    }
  }
}

/** Commands whose supervisor was killed may still run. */
async function untilNobodyRuns(
  processes: { findByEnvironment(name: string, value: string): Promise<readonly unknown[]> },
  operation: string,
): Promise<void> {
  while ((await processes.findByEnvironment("HOLDFAST_OPERATION", operation)).length > 0) await sleep(5);
}

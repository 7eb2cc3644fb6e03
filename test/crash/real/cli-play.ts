import { readdirSync } from "node:fs";
import { repairSession } from "../../../src/engine/index.ts";
import { errorTable, type ErrorCode } from "../../../src/model/errors.ts";
import { builtProgram } from "../../cli/program.ts";
import { Finding, promised } from "../campaign/finding.ts";
import type { ChildEnd, ChildLine, ChildStart } from "./child.ts";
import type { Room } from "./room.ts";
import { commandOf } from "./run-home.ts";
import { readRun } from "./run-judge.ts";
import { commandAndEdit, Performance } from "./run-play.ts";

/** How a call may end to which the system refused something, the doubt of a person included. */
export const storageRefusals: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "disk_full",
  "io_error",
  "durability_unknown",
  "unsafe_storage",
  "input_required",
]);

/** A call of the built program, and what is made of it. */
export class CliPlay {
  readonly staged: Performance;
  readonly #room: Room;
  readonly #told: ChildLine[] = [];

  constructor(room: Room, folder?: string) {
    this.#room = room;
    this.staged = new Performance(room, commandAndEdit, folder);
  }

  /** What runs the task, as words for a shell or another program to start. */
  get words(): string[] {
    const { home, model } = this.staged;
    const run = ["run", "--task", "Do it.", "--model", model, "--allow-shell", "--workspace", home.workspace];
    return [process.execPath, builtProgram(), ...(home.session === "" ? run : ["resume", home.session])];
  }

  /** Starts it under another program. */
  async call(start: Pick<ChildStart, "file" | "args">): Promise<ChildEnd> {
    const { home } = this.staged;
    const environment = {
      HOLDFAST_STATE_DIR: home.state,
      XDG_RUNTIME_DIR: home.runtime,
      HOME: "/nonexistent",
      LANG: "C.UTF-8",
    };
    const end = await this.#room.start({ ...start, environment, cwd: home.folder, leads: true }).end();
    this.#told.push(...end.lines);
    return end;
  }

  /** What a call said that failed; undefined where it succeeded, or could not even begin. */
  failureOf(end: ChildEnd): ErrorCode | undefined {
    const line = end.lines.findLast(({ type }) => type === "error");
    const said = `${end.code ?? end.signal}: ${end.stderr.slice(0, 2000)}`;
    promised(
      !/internal: /.test(end.stderr) && line?.["code"] !== "internal",
      "untyped",
      () => `it calls that a fault of its own: ${said}`,
    );
    if (end.killed || end.code === 0) return undefined;
    if (!end.stderr.startsWith("holdfast: ")) {
      // Node itself did not come up: whoever started it was told of nothing.
      promised(
        end.lines.length === 0,
        "untyped",
        () => `it broke down after it had told of something: ${said}`,
      );
      return undefined;
    }
    const code = (line?.["code"] as ErrorCode | undefined) ?? codeByExit(end.code ?? 0);
    promised(
      code !== undefined && errorTable[code].exit === end.code,
      "untyped",
      () => `no code of the table: ${said}`,
    );
    return code;
  }

  /** Goes on until all is done, and holds it against what was told. `mayDoubt`: a repair may be asked for. */
  async judge(mayDoubt: boolean): Promise<void> {
    const { home } = this.staged;
    if (home.session === "") {
      promised(
        this.#told.every(({ seq }) => seq === undefined),
        "lost",
        () => "a session that was told of is gone",
      );
      return;
    }
    try {
      await this.staged.finish();
    } catch (error) {
      if (!mayDoubt || !(error instanceof Finding) || !error.message.includes("durability_unknown"))
        throw error;
      await repairSession(await home.engine(), home.session);
      await this.staged.finish();
    }
    await this.#judgeTold();
  }

  async #judgeTold(): Promise<void> {
    const { home } = this.staged;
    const { commits } = await readRun(await home.engine(), home.session);
    for (const { seq, at, type } of this.#told) {
      if (seq === undefined) continue;
      const commit = commits[Number(seq)];
      const isThere = commit?.at === at && commit?.facts.some(({ kind }) => kind === type) === true;
      promised(
        isThere,
        "lost",
        () => `line ${Number(seq)} with ${String(type)} was told of and is not there`,
      );
    }
  }

  /** Ends what still runs, and removes everything. */
  async end(): Promise<void> {
    for (const pid of supervisorsIn(this.staged.home.runtime)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch (error) {
        // One that has just ended by itself is no trouble.
        if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
      }
    }
    await this.staged.home.end();
  }
}

/** What the exit code alone says, where nothing else could be told. */
function codeByExit(exit: number): ErrorCode | undefined {
  if (exit === errorTable.io_error.exit) return "io_error";
  const codes = Object.keys(errorTable) as ErrorCode[];
  return codes.find((code) => errorTable[code].exit === exit && code !== "internal");
}

/** Supervisors whose sockets are in this folder. */
function supervisorsIn(runtime: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => commandOf(Number(name)).includes(`--socket\0${runtime}/`))
    .map(Number);
}

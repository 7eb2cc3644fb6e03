import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { resume, type EngineContext, type TaskRequest, type WorkReport } from "../../../src/engine/index.ts";
import { nodeHost } from "../../../src/host/index.ts";
import type { Commit } from "../../../src/model/commit.ts";
import { isHoldfastError } from "../../../src/model/errors.ts";
import { openEngine } from "../../../src/open.ts";
import type { Mishap } from "../../peers/mishap.ts";
import type { RunStep, RunWorkerOptions } from "../../peers/run-worker.ts";
import { Finding } from "../campaign/finding.ts";
import type { Child, ChildEnd } from "./child.ts";
import type { Room } from "./room.ts";

/** A state directory, a workspace, and a witness outside of it, for workers that are processes. */
export class RunHome {
  readonly folder: string;
  readonly state: string;
  readonly workspace: string;
  readonly witness: string;
  readonly runtime: string;
  readonly #room: Room;
  /** Each line that somebody was told of. */
  readonly told: Commit[] = [];
  /** Sessions that somebody was told of. */
  readonly begun = new Set<string>();
  /** What befalls the supervisors. */
  supervisorMishap: Mishap | undefined;
  lingerMs = 400;

  constructor(room: Room, folder = room.folder()) {
    this.#room = room;
    this.folder = folder;
    this.state = join(folder, "state");
    this.workspace = join(folder, "work");
    this.witness = join(folder, "witness");
    this.runtime = join(folder, "run");
    for (const path of [this.workspace, this.runtime]) mkdirSync(path, { mode: 0o700 });
    writeFileSync(this.witness, "");
  }

  /** Writes a recorded model; resolves to how a task names it. */
  cassette(turns: readonly unknown[]): string {
    const path = join(this.folder, "cassette.json");
    writeFileSync(path, JSON.stringify({ cassette: 1, turns }));
    return `cassette:${path}`;
  }

  task(model: string, members: Partial<TaskRequest> = {}): TaskRequest {
    const { workspace } = this;
    return { workspace, agent: "builtin", task: "Do it.", policy: { allowShell: true }, model, ...members };
  }

  /** Starts a worker; what it tells is noted by {@link note} once it has ended. */
  async worker(step: RunStep, mishap?: Mishap): Promise<Child> {
    const { run } = await this.#room.programs();
    const options: RunWorkerOptions = {
      state: this.state,
      runtime: this.runtime,
      supervisor: await this.#supervisorProgram(),
      step,
      ...(mishap && { mishap }),
    };
    return this.#room.peer(run, options);
  }

  /** Lets a worker live to its end or death. */
  async live(step: RunStep, mishap?: Mishap): Promise<ChildEnd> {
    return this.note(await (await this.worker(step, mishap)).end());
  }

  /** Takes what a worker told into what is known. Throws a finding where it failed as no worker may. */
  note(end: ChildEnd): ChildEnd {
    for (const line of end.lines) {
      if (line["commit"] !== undefined) this.told.push(line["commit"] as Commit);
      if (line["begun"] !== undefined) this.begun.add(line["begun"] as string);
    }
    if (!end.killed && end.code !== 0)
      throw new Finding("untyped", `a worker failed with ${end.code ?? end.signal}: ${end.stderr}`);
    return end;
  }

  /** The engine in this very process, which never dies. */
  async engine(): Promise<EngineContext> {
    return openEngine({
      host: nodeHost({ environment: { XDG_RUNTIME_DIR: this.runtime } }),
      stateDirectory: this.state,
      singleWriter: false,
      environment: { PATH: process.env["PATH"] ?? "" },
      version: "0.0.0-test",
      supervisorProgram: await this.#supervisorProgram(),
    });
  }

  /** Goes on in this process. Rejects with a finding where it is refused. */
  async goOn(task?: string): Promise<WorkReport> {
    const observer = { commit: (commit: Commit) => void this.told.push(commit), live: () => undefined };
    const request = { selector: this.session, acceptRollback: false, ...(task !== undefined && { task }) };
    try {
      return await resume(await this.engine(), request, observer);
    } catch (error) {
      const code = isHoldfastError(error) ? `${error.code}: ` : "";
      throw new Finding("stuck", `it does not go on: ${code}${String(error)}`, error);
    }
  }

  /** Ids of the sessions that are visible. */
  sessions(): string[] {
    return namesIn(join(this.state, "sessions")).filter((name) => name.startsWith("ses_"));
  }

  /** The one session, or "". */
  get session(): string {
    return this.sessions()[0] ?? "";
  }

  /** A path in the folder of the one session. */
  inSession(...names: string[]): string {
    return join(this.state, "sessions", this.session, ...names);
  }

  /** What a file holds; nothing where there is none. */
  text(...names: string[]): string | undefined {
    const path = join(...names);
    return existsSync(path) ? readFileSync(path, "utf8") : undefined;
  }

  /** How often the witness was told a word. */
  times(word: string): number {
    return readFileSync(this.witness, "utf8")
      .split("\n")
      .filter((line) => line === word).length;
  }

  /** Supervisors of this home that live. */
  supervisors(): number[] {
    const pids = namesIn(this.runtime).flatMap((name) => /^supervisor-(\d+)$/.exec(name)?.[1] ?? []);
    // A number may have been given to somebody else.
    return pids.map(Number).filter((pid) => commandOf(pid).includes(this.runtime));
  }

  /** Resolves when none lives. */
  async supervisorsEnd(): Promise<void> {
    for (let tries = 0; this.supervisors().length > 0; tries++) {
      if (tries > 1000) throw new Finding("stuck", "a supervisor does not end");
      await sleep(10);
    }
  }

  /** Ends what still runs, and removes everything. */
  async end(): Promise<void> {
    for (const pid of this.supervisors()) process.kill(pid, "SIGKILL");
    while (this.supervisors().length > 0) await sleep(2);
    this.#room.remove(this.folder);
  }

  async #supervisorProgram(): Promise<{ file: string; args: string[] }> {
    const { supervisor } = await this.#room.programs();
    const { supervisorMishap: mishap, lingerMs } = this;
    const options = JSON.stringify({ folder: this.runtime, lingerMs, ...(mishap && { mishap }) });
    return { file: process.execPath, args: [supervisor, "--options", options] };
  }
}

/** Names in a directory; none where there is no directory. */
export function namesIn(path: string): string[] {
  return existsSync(path) ? readdirSync(path) : [];
}

/** The arguments of a process, each ended by a zero byte; nothing where it is gone. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch (error) {
    // It is gone.
    return error instanceof Error ? "" : String(error);
  }
}

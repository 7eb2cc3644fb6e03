import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EngineContext, ResumeRequest, TaskRequest, WorkReport } from "../../src/engine/index.ts";
import { nodeHost, type Host } from "../../src/host/index.ts";
import type { Commit } from "../../src/model/commit.ts";
import { openEngine } from "../../src/open.ts";
import { bundleForNode } from "../peers/bundle.ts";
import type { EngineWorkerLine, EngineWorkerOptions } from "../peers/engine-worker.ts";

/** The programs that workers are made of, bundled once for each test file. */
export interface Programs {
  worker: string;
  supervisor: string;
}

export async function bundlePrograms(): Promise<Programs> {
  const [worker, supervisor] = await Promise.all([
    bundleForNode("test/peers/engine-worker.ts"),
    bundleForNode("test/peers/exec-supervisor.ts"),
  ]);
  return { worker, supervisor };
}

/** A state directory, a workspace and a place for witnesses that no tool may touch but `exec`. */
export class Home {
  readonly folder: string;
  readonly programs: Programs;
  readonly state: string;
  readonly workspace: string;
  readonly runtime: string;
  readonly witness: string;
  environment: Record<string, string> = { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent" };
  lingerMs = 1500;

  constructor(programs: Programs, parent = tmpdir()) {
    this.programs = programs;
    this.folder = realpathSync(mkdtempSync(join(parent, "hfe-")));
    this.state = join(this.folder, "state");
    this.workspace = join(this.folder, "work");
    this.runtime = join(this.folder, "run");
    this.witness = join(this.folder, "witness");
    for (const path of [this.workspace, this.runtime]) mkdirSync(path, { mode: 0o700 });
  }

  /** Writes a cassette of these turns, as JSON; resolves to how a task names it. */
  cassette(turns: readonly unknown[], name = "cassette.json"): string {
    const path = join(this.folder, name);
    writeFileSync(path, JSON.stringify({ cassette: 1, turns }));
    return `cassette:${path}`;
  }

  /** A task with good defaults. */
  task(members: Partial<TaskRequest> & { model: string }): TaskRequest {
    return {
      workspace: this.workspace,
      agent: "builtin",
      task: "Do it.",
      policy: { allowShell: true },
      ...members,
    };
  }

  /** The engine in this very process. */
  engine(host: Host = this.host()): EngineContext {
    return openEngine({
      host,
      stateDirectory: this.state,
      singleWriter: false,
      environment: this.environment,
      version: "0.0.0-test",
      supervisorProgram: this.#supervisor(),
    });
  }

  host(): Host {
    return nodeHost({ environment: { XDG_RUNTIME_DIR: this.runtime } });
  }

  /** Starts a worker process. */
  worker(options: Partial<EngineWorkerOptions>): WorkerProcess {
    const whole: EngineWorkerOptions = {
      stateDirectory: this.state,
      runtime: this.runtime,
      supervisor: this.#supervisor(),
      environment: this.environment,
      ...options,
    };
    return new WorkerProcess(this.programs.worker, whole);
  }

  run(task: TaskRequest, options: Partial<EngineWorkerOptions> = {}): Promise<Ended> {
    return this.worker({ ...options, run: task }).ended;
  }

  resume(request: Partial<ResumeRequest> = {}, options: Partial<EngineWorkerOptions> = {}): Promise<Ended> {
    const [selector = ""] = this.sessions();
    return this.worker({ ...options, resume: { selector, acceptRollback: false, ...request } }).ended;
  }

  /** Ids of the sessions that are visible. */
  sessions(): string[] {
    return list(join(this.state, "sessions")).filter((name) => name.startsWith("ses_"));
  }

  /** A path in the folder of the one session. */
  inSession(...names: string[]): string {
    return join(this.state, "sessions", this.sessions()[0] ?? "", ...names);
  }

  end(): void {
    // What was killed may still be dying.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }

  #supervisor(): { file: string; args: string[] } {
    const options = JSON.stringify({ lingerMs: this.lingerMs });
    return { file: process.execPath, args: [this.programs.supervisor, "--options", options] };
  }
}

/** Names in a directory; none where there is no directory. */
export function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** How a worker process ended and what it had said. */
export interface Ended {
  code: number | null;
  signal: string | null;
  lines: EngineWorkerLine[];
  commits: Commit[];
  report?: WorkReport;
  error?: { code?: string; message: string; hint?: string };
  /** Effects that it counted, where it ended by itself. */
  effects: number;
  stderr: string;
}

/** A running worker. */
export class WorkerProcess {
  readonly pid: number;
  readonly lines: EngineWorkerLine[] = [];
  readonly ended: Promise<Ended>;
  #said: () => void = () => undefined;
  #isOver = false;

  constructor(program: string, options: EngineWorkerOptions) {
    const child = spawn(process.execPath, [program, JSON.stringify(options)], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env["PATH"] ?? "" },
    });
    this.pid = child.pid ?? 0;
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    let rest = "";
    // By hand: what others call a line may end at other characters than a newline.
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const pieces = (rest + text).split("\n");
      rest = pieces.pop() ?? "";
      for (const piece of pieces) this.lines.push(JSON.parse(piece) as EngineWorkerLine);
      this.#said();
    });
    const closed = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
      child.on("close", (code, signal) => resolve({ code, signal })),
    );
    this.ended = closed.then((how) => {
      this.#isOver = true;
      this.#said();
      return { ...how, ...this.#summary(), stderr };
    });
  }

  /** Resolves with the first line that fits, said already or later; rejects where the process ends without one. */
  async line(fits: (line: EngineWorkerLine) => boolean): Promise<EngineWorkerLine> {
    for (let from = 0; ;) {
      for (; from < this.lines.length; from++) {
        const line = this.lines[from];
        if (line !== undefined && fits(line)) return line;
      }
      if (this.#isOver) throw new Error(`the worker ended first: ${JSON.stringify(this.lines.at(-1))}`);
      await new Promise<void>((resolve) => (this.#said = resolve));
    }
  }

  /** Resolves when a fact of this kind was committed. */
  fact(kind: string): Promise<EngineWorkerLine> {
    return this.line(
      (line) => (line["commit"] as Commit | undefined)?.facts.some((fact) => fact.kind === kind) ?? false,
    );
  }

  kill(): Promise<Ended> {
    return this.signal("SIGKILL");
  }

  /** Sends a signal; resolves when the process has ended. */
  signal(name: "SIGKILL" | "SIGTERM" | "SIGINT"): Promise<Ended> {
    if (!this.#isOver) process.kill(this.pid, name);
    return this.ended;
  }

  #summary(): Omit<Ended, "code" | "signal" | "stderr"> {
    // A signal that comes at the very end is told after it.
    const last = this.lines.findLast((line) => "effects" in line) ?? {};
    const error = last["error"] as Ended["error"];
    const report = last["report"] as WorkReport | undefined;
    return {
      lines: this.lines,
      commits: this.lines.flatMap((line) => (line["commit"] as Commit | undefined) ?? []),
      effects: Number(last["effects"] ?? 0),
      ...(report !== undefined && { report }),
      ...(error !== undefined && { error }),
    };
  }
}

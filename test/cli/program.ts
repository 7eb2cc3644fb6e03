import type { ChildProcess, StdioOptions } from "node:child_process";
import { execFileSync, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** The program as it is published, started as people and scripts start it, each time in a place of its own. */

/** How a call ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A call that goes on. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves to the first match in what standard output has; rejects where the call ends without one. */
  seen(pattern: RegExp): Promise<string>;
}

export interface CallOptions {
  readonly cwd?: string;
  readonly stdin?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  /** A descriptor to write to, where the output is not to be read here. */
  readonly stdout?: number;
  /** The same for what is said to people. */
  readonly stderr?: number;
  /** Another copy of the program. */
  readonly program?: string;
}

/** The built program. Built once for each content of the sources, beside the packages that it loads. */
export function builtProgram(): string {
  const hash = createHash("sha256");
  for (const file of [...filesUnder("src"), "scripts/build.mjs", "package.json"]) {
    hash.update(`${file}\0`).update(readFileSync(file));
  }
  const cache = resolve("node_modules/.cache/holdfast-test");
  const folder = join(cache, `program-${hash.digest("hex").slice(0, 16)}`);
  if (!existsSync(folder)) {
    // Test files run in parallel: none of them may see half a build.
    const staged = join(cache, `.program-${randomBytes(6).toString("hex")}`);
    execFileSync(process.execPath, ["scripts/build.mjs", "--quiet", "--to", staged], { stdio: "inherit" });
    try {
      renameSync(staged, folder);
    } catch {
      rmSync(staged, { recursive: true, force: true });
    }
  }
  return join(folder, "main.cjs");
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .toSorted();
}

/** A folder with a workspace and a state directory, and the program to use them with. */
export class Place {
  readonly folder: string;
  readonly workspace: string;
  readonly state: string;
  readonly program = builtProgram();
  readonly #running = new Set<ChildProcess>();

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "holdfast-cli-"));
    this.workspace = join(this.folder, "workspace");
    this.state = join(this.folder, "state");
    mkdirSync(this.workspace);
  }

  /** Ends this process too, where it still runs when the place is removed. */
  keep(child: ChildProcess): void {
    this.#running.add(child);
  }

  /** Ends what still runs and removes everything. */
  remove(): void {
    for (const child of this.#running) child.kill("SIGKILL");
    // What outlives its worker, and what outlives even its supervisor.
    for (const pid of processesWith("environ", `HOLDFAST_STATE_DIR=${this.state}\0`)) endProcess(pid);
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Writes a file beside the workspace and returns its path. */
  file(name: string, content: string | Uint8Array): string {
    const path = join(this.folder, name);
    writeFileSync(path, content);
    return path;
  }

  /** Writes a recorded model and returns how `--model` names it. Turns as the cassette file has them. */
  cassette(...turns: readonly unknown[]): string {
    const name = `cassette-${randomBytes(4).toString("hex")}.json`;
    return `cassette:${this.file(name, JSON.stringify({ cassette: 1, turns }))}`;
  }

  /** The environment of a call: this place, and nothing of whoever runs the tests that would change an answer. */
  env(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    const { PATH = "", HOME = "" } = process.env;
    return { PATH, HOME, LANG: "C.UTF-8", HOLDFAST_STATE_DIR: this.state, ...more };
  }

  /** Starts a call. */
  start(args: readonly string[], options: CallOptions = {}): Running {
    const { cwd = this.workspace, stdin, stdout = "pipe", stderr = "pipe", env } = options;
    const { program = this.program } = options;
    const stdio: StdioOptions = ["pipe", stdout, stderr];
    const child = spawn(process.execPath, [program, ...args], { cwd, env: this.env(env), stdio });
    this.keep(child);
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(stdin ?? "");
    return follow(child);
  }

  /** Makes a call and waits for its end. */
  async call(args: readonly string[], options: CallOptions = {}): Promise<Ended> {
    return await this.start(args, options).ended;
  }

  /** A completed session; resolves to its id. */
  async completed(title = "A task", ...turns: readonly unknown[]): Promise<string> {
    const model = this.cassette(...(turns.length === 0 ? [{ text: "Done." }] : turns));
    const ended = await this.call(["run", "--task", title, "--model", model, "--allow-shell"]);
    if (ended.code !== 0) throw new Error(`run ended with ${ended.code}: ${ended.stderr}`);
    return sessionIn(ended.stdout);
  }

  /** A session that was killed, with its supervisor, while a command ran. */
  async killedInCommand(): Promise<{ session: string; operation: string }> {
    const command = "echo started; sleep 300";
    const model = this.cassette(
      { text: "I start.", calls: [{ tool: "exec", args: { command } }] },
      { text: "Done." },
    );
    const running = this.start(["run", "--task", "Start it", "--model", model, "--allow-shell"]);
    await running.seen(/"type":"live\.output"/);
    const session = sessionIn(await running.seen(/ses_[0-9a-z]{26}/));
    const operation = /op_[0-9a-z]{26}/.exec(
      await running.seen(/"type":"op\.started","operation":"op_[0-9a-z]{26}/),
    );
    running.child.kill("SIGKILL");
    await running.ended;
    for (const pid of processesNaming(session)) process.kill(pid, "SIGKILL");
    return { session, operation: operation?.[0] ?? "" };
  }

  log(session: string): string {
    return join(this.state, "sessions", session, "log.jsonl");
  }
}

function follow(child: ChildProcess): Running {
  let [stdout, stderr, hasEnded] = ["", "", false];
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  child.stdout?.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
    tell();
  });
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<Ended>((done) => {
    child.on("close", (code) => {
      hasEnded = true;
      tell();
      done({ code, stdout, stderr });
    });
  });
  const seen = (pattern: RegExp): Promise<string> =>
    new Promise((found, fail) => {
      const look = (): void => {
        const match = pattern.exec(stdout);
        if (match !== null) found(match[0]);
        else if (hasEnded) fail(new Error(`it ended without ${pattern}: ${stdout}${stderr}`));
      };
      listeners.add(look);
      look();
    });
  return { child, ended, seen };
}

/** Processes that name a text in their arguments. */
export function processesNaming(text: string): number[] {
  return processesWith("cmdline", text);
}

/** One that has just ended by itself is no trouble. */
function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** Processes of commands that the agent of a session started. */
export function commandsOf(session: string): number[] {
  return processesWith("environ", `HOLDFAST_SESSION=${session}`);
}

function processesWith(file: "cmdline" | "environ", text: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/${file}`, "utf8").includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** The first session id in a text. */
export function sessionIn(text: string): string {
  const match = /ses_[0-9a-z]{26}/.exec(text);
  if (match === null) throw new Error(`there is no session id in ${JSON.stringify(text)}`);
  return match[0];
}

/** One line of JSON Lines. */
export type Line = Readonly<Record<string, unknown>> & { readonly schema: number; readonly type: string };

/** The lines of an output that is all JSON Lines. */
export function linesOf(stdout: string): Line[] {
  if (!stdout.endsWith("\n"))
    throw new Error(`the last line has no end: ${JSON.stringify(stdout.slice(-200))}`);
  return stdout
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
}

/** The one document that an output consists of. */
export function documentIn(stdout: string): {
  ok: boolean;
  kind: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  data?: any;
  error?: { code: string; message: string; hint?: string; candidates?: string[]; reason?: string };
} {
  if (stdout.trim().split("\n").length !== 1) throw new Error(`it is not one line: ${stdout}`);
  return JSON.parse(stdout) as ReturnType<typeof documentIn>;
}

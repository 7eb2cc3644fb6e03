import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Finding } from "../campaign/finding.ts";

/** A line of a child's output. */
export type ChildLine = Readonly<Record<string, unknown>>;

/** How a child ended, and what it had said. */
export interface ChildEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly lines: readonly ChildLine[];
  readonly stderr: string;
  /** True where SIGKILL ended it. */
  readonly killed: boolean;
}

/** What to start. */
export interface ChildStart {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** True where it is spoken to. */
  readonly hears?: boolean;
  /** True where it starts others that end with it. */
  readonly leads?: boolean;
}

/** The longest that a child may take from its start to its end, or to a line: what takes longer is stuck. */
const patienceMs = 60_000;

/** Another process, whose output is one JSON value a line. */
export class Child {
  readonly pid: number;
  readonly lines: ChildLine[] = [];
  readonly ended: Promise<ChildEnd>;
  readonly #process: ChildProcess;
  readonly #leads: boolean;
  readonly #waiters = new Set<() => void>();
  #isOver = false;

  constructor({ file, args, cwd, environment, hears = false, leads = false }: ChildStart) {
    const child = spawn(file, args, {
      stdio: [hears ? "pipe" : "ignore", "pipe", "pipe"],
      // Nothing of ours: a list of certificates, for one, costs every start more than all else.
      env: { PATH: process.env["PATH"] ?? "", ...environment },
      detached: leads,
      ...(cwd !== undefined && { cwd }),
    });
    this.#process = child;
    this.#leads = leads;
    this.pid = child.pid ?? 0;
    child.stdin?.on("error", () => undefined); // It may die while it is spoken to.
    let stderr = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    let rest = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      const pieces = (rest + text).split("\n");
      rest = pieces.pop() ?? "";
      for (const piece of pieces) this.lines.push(JSON.parse(piece) as ChildLine);
      this.#tell();
    });
    this.ended = new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, signal) => {
        this.#isOver = true;
        this.#tell();
        resolve({ code, signal, lines: this.lines, stderr, killed: signal === "SIGKILL" });
      });
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  send(command: unknown): void {
    this.#process.stdin?.write(`${JSON.stringify(command)}\n`);
  }

  /** Ends its input, at which it ends by itself; resolves to its end. */
  finish(): Promise<ChildEnd> {
    this.#process.stdin?.end();
    return this.end();
  }

  signal(name: "SIGKILL" | "SIGSTOP" | "SIGCONT" | "SIGTERM"): void {
    if (this.#isOver) return;
    if (!this.#leads) this.#process.kill(name);
    else process.kill(-this.pid, name);
  }

  kill(): Promise<ChildEnd> {
    this.signal("SIGKILL");
    return this.ended;
  }

  /** Resolves to its end; where that does not come, kills it and rejects with a finding. */
  async end(): Promise<ChildEnd> {
    const patience = new AbortController();
    const late = sleep(patienceMs, "late", { signal: patience.signal }).catch(() => "late");
    const end = await Promise.race([this.ended, late]);
    patience.abort();
    if (typeof end !== "string") return end;
    await this.kill();
    throw new Finding("stuck", `a process did not end; its last words: ${JSON.stringify(this.lines.at(-1))}`);
  }

  /**
   * Resolves with the first line from the `from`-th on that fits, said already or later; to undefined where the process
   * ends, or time runs out, without one.
   */
  async line(
    fits: (line: ChildLine) => boolean,
    { from = 0, withinMs = patienceMs }: { from?: number; withinMs?: number } = {},
  ): Promise<ChildLine | undefined> {
    const until = performance.now() + withinMs;
    for (let next = from; ;) {
      for (; next < this.lines.length; next++) {
        const line = this.lines[next];
        if (line !== undefined && fits(line)) return line;
      }
      const leftMs = until - performance.now();
      if (this.#isOver || leftMs <= 0) return undefined;
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          this.#waiters.delete(done);
          resolve();
        };
        const timer = setTimeout(done, leftMs);
        this.#waiters.add(done);
      });
    }
  }

  /** Resolves when the system has stopped it; to false where it ended instead. */
  async stopped(): Promise<boolean> {
    for (;;) {
      if (this.#isOver) return false;
      const [, state = ""] = statusOf(this.pid).split(") ");
      if (state.startsWith("T")) return true;
      await sleep(1);
    }
  }

  #tell(): void {
    for (const waiter of this.#waiters) waiter();
  }
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    // It is gone.
    return "";
  }
}

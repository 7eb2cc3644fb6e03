import { type ChildProcess, fork } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { noCounts, type FoundFault, type Task, type TaskResult } from "./task.ts";

/** A case that takes longer never ends. */
const caseMsMax = 240_000;
const lookEveryMs = 5_000;

/** A process that works through tasks, started anew where one of them ends it or never ends itself. */
export class TeamMember {
  readonly #program: string;
  readonly #folder = mkdtempSync(join(tmpdir(), "holdfast-campaign-"));
  readonly #notes = join(this.#folder, "case");
  #child: ChildProcess | undefined;

  /** `program` is the bundled worker. */
  constructor(program: string) {
    this.#program = program;
  }

  /** Resolves to what the task came to; also where the process did not survive it. */
  async work(task: Task): Promise<TaskResult> {
    const child = (this.#child ??= await this.#start());
    const start = performance.now();
    const stop = this.#watch(child);
    const answer = await new Promise<TaskResult | string>((resolve) => {
      const answered = (message: unknown): void => {
        child.off("exit", ended);
        resolve(message as TaskResult);
      };
      const ended = (code: number | null, signal: string | null): void => {
        child.off("message", answered);
        resolve(`its process ended with ${signal ?? `exit code ${code}`}`);
      };
      child.once("message", answered);
      child.once("exit", ended);
      child.send(task);
    });
    const stuck = stop();
    if (typeof answer !== "string") return answer;
    this.#child = undefined;
    return {
      plan: task.plan,
      cases: 0,
      counts: noCounts,
      durationMs: performance.now() - start,
      cpuMs: 0,
      found: [this.#finding(task, stuck ?? answer)],
      skipped: [],
    };
  }

  end(): void {
    this.#child?.disconnect();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #start(): Promise<ChildProcess> {
    const notes = openSync(this.#notes, "w");
    const { NODE_EXTRA_CA_CERTS: _certificates, ...env } = process.env;
    const child = fork(this.#program, [], { stdio: ["ignore", "inherit", "inherit", notes, "ipc"], env });
    closeSync(notes);
    await new Promise<void>((resolve, reject) => {
      child.once("message", () => resolve());
      child.once("exit", () => reject(new Error("a process of the campaign did not start")));
    });
    return child;
  }

  /** Ends the process where it works on one case for too long; the returned function says whether it did. */
  #watch(child: ChildProcess): () => string | undefined {
    let [address, sinceMs] = ["", performance.now()];
    let stuck: string | undefined;
    const timer = setInterval(() => {
      const now = this.#address();
      if (now !== address) [address, sinceMs] = [now, performance.now()];
      if (performance.now() - sinceMs < caseMsMax) return;
      stuck = `it did not end in ${caseMsMax / 1000} s`;
      child.kill("SIGKILL");
    }, lookEveryMs);
    return () => {
      clearInterval(timer);
      return stuck;
    };
  }

  #address(): string {
    return readFileSync(this.#notes, "utf8").split("\n")[0] ?? "";
  }

  #finding({ plan }: Task, message: string): FoundFault {
    return { plan, address: this.#address(), promise: "stuck", message };
  }
}

import { type ChildProcess, fork } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { noCounts, type FoundFault, type Task, type TaskResult } from "./task.ts";

/** A case that takes longer never ends. */
const caseMsMax = 240_000;
const lookEveryMs = 5_000;

/** What the process tells: how far it is, or what all of it came to. */
interface Message {
  readonly soFar?: TaskResult;
  readonly result?: TaskResult;
}

/** A process that works through tasks, started anew where one of them ends it or never ends itself. */
export class TeamMember {
  readonly #program: string;
  readonly #folder: string;
  readonly #notes: string;
  #child: ChildProcess | undefined;

  /** `program` is the bundled worker; beside it stands, until the campaign ends in any way, what the process notes. */
  constructor(program: string) {
    this.#program = program;
    this.#folder = mkdtempSync(join(dirname(program), "member-"));
    this.#notes = join(this.#folder, "case");
  }

  /** Resolves to what the task came to; also where the process did not survive it. */
  async work(task: Task): Promise<TaskResult> {
    // What a case left behind may have ended it when its task was over.
    const early = endOf(this.#child);
    if (early !== undefined) {
      this.#child = undefined;
      const rest = await this.work(task);
      return {
        ...rest,
        found: [this.#finding(task, `the plan before it left something, ${early}`), ...rest.found],
      };
    }
    const child = (this.#child ??= await this.#start());
    const start = performance.now();
    const stop = this.#watch(child);
    let soFar: TaskResult | undefined;
    const answer = await new Promise<TaskResult | string>((resolve) => {
      const answered = (message: unknown): void => {
        const { result } = message as Message;
        if (result === undefined) return void ({ soFar } = message as Message);
        child.off("exit", ended);
        child.off("message", answered);
        resolve(result);
      };
      const ended = (code: number | null, signal: string | null): void => {
        child.off("message", answered);
        resolve(`its process ended with ${signal ?? `exit code ${code}`}`);
      };
      child.on("message", answered);
      child.once("exit", ended);
      // Where it cannot be told, it ends or has ended.
      child.send(task, () => undefined);
    });
    const stuck = stop();
    if (typeof answer !== "string") return answer;
    this.#child = undefined;
    return {
      plan: task.plan,
      cases: soFar?.cases ?? 0,
      counts: soFar?.counts ?? noCounts,
      durationMs: performance.now() - start,
      cpuMs: soFar?.cpuMs ?? 0,
      found: [...(soFar?.found ?? []), this.#finding(task, stuck ?? answer)],
      skipped: [...(soFar?.skipped ?? []), "all that comes after the case that never ended"],
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

/** How the process ended, where it did. */
function endOf(child: ChildProcess | undefined): string | undefined {
  if (child === undefined || (child.exitCode === null && child.signalCode === null)) return undefined;
  return `its process ended with ${child.signalCode ?? `exit code ${child.exitCode}`}`;
}

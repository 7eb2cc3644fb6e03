import { delimiter, dirname } from "node:path";
import type { ChildExit, ChildProcess, Host } from "../../host/index.ts";
import { utf8Text } from "../../host/index.ts";
import type { Outside } from "../outside.ts";
import type { Stage } from "./stage.ts";
import { readWitness } from "./stage.ts";
import type { PlannedKill, WorkerEvent } from "./story.ts";
import { witnessVariable } from "./story.ts";

/** One worker: a process of its own, watched through its JSON Lines and killed when the time has come. */

/** How a worker's stay ended. */
export interface Attempt {
  /** From 1. */
  readonly number: number;
  readonly pid: number;
  readonly exit: ChildExit;
  /** True where our SIGKILL ended it. */
  readonly killed: boolean;
  /** The session that its lines name. */
  readonly session: string | undefined;
  /** What it wrote that is no event: errors. */
  readonly complaints: readonly string[];
}

const witnessTries = 500;
const witnessRetryMs = 10;

/** Starts the program with `args` and resolves when that process is gone; kills it where a kill is planned. */
export async function runAttempt(
  outside: Outside,
  stage: Stage,
  plan: {
    readonly number: number;
    readonly args: readonly string[];
    readonly kill: PlannedKill | undefined;
    started(pid: number): void;
  },
): Promise<Attempt> {
  const { host, self } = outside;
  const child = host.processes.spawn({
    file: self.file,
    args: [...self.args, ...plan.args],
    cwd: stage.folder,
    env: { ...self.env, PATH: pathOf(self), [witnessVariable]: stage.witness },
  });
  plan.started(child.pid);
  const watched = await watch(child, { host, stage, kill: plan.kill });
  const exit = await child.exited;
  return { number: plan.number, pid: child.pid, exit, killed: exit.signal === "SIGKILL", ...watched };
}

/** The task's commands call `node`: it shall be the one that runs us, also where no PATH names it. */
function pathOf({ file, env }: Outside["self"]): string {
  const path = env["PATH"] ?? "";
  return path === "" ? dirname(file) : `${dirname(file)}${delimiter}${path}`;
}

interface Watching {
  readonly host: Host;
  readonly stage: Stage;
  readonly kill: PlannedKill | undefined;
}

/** Reads events to the end of the output, and kills. */
async function watch(
  child: ChildProcess,
  watching: Watching,
): Promise<Pick<Attempt, "session" | "complaints">> {
  const { kill } = watching;
  const complaints: string[] = [];
  let session: string | undefined;
  let matched = 0;
  let killing: Promise<void> = Promise.resolve();
  let isGone = false;
  const gone = child.exited.finally(() => (isGone = true));
  const take = (line: string): void => {
    const event = parseEvent(line);
    if (event === undefined || event.type === "error") complaints.push(line);
    if (event === undefined) return;
    session ??= event.session;
    if (kill?.matches(event) === true && ++matched === kill.occurrence) {
      // A process that is gone is not signalled: its number may be another's by now.
      killing = awaitEffect(watching, kill).then(() => {
        if (!isGone) watching.host.processes.signal(child.pid, "SIGKILL");
      });
    }
  };
  await new Promise<void>((ended) => child.onOutput(lineSplitter(take), ended));
  await Promise.all([killing, gone]);
  return { session, complaints };
}

/** Resolves when the effect that shall be under way is. */
async function awaitEffect({ host, stage }: Watching, kill: PlannedKill): Promise<void> {
  for (let tries = 0; kill.witnessLines !== undefined && tries < witnessTries; tries++) {
    if ((await readWitness(host.disk, stage)).length >= kill.witnessLines) break;
    await host.clock.sleep(witnessRetryMs);
  }
}

/** Cuts a stream of bytes into lines; a last piece without a newline was cut by a death and is none. */
function lineSplitter(take: (line: string) => void): (bytes: Uint8Array) => void {
  let rest = new Uint8Array();
  return (bytes) => {
    const all = new Uint8Array(rest.length + bytes.length);
    all.set(rest);
    all.set(bytes, rest.length);
    let start = 0;
    for (let end = all.indexOf(0x0a); end >= 0; end = all.indexOf(0x0a, start)) {
      take(utf8Text(all, start, end));
      start = end + 1;
    }
    rest = all.slice(start);
  };
}

function parseEvent(line: string): (WorkerEvent & { session?: string }) | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const isEvent = typeof value === "object" && value !== null && "type" in value;
    return isEvent ? (value as WorkerEvent & { session?: string }) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

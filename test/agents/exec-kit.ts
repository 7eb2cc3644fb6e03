import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execTool, type ExecToolOptions } from "../../src/agents/builtin/exec/index.ts";
import { Claim } from "../../src/agents/builtin/exec/claim.ts";
import { nodeHost, type Host } from "../../src/host/index.ts";
import type { EffectResult, OperationPlace, Proof, Tool, ToolRun } from "../../src/model/agent.ts";
import { makeId } from "../../src/model/ids.ts";
import type { Evidence } from "../../src/model/facts.ts";
import type { Json } from "../../src/model/values.ts";
import { bundleForNode } from "../peers/bundle.ts";
import type { SupervisorPeerOptions } from "../peers/exec-supervisor.ts";
import type { WorkerPeerOptions } from "../peers/exec-worker.ts";

/** One session in a temporary directory, with real files, real processes and supervisors that end quickly. */
export interface Scene {
  readonly host: Host;
  readonly workspace: string;
  readonly folder: string;
  readonly runtime: string;
  /** A new operation of the session. */
  place(): OperationPlace;
  /** Supervisors of this scene that live. */
  supervisors(): number[];
  /** Resolves when there is none. */
  supervisorsEnd(): Promise<unknown>;
  tool(options?: Partial<ExecToolOptions> & { supervisor?: SupervisorPeerOptions }): Tool;
  /** Removes everything. */
  end(): void;
}

/** Each program is bundled once in a test file. */
function bundledOnce(entry: string): () => Promise<string> {
  let path: Promise<string> | undefined;
  return () => (path ??= bundleForNode(entry));
}

export const supervisorPeer = bundledOnce("test/peers/exec-supervisor.ts");
export const workerPeer = bundledOnce("test/peers/exec-worker.ts");

export function makeScene(supervisorPath: string): Scene {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "hfx-")));
  const workspace = join(folder, "workspace");
  const runtime = join(folder, "run");
  for (const name of ["workspace", "run", "session", "session/spool"]) mkdirSync(join(folder, name));
  const host = nodeHost({ environment: { XDG_RUNTIME_DIR: runtime } });
  const id = (prefix: "ses" | "run" | "op"): string => makeId(prefix, Date.now(), host.ids.random(10));
  const [session, run] = [id("ses"), id("run")];
  const supervisors = (): number[] =>
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .filter((name) => readText(`/proc/${name}/cmdline`).includes(`--socket\0${runtime}/`))
      .map(Number);
  return {
    host,
    workspace,
    folder,
    runtime,
    place() {
      const operation = id("op");
      const spool = join(folder, "session/spool", operation);
      const trash = join(folder, "session/trash");
      return { session, run, operation, workspace, spool, trash, supervisor: `${folder} ${session}` };
    },
    tool({ supervisor = {}, ...options } = {}) {
      return execTool({
        host,
        supervisorProgram: supervisorProgram(supervisorPath, supervisor),
        environment: { PATH: process.env["PATH"] },
        passEnv: [],
        secrets: [],
        ...options,
      });
    },
    supervisors,
    supervisorsEnd: () => until(() => supervisors().length === 0, 30),
    end: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export function supervisorProgram(path: string, options: SupervisorPeerOptions) {
  return { file: process.execPath, args: [path, "--options", JSON.stringify(options)] };
}

export interface Call extends ToolRun {
  /** All live output so far. */
  readonly shown: { text: string };
  readonly abort: AbortController;
}

export function makeCall(place: OperationPlace, args: Json): Call {
  const shown = { text: "" };
  const abort = new AbortController();
  const live = (text: string): void => {
    shown.text += text;
  };
  return { place, args, signal: abort.signal, graceMs: 2000, live, shown, abort };
}

export async function prepare(tool: Tool, call: ToolRun): Promise<Evidence> {
  const prepared = await tool.prepare(call);
  if (!prepared.ready) throw new Error(prepared.result.output);
  return prepared.evidence;
}

/** Prepares and performs one command. */
export async function execute(
  scene: Scene,
  args: string | { command: string; timeoutMs?: number; cwd?: string },
  options: Parameters<Scene["tool"]>[0] = {},
): Promise<EffectResult & { shown: string; details: Record<string, Json> }> {
  const tool = scene.tool(options);
  const call = makeCall(scene.place(), typeof args === "string" ? { command: args } : args);
  const result = await tool.perform(call, await prepare(tool, call));
  return { ...result, shown: call.shown.text, details: (result.details ?? {}) as Record<string, Json> };
}

/** Starts a worker process; the evidence is on record once `started` resolves. */
export function startWorker(
  path: string,
  options: WorkerPeerOptions,
): { child: ChildProcess; started: Promise<Evidence>; ended: Promise<unknown> } {
  const child = spawn(process.execPath, [path, JSON.stringify(options)], { stdio: "ignore" });
  const ended = once(child, "close");
  const started = until(() => readEvidence(options.record));
  return { child, started, ended };
}

export function readEvidence(path: string): Evidence | undefined {
  if (!existsSync(path)) return undefined;
  const text = readFileSync(path, "utf8");
  return text === "" ? undefined : (JSON.parse(text) as Evidence);
}

/** Waits until `find` finds something. */
export async function until<T>(find: () => T | undefined | false, everyMs = 5): Promise<T> {
  for (;;) {
    const found = find();
    if (found !== undefined && found !== false) return found;
    await sleep(everyMs);
  }
}

/** What a file holds; nothing where there is none, or no longer. */
export function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** How often a command of the form `echo run >> witness` ran. */
export function runsIn(witness: string): number {
  return readText(witness).split("\n").length - 1;
}

export function claimOf(place: OperationPlace): Claim | undefined {
  const text = readText(join(place.spool, "claim"));
  return text === "" ? undefined : Claim.parse(JSON.parse(text));
}

/** The supervisor that claimed the operation. */
export async function supervisorOf(place: OperationPlace): Promise<number> {
  return until(() => claimOf(place)?.pid);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie counts as dead: nobody but its parent sees the difference.
    return !readText(`/proc/${pid}/stat`).includes(") Z ");
  } catch {
    return false;
  }
}

export function known(proof: Proof): EffectResult {
  if (proof.proven !== "known") throw new Error(`not known: ${JSON.stringify(proof)}`);
  return proof.result;
}

/** A workspace for the file tools, and runs of them as the engine makes them: prepare, then perform. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileTools } from "../../src/agents/builtin/tools/file-tools.ts";
import { nodeHost, type Disk, type Host } from "../../src/host/index.ts";
import type { EffectResult, OperationPlace, Tool, ToolRun } from "../../src/model/agent.ts";
import type { Evidence } from "../../src/model/facts.ts";
import { makeId } from "../../src/model/ids.ts";
import type { Json } from "../../src/model/values.ts";

export type FileHost = Pick<Host, "disk" | "clock">;

let operations = 0;

/** A fresh operation id. */
export function nextOperation(): string {
  operations++;
  const random = Uint8Array.from({ length: 10 }, (_, index) =>
    index > 7 ? operations >> (8 * (9 - index)) : 1,
  );
  return makeId("op", 1_764_511_111_111, random);
}

/** Where an operation takes place, under `root`: the workspace in `ws`, the session in `session`. */
export function placeIn(root: string, operation = nextOperation()): OperationPlace {
  return {
    session: "ses_0",
    run: "run_0",
    operation,
    workspace: join(root, "ws"),
    closed: join(root, "ws", "state"),
    spool: join(root, "session/spool", operation),
    trash: join(root, "session/trash"),
    supervisor: "supervisor",
  };
}

export function runOf(place: OperationPlace, args: Json, signal = new AbortController().signal): ToolRun {
  return { place, args, signal, graceMs: 2000, live: () => undefined };
}

export function toolNamed(host: FileHost, name: string): Tool {
  const tool = fileTools(host).find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool;
}

/** Does what the engine does for one call: prepare, perform, clean up. */
export async function execute(host: FileHost, tool: string, run: ToolRun): Promise<EffectResult> {
  const it = toolNamed(host, tool);
  const prepared = await it.prepare(run);
  if (!prepared.ready) return prepared.result;
  const result = await it.perform(run, prepared.evidence);
  await it.cleanUp(run.place, prepared.evidence, run.args);
  return result;
}

/** Prepares and expects that the effect may start. */
export async function prepareReady(host: FileHost, tool: string, run: ToolRun): Promise<Evidence> {
  const prepared = await toolNamed(host, tool).prepare(run);
  if (!prepared.ready) throw new Error(prepared.result.output);
  return prepared.evidence;
}

/** A directory of its own on the real disk, with an empty workspace and session. */
export interface RealWorld {
  readonly root: string;
  readonly workspace: string;
  readonly host: FileHost;
  call(tool: string, args: Json): Promise<EffectResult>;
  remove(): void;
}

export function realWorld(disk?: Disk): RealWorld {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-files-")));
  for (const name of ["ws", "session"]) mkdirSync(join(root, name));
  const host: FileHost = disk === undefined ? nodeHost() : { ...nodeHost(), disk };
  return {
    root,
    workspace: join(root, "ws"),
    host,
    call: (tool, args) => execute(host, tool, runOf(placeIn(root), args)),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

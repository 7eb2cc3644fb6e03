/**
 * A worker process of the engine that something befalls at a change of a plan's choice. What happens is written to
 * stdout, one JSON value a line, at once: `{begins: step}`, `{begun: session}`, `{commit}`, `{ended: value}` or
 * `{refused: code, message}`, the last two with the count of its changes.
 */
import { writeSync } from "node:fs";
import type {
  ApprovalMode,
  ApproveRequest,
  Resolution,
  ResumeRequest,
  StopRunRequest,
  TaskRequest,
} from "../../src/engine/index.ts";
import { approveOperation, cancelRun, resolveOperation, resume, runTask } from "../../src/engine/index.ts";
import { nodeHost } from "../../src/host/index.ts";
import { isHoldfastError } from "../../src/model/errors.ts";
import { openEngine } from "../../src/open.ts";
import { changingHost } from "./changing-host.ts";
import { Changes, type Mishap } from "./mishap.ts";

/** What it does: one of these. */
export type RunStep =
  | { readonly do: "run"; readonly task: TaskRequest; readonly approvals?: WorkerApprovals }
  | { readonly do: "resume"; readonly request: ResumeRequest; readonly approvals?: WorkerApprovals }
  | { readonly do: "resolve"; readonly resolution: Resolution }
  | { readonly do: "cancel"; readonly request: StopRunRequest }
  | { readonly do: "approve"; readonly request: ApproveRequest };

type WorkerApprovals = Exclude<ApprovalMode, { kind: "prompt" }>;

export interface RunWorkerOptions {
  readonly state: string;
  readonly runtime: string;
  readonly supervisor: { readonly file: string; readonly args: readonly string[] };
  readonly step: RunStep;
  readonly mishap?: Mishap;
}

const { state, runtime, supervisor, step, mishap } = JSON.parse(process.argv[2] ?? "{}") as RunWorkerOptions;
const changes = new Changes(mishap);
const path = process.env["PATH"] ?? "";
const engine = openEngine({
  host: changingHost(nodeHost({ environment: { XDG_RUNTIME_DIR: runtime } }), changes.before),
  stateDirectory: state,
  singleWriter: false,
  environment: { PATH: path },
  version: "0.0.0-test",
  supervisorProgram: supervisor,
});

function say(line: unknown): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

const observer = { commit: (commit: unknown) => say({ commit }), live: () => undefined };

async function act(): Promise<unknown> {
  switch (step.do) {
    case "run": {
      const control = step.approvals === undefined ? {} : { approvals: step.approvals };
      return runTask(engine, { ...step.task, ...control }, observer, (begun) => say({ begun }));
    }
    case "resume": {
      const control = step.approvals === undefined ? {} : { approvals: step.approvals };
      return resume(engine, { ...step.request, ...control }, observer);
    }
    case "resolve":
      return resolveOperation(engine, step.resolution);
    case "cancel":
      return cancelRun(engine, step.request);
    case "approve":
      return approveOperation(engine, step.request);
  }
}

async function work(): Promise<void> {
  say({ begins: step.do });
  try {
    const ended = await act();
    say({ ended, changes: changes.count });
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    say({ refused: error.code, message: error.message, changes: changes.count });
  }
}

void work();

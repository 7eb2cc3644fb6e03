import { writeFileSync, writeSync } from "node:fs";
import type {
  ApprovalMode,
  ApproveRequest,
  EngineContext,
  Observer,
  Resolution,
  ResumeRequest,
  StopRunRequest,
  TaskRequest,
  WorkControl,
} from "../../src/engine/index.ts";
import {
  abandonRun,
  approveOperation,
  cancelRun,
  resolveOperation,
  resume,
  runTask,
  StopSwitch,
} from "../../src/engine/index.ts";
import { nodeHost } from "../../src/host/index.ts";
import { errorTable, exitCodeOf, isHoldfastError } from "../../src/model/errors.ts";
import type { RunView } from "../../src/model/views.ts";
import { openEngine } from "../../src/open.ts";
import { dieBefore, watchedHost } from "./watched-host.ts";

/**
 * A worker process of the engine as it really is. What happens is written to stdout, one JSON value a line, at once.
 * SIGINT cancels its work and SIGTERM suspends it, which it says: `{"stops":"SIGTERM"}`.
 */
export interface EngineWorkerOptions {
  stateDirectory: string;
  runtime: string;
  supervisor: { file: string; args: string[] };
  environment: Record<string, string>;
  /** What to do: one of these. */
  run?: TaskRequest;
  resume?: ResumeRequest;
  resolve?: Resolution;
  cancel?: StopRunRequest;
  abandon?: StopRunRequest;
  approve?: ApproveRequest;
  /** How the work goes, for `run` and `resume`. */
  approvals?: Exclude<ApprovalMode, { kind: "prompt" }>;
  cancelGraceMs?: number;
  /** Sends itself this signal before its n-th effect, naming that effect in `file`. */
  stop?: { at: number; signal: "SIGTERM" | "SIGINT"; file: string };
  /** Dies before its n-th effect, naming that effect in `file`. */
  die?: { at: number; file: string };
  /** Waits at this effect, the `nth` of its name, until it is killed; says `{"waits":true}` first. */
  wait?: { effect: string; nth: number };
}

/** A line of its output. */
export type EngineWorkerLine = Record<string, unknown>;

const options = JSON.parse(process.argv[2] ?? "{}") as EngineWorkerOptions;

function say(line: EngineWorkerLine): void {
  // In one go, so that what was said before a SIGKILL was said.
  writeSync(1, `${JSON.stringify(line)}\n`);
}

const stops = new StopSwitch();
process.on("SIGINT", () => {
  say({ stops: "SIGINT" });
  stops.request({ kind: "cancel", by: "ada" });
});
process.on("SIGTERM", () => {
  say({ stops: "SIGTERM" });
  stops.request({ kind: "suspend", reason: "signal" });
});

let effects = 0;
const { stop } = options;
const waits = options.wait;
let seen = 0;
const die = options.die === undefined ? () => undefined : dieBefore(options.die.at, options.die.file);
const host = watchedHost(nodeHost({ environment: { XDG_RUNTIME_DIR: options.runtime } }), async (effect) => {
  effects++;
  await die(effect);
  if (effects === stop?.at) {
    writeFileSync(stop.file, effect);
    process.kill(process.pid, stop.signal);
    // The signal comes through the loop; where the effect is one that waits, before it.
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (effect !== waits?.effect || ++seen !== waits.nth) return;
  say({ waits: true });
  await new Promise((resolve) => setTimeout(resolve, 3_600_000));
});
const context: EngineContext = openEngine({
  host,
  stateDirectory: options.stateDirectory,
  singleWriter: false,
  environment: options.environment,
  version: "0.0.0-test",
  supervisorProgram: options.supervisor,
});
const observer: Observer = {
  commit: (commit) => say({ commit }),
  live: (live) => say({ live }),
};
const exitCodes: Record<string, number> = {
  completed: 0,
  idle: 0,
  failed: errorTable.run_failed.exit,
  input_required: errorTable.input_required.exit,
  canceled: errorTable.canceled.exit,
  suspended: errorTable.provider_failed.exit,
};

/** A verb that is over at once; undefined where there is work to do. */
function verb(): Promise<RunView> | undefined {
  if (options.resolve !== undefined) return resolveOperation(context, options.resolve);
  if (options.cancel !== undefined) return cancelRun(context, options.cancel);
  if (options.abandon !== undefined) return abandonRun(context, options.abandon);
  if (options.approve !== undefined) return approveOperation(context, options.approve);
  return undefined;
}

async function act(): Promise<void> {
  const shown = verb();
  if (shown !== undefined) {
    say({ shown: await shown, effects });
    return;
  }
  const { approvals, cancelGraceMs } = options;
  const control: WorkControl = {
    stops,
    ...(approvals && { approvals }),
    ...(cancelGraceMs !== undefined && { cancelGraceMs }),
  };
  const report =
    options.run === undefined
      ? await resume(
          context,
          { selector: "", acceptRollback: false, ...options.resume, ...control },
          observer,
        )
      : await runTask(context, { ...options.run, ...control }, observer, (session) =>
          say({ begun: session }),
        );
  say({ report, effects });
  const isStopped = stops.stop !== undefined && report.ending === "suspended";
  process.exitCode = isStopped ? errorTable.suspended.exit : (exitCodes[report.ending] ?? 1);
}

try {
  await act();
} catch (error) {
  const known = isHoldfastError(error) ? { code: error.code, ...error.details } : {};
  say({ error: { message: String(error), ...known }, effects });
  process.exitCode = exitCodeOf(error);
}

import { writeSync } from "node:fs";
import type {
  EngineContext,
  Observer,
  Resolution,
  ResumeRequest,
  TaskRequest,
} from "../../src/engine/index.ts";
import { resolveOperation, resume, runTask } from "../../src/engine/index.ts";
import { nodeHost } from "../../src/host/index.ts";
import { errorTable, exitCodeOf, isHoldfastError } from "../../src/model/errors.ts";
import { openEngine } from "../../src/open.ts";
import { dieBefore, watchedHost } from "./watched-host.ts";

/** A worker process of the engine as it really is. What happens is written to stdout, one JSON value a line, at once. */
export interface EngineWorkerOptions {
  stateDirectory: string;
  runtime: string;
  supervisor: { file: string; args: string[] };
  environment: Record<string, string>;
  /** What to do: one of these. */
  run?: TaskRequest;
  resume?: ResumeRequest;
  resolve?: Resolution;
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

let effects = 0;
const waits = options.wait;
let seen = 0;
const die = options.die === undefined ? () => undefined : dieBefore(options.die.at, options.die.file);
const host = watchedHost(nodeHost({ environment: { XDG_RUNTIME_DIR: options.runtime } }), async (effect) => {
  effects++;
  await die(effect);
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

async function act(): Promise<void> {
  if (options.resolve !== undefined) {
    say({ resolved: await resolveOperation(context, options.resolve), effects });
    return;
  }
  const report =
    options.run === undefined
      ? await resume(context, options.resume ?? { selector: "", acceptRollback: false }, observer)
      : await runTask(context, options.run, observer, (session) => say({ begun: session }));
  say({ report, effects });
  process.exitCode = exitCodes[report.ending] ?? 1;
}

try {
  await act();
} catch (error) {
  const known = isHoldfastError(error) ? { code: error.code, ...error.details } : {};
  say({ error: { message: String(error), ...known }, effects });
  process.exitCode = exitCodeOf(error);
}

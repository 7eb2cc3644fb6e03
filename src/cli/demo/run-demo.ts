import type { EngineContext } from "../../engine/index.ts";
import { HoldfastError, errorTable } from "../../model/errors.ts";
import { documentOf } from "../document.ts";
import type { Outside } from "../outside.ts";
import { Screen } from "../screen.ts";
import type { Attempt } from "./attempt.ts";
import { runAttempt } from "./attempt.ts";
import type { Evidence } from "./evidence.ts";
import { effectsOf, gatherEvidence, readLog } from "./evidence.ts";
import { reportAttempt, reportEnd, reportEvidence, reportStage, reportStart } from "./report.ts";
import type { Stage } from "./stage.ts";
import { buildStage } from "./stage.ts";
import { kills, task } from "./story.ts";

/** The guided proof: kills its own workers in the middle of things, resumes, and holds what is on disk to the promise. */

/** How the demo is called. */
export interface DemoOptions {
  /** The session stays here and can be opened afterwards. */
  readonly stateDirectory: string;
  readonly singleWriter?: boolean;
  /** How this program is called again on the same sessions; absent: by its name alone. */
  readonly program?: string;
  /** One JSON document at the end instead of a report. */
  readonly json: boolean;
}

/** Resolves to the exit code: 0 only where every claim holds, else that of a failed run. Leaves session and folder. */
export async function runDemo(outside: Outside, options: DemoOptions): Promise<number> {
  const { stateDirectory, singleWriter = false, program = "holdfast" } = options;
  const context = outside.open({ stateDirectory, singleWriter });
  const stage = await buildStage(outside);
  const screen = options.json ? undefined : new Screen(outside.stdout, outside.mayColour);
  if (screen !== undefined) reportStage(screen, stage);
  const attempts = await playUntilInterrupted({ outside, context, stage, screen, options });
  const session = attempts[0]?.session;
  if (session === undefined) throw noSession(attempts);
  const evidence = await gatherEvidence({ context, disk: outside.host.disk, stage }, session, attempts);
  const failed = evidence.checks.some(({ holds }) => !holds);
  if (screen === undefined) {
    const document = tell(evidence, { session, stage, attempts });
    await outside.stdout.write(`${JSON.stringify(document)}\n`);
  } else {
    const deaths = attempts.filter(({ killed }) => killed).length;
    reportEvidence(screen, evidence);
    reportEnd(screen, evidence, { look: `${program} session show ${session}`, deaths });
    await screen.flushed();
  }
  return failed ? errorTable.run_failed.exit : 0;
}

interface Play {
  readonly outside: Outside;
  readonly context: EngineContext;
  readonly stage: Stage;
  readonly screen: Screen | undefined;
  readonly options: DemoOptions;
}

/** Takes the worker along when the demo is interrupted: it has a process group of its own. */
async function playUntilInterrupted(play: Play): Promise<Attempt[]> {
  const { outside } = play;
  let worker: number | undefined;
  const stopListening = outside.onSignal(() => {
    if (worker !== undefined) outside.host.processes.signal(worker, "SIGTERM");
    outside.exit(errorTable.interrupted.exit);
  });
  try {
    return await playAll(play, (pid) => (worker = pid));
  } finally {
    stopListening();
  }
}

/** Runs worker after worker until one is not killed; tells `working` who works, and when nobody does. */
async function playAll(
  { outside, context, stage, screen, options }: Play,
  working: (pid: number | undefined) => void,
): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  const writer = options.singleWriter === true ? ["--single-writer"] : [];
  const common = ["--state-dir", options.stateDirectory, ...writer, "--format", "jsonl"];
  const { workspace, cassette } = stage;
  const model = ["--model", `cassette:${cassette}`, "--allow-shell"];
  let args = ["run", ...common, "--workspace", workspace, ...model, "--task", task];
  let from = 0;
  for (;;) {
    const number = attempts.length + 1;
    const kill = kills[attempts.length];
    const [verb = ""] = args;
    const started = (pid: number) => {
      working(pid);
      if (screen !== undefined) reportStart(screen, { number, pid, verb });
    };
    const attempt = await runAttempt(outside, stage, { number, args, kill, started });
    working(undefined);
    attempts.push(attempt);
    const session = attempts[0]?.session;
    if (session === undefined) return attempts;
    const { commits } = await readLog(context, session);
    if (screen !== undefined) reportAttempt(screen, attempt, { commits, from, kill });
    from = commits.length;
    if (!attempt.killed) return attempts;
    args = ["resume", session, ...common];
  }
}

function noSession(attempts: readonly Attempt[]): HoldfastError {
  const [first] = attempts;
  const said = first?.complaints.join("\n") ?? "";
  const ended = first?.exit.code === undefined ? String(first?.exit.signal) : `exit code ${first.exit.code}`;
  return new HoldfastError("run_failed", `the demo's worker made no session (${ended})\n${said}`.trimEnd());
}

/** The document: the evidence, and, where a claim does not hold, which. */
function tell(
  evidence: Evidence,
  made: { readonly session: string; readonly stage: Stage; readonly attempts: readonly Attempt[] },
): object {
  const { run, commits, operations, witness, checks } = evidence;
  const { session, stage, attempts } = made;
  const failed = checks.filter(({ holds }) => !holds);
  const data = {
    session,
    run: run.run,
    workspace: stage.workspace,
    witness: { path: stage.witness, lines: witness },
    attempts: attempts.map(({ number, pid, killed, exit }) => ({ number, pid, killed, exit })),
    operations,
    effects: effectsOf(operations).length,
    log: { lines: commits.length },
    checks,
  };
  const message = failed.map(({ claim, found }) => `${claim}: ${found}`).join("; ");
  return documentOf(
    "demo",
    failed.length === 0 ? { data } : { data, error: { code: "run_failed", message } },
  );
}

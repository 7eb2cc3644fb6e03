import type { EngineContext, Observer, WorkReport } from "../engine/index.ts";
import { findRun, readSession } from "../engine/index.ts";
import type { Commit } from "../model/commit.ts";
import { errorTable } from "../model/errors.ts";
import type { OperationView, RunView } from "../model/views.ts";
import type { Call } from "./call.ts";
import { screenOf } from "./call.ts";
import { documentOf } from "./document.ts";
import type { Outcome } from "./ending.ts";
import { codeOfEnding, exitCodeOfEnding } from "./ending.ts";
import type { Failure } from "./failure.ts";
import { failureOf, reportFailure, reportStack } from "./failure.ts";
import { jsonlProgress } from "./progress/jsonl.ts";
import type { ProgressOutput } from "./progress/output.ts";
import { silentProgress } from "./progress/silent.ts";
import { TextProgress } from "./progress/text.ts";

/** What `run` and `resume` share: work on a session, told in the form that was asked for, with an exit code at the end. */

/** One piece of work. */
export interface Work {
  /** The session, or what selects it; absent for one that does not exist yet. */
  readonly session?: string;
  /** Operations that an earlier process asked for; for people. */
  readonly earlier?: readonly OperationView[];
  start(observer: Observer, begun: (session: string) => void): Promise<WorkReport>;
}

/** Does the work; resolves to the exit code. A signal that ends the process ends it here, at once. */
export async function doWork(call: Call, context: EngineContext, work: Work): Promise<number> {
  const output = progressOf(call, work);
  const watch = new Watch(work.session);
  const stopListening = call.outside.onSignal(() => leave(call, output, watch));
  try {
    const observer: Observer = {
      commit: (commit) => {
        watch.see(commit);
        if (!watch.isLeaving) output.observer.commit(commit);
      },
      live: (event) => {
        if (!watch.isLeaving) output.observer.live(event);
      },
    };
    const report = await work.start(observer, (session) => {
      watch.begin(session);
      output.begun(session);
    });
    return await finish(call, { context, output, watch, report });
  } catch (error) {
    output.stop();
    await settled(output.flushed());
    await reportStack(call, error);
    return await reportFailure(call, withWayOn(call, failureOf(error, call), watch));
  } finally {
    stopListening();
  }
}

/** Resolves when the promise is settled, whichever way: what failed is told elsewhere, or is what is being told. */
async function settled(promise: Promise<void>): Promise<void> {
  await Promise.allSettled([promise]);
}

/** What is remembered of the commits. */
class Watch {
  session: string | undefined;
  /** True once the session is known to exist, by its whole id. */
  isDurable = false;
  /** Why the run was suspended or ended, as its fact says. */
  reason: string | undefined;
  message: string | undefined;
  /** True once a signal ends the process: nothing more is told but that. */
  isLeaving = false;

  constructor(session: string | undefined) {
    this.session = session;
  }

  begin(session: string): void {
    this.session = session;
    this.isDurable = true;
  }

  see(commit: Commit): void {
    this.begin(commit.ses);
    for (const fact of commit.facts) {
      if (fact.kind === "run.started") [this.reason, this.message] = [undefined, undefined];
      if (fact.kind !== "run.suspended" && fact.kind !== "run.ended") continue;
      const { reason, message, text } = fact as { reason?: string; message?: string; text?: string };
      [this.reason, this.message] = [reason, message ?? text];
    }
  }
}

function progressOf(call: Call, work: Work): ProgressOutput {
  const { outside, form, program } = call;
  if (form === "json") return silentProgress();
  if (form === "jsonl") return jsonlProgress(outside.stdout);
  const { earlier = [] } = work;
  const { clock } = outside.host;
  const showTask = work.session !== undefined;
  return new TextProgress({ screen: screenOf(call), clock, program, earlier, showTask });
}

async function finish(
  call: Call,
  parts: { context: EngineContext; output: ProgressOutput; watch: Watch; report: WorkReport },
): Promise<number> {
  const { context, output, watch, report } = parts;
  const run = output.needsRun ? await readRun(context, report) : undefined;
  output.ended(report, run);
  await output.flushed();
  const outcome: Outcome = { ending: report.ending, reason: watch.reason };
  const failure = failureOfEnding(call, outcome, watch);
  if (call.form === "json") {
    const data = run ?? { session: report.session };
    const idle = report.ending === "idle" ? { idle: true } : {};
    const document = documentOf(call.kind, { data: { ...data, ...idle }, error: failure });
    await call.outside.stdout.write(`${JSON.stringify(document)}\n`);
  } else if (failure !== undefined && report.ending === "suspended") {
    return await reportFailure(call, failure);
  } else if (call.form === "jsonl" && report.ending === "idle") {
    await call.outside.stderr.write(`holdfast: nothing to do in session ${report.session}\n`);
  }
  return exitCodeOfEnding(outcome);
}

/** The run that the work was about; of idle work, the newest one. */
async function readRun(context: EngineContext, report: WorkReport): Promise<RunView | undefined> {
  const read = await readSession(context, report.session);
  if (report.run === undefined && read.state.runs.size === 0) return undefined;
  return findRun(read, report.run);
}

function failureOfEnding(call: Call, outcome: Outcome, watch: Watch): Failure | undefined {
  const code = codeOfEnding(outcome);
  if (code === undefined) return undefined;
  const { reason } = outcome;
  const told = [reason, watch.message].filter((part) => part !== undefined && part !== "").join(": ");
  const resume = `${call.program} resume ${watch.session}`;
  switch (outcome.ending) {
    case "input_required":
      return {
        code,
        message: "it is not known whether some operations happened; a person must say",
        hint: `See which and how with: ${call.program} run show ${watch.session}`,
      };
    case "suspended":
      return { code, message: `the run is suspended: ${told}`, hint: `Go on with: ${resume}` };
    case "canceled":
      return { code, message: "the run was canceled" };
    default:
      return { code, message: `the run failed: ${told}` };
  }
}

/** A failure after the session exists says how to go on, unless it says something better itself. */
function withWayOn(call: Call, failure: Failure, watch: Watch): Failure {
  if (!watch.isDurable || failure.hint !== undefined) return failure;
  return { ...failure, hint: `Go on with: ${call.program} resume ${watch.session}` };
}

/** Leaves at once: the log is consistent, and who resumes finds out what had happened. */
function leave(call: Call, output: ProgressOutput, watch: Watch): void {
  const { outside, program } = call;
  if (watch.isLeaving) outside.exit(errorTable.interrupted.exit);
  watch.isLeaving = true;
  output.stop();
  const failure: Failure =
    watch.session === undefined
      ? { code: "interrupted", message: "interrupted before a session was made" }
      : {
          code: "interrupted",
          message: `interrupted; session ${watch.session} is kept`,
          hint: `Go on with: ${program} resume ${watch.session}`,
        };
  void settled(output.flushed())
    .then(() => reportFailure(call, failure))
    .then((code) => outside.exit(code));
}

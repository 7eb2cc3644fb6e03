import type { EngineContext, Observer, WorkReport } from "../engine/index.ts";
import { findRun, readOutlook, readSession } from "../engine/index.ts";
import type { EndOfWork } from "../model/ending.ts";
import { codeOfEnding, exitCodeOfEnding } from "../model/ending.ts";
import type { ErrorCode } from "../model/errors.ts";
import { errorTable } from "../model/errors.ts";
import type { OperationView } from "../model/views.ts";
import type { Call } from "./call.ts";
import { screenOf } from "./call.ts";
import { hurry, leave } from "./departure.ts";
import { documentOf } from "./document.ts";
import type { Failure } from "./failure.ts";
import { failureOf, reportFailure, reportStack, wrote } from "./failure.ts";
import { jsonlProgress } from "./progress/jsonl.ts";
import type { LeftBehind, ProgressOutput } from "./progress/output.ts";
import { silentProgress } from "./progress/silent.ts";
import { TextProgress } from "./progress/text.ts";
import { oneLine } from "./text/clean.ts";
import { queueWords, withCommands } from "./text/queue.ts";
import { Watch } from "./watch.ts";

/** What `run` and `resume` share: work on a session, told in the form that was asked for, with an exit code at the end. */

/** One piece of work. */
export interface Work {
  /** The session, or what selects it; absent for one that does not exist yet. */
  readonly session?: string;
  /** What it is told to do, where it is. */
  readonly task?: string;
  /** Operations that an earlier process asked for; for people. */
  readonly earlier?: readonly OperationView[];
  /** Begins nothing more once `signal` is aborted. */
  start(parts: {
    readonly observer: Observer;
    readonly signal: AbortSignal;
    readonly begun: (session: string) => void;
  }): Promise<WorkReport>;
}

/** Does the work; resolves to the exit code. A signal that ends the process ends it here, at once. */
export async function doWork(call: Call, context: EngineContext, work: Work): Promise<number> {
  const output = progressOf(call, work);
  const watch = new Watch(work);
  const stop = new AbortController();
  const { signal } = stop;
  let interrupted = () => leave(call, { output, watch, stop });
  const stopListening = call.outside.onSignal(() => interrupted());
  try {
    const report = await work.start({
      observer: observe(output, watch, signal),
      signal,
      begun: (session) => {
        watch.begin(session);
        output.begun(session);
      },
    });
    if (!signal.aborted) {
      const end: EndOfWork = { ending: report.ending, reason: watch.reason };
      interrupted = hurry(call, exitCodeOfEnding(end));
      return await finish(call, { context, output, watch, report, end });
    }
  } catch (error) {
    if (!signal.aborted) {
      const failure = withWayOn(call, failureOf(error, call), watch);
      interrupted = hurry(call, errorTable[failure.code].exit);
      output.stop();
      await Promise.allSettled([output.flushed()]);
      await reportStack(call, error);
      return await reportFailure(call, failure, watch);
    }
  } finally {
    if (!signal.aborted) stopListening();
  }
  // Who leaves says so and ends the process, very soon: it is he who has the last word.
  return await never();
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}

/**
 * Once a signal ends the process nothing more is told but that, and work that has just made something durable goes no
 * further: what was to come after it never begins.
 */
function observe(output: ProgressOutput, watch: Watch, signal: AbortSignal): Observer {
  return {
    commit: async (commit) => {
      if (signal.aborted) return await never();
      watch.see(commit);
      await output.observer.commit(commit);
      if (signal.aborted) await never();
    },
    live: (event) => {
      if (!signal.aborted) output.observer.live(event);
    },
  };
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
  parts: {
    context: EngineContext;
    output: ProgressOutput;
    watch: Watch;
    report: WorkReport;
    end: EndOfWork;
  },
): Promise<number> {
  const { context, output, watch, report, end } = parts;
  const isIdle = report.ending === "idle";
  const left = output.needsLeft || isIdle ? await readLeft(call, context, report) : undefined;
  output.ended(report, left);
  await output.flushed();
  const failure = failureOfEnding(call, end, watch);
  if (call.form === "json") {
    const { run = { session: report.session }, queue } = left ?? {};
    const data = { ...run, ...(isIdle && { idle: true }), queue };
    const document = documentOf(call.kind, { data, error: failure });
    await call.outside.stdout.write(`${JSON.stringify(document)}\n`);
  } else if (failure !== undefined && report.ending === "suspended") {
    return await reportFailure(call, failure);
  } else if (call.form === "jsonl" && isIdle) {
    const words = left && queueWords(left.queue);
    const more = words === undefined ? "" : `; ${oneLine(words)}`;
    await wrote(call.outside.stderr.write(`holdfast: nothing to do in session ${report.session}${more}\n`));
  }
  return exitCodeOfEnding(end);
}

/** The run that the work was about, of idle work the newest one, and the messages that still wait. */
async function readLeft(call: Call, context: EngineContext, report: WorkReport): Promise<LeftBehind> {
  const read = await readSession(context, report.session);
  const queue = withCommands(await readOutlook(context, read), call.program);
  const hasNone = report.run === undefined && read.state.runs.size === 0;
  return { run: hasNone ? undefined : findRun(read, report.run), queue };
}

function failureOfEnding(call: Call, end: EndOfWork, watch: Watch): Failure | undefined {
  const code = codeOfEnding(end);
  if (code === undefined) return undefined;
  const { reason } = end;
  const told = [reason, watch.message].filter((part) => part !== undefined && part !== "").join(": ");
  const resume = `${call.program} resume ${watch.session}`;
  switch (end.ending) {
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

/** What is said before a session exists is no way on after that: the same command would make another one. */
const waysAgain: ReadonlySet<ErrorCode> = new Set(["disk_full", "io_error", "busy", "fenced"]);

/** A failure after the session exists says how to go on, unless it says something better itself. */
function withWayOn(call: Call, failure: Failure, watch: Watch): Failure {
  const { code, hint } = failure;
  if (!watch.isDurable || (hint !== undefined && !waysAgain.has(code))) return failure;
  const first = code === "disk_full" ? "Free some space. " : "";
  return { ...failure, hint: first + watch.wayOn(call.program) };
}

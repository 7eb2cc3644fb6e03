import type { EngineContext, Observer, WorkControl, WorkReport } from "../engine/index.ts";
import { findRun, readOutlook, readSession } from "../engine/index.ts";
import type { EndOfWork } from "../model/ending.ts";
import { codeOfEnding, exitCodeOfEnding } from "../model/ending.ts";
import type { ErrorCode } from "../model/errors.ts";
import { errorTable } from "../model/errors.ts";
import type { OperationView } from "../model/views.ts";
import { approvalMode } from "./ask.ts";
import type { Call } from "./call.ts";
import { screenOf } from "./call.ts";
import type { Control } from "./control.ts";
import { Departure } from "./departure.ts";
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
  readonly control: Control;
  /** Does it, as far as the `control` of it goes. */
  start(parts: {
    readonly observer: Observer;
    readonly control: WorkControl;
    readonly begun: (session: string) => void;
  }): Promise<WorkReport>;
}

/** Does the work; resolves to the exit code. Signals stop it, or end the process here. */
export async function doWork(call: Call, context: EngineContext, work: Work): Promise<number> {
  const output = progressOf(call, work);
  const watch = new Watch(work);
  const departure = new Departure(call, { output, watch });
  const { signal, stops } = departure;
  const { approvals, ...control } = work.control;
  const mode = approvalMode(approvals, { outside: call.outside, output, departure });
  try {
    const report = await work.start({
      observer: observe(output, watch, signal),
      control: { ...control, approvals: mode, signal, stops },
      begun: (session) => {
        watch.begin(session);
        output.begun(session);
      },
    });
    if (!signal.aborted) {
      const end = endOf(report, watch, departure);
      departure.over(exitCodeOfEnding(end));
      return await finish(call, { context, output, watch, departure, report, end });
    }
  } catch (error) {
    if (!signal.aborted) {
      const failure = withWayOn(call, failureOf(error, call), watch);
      departure.over(errorTable[failure.code].exit);
      output.stop();
      await Promise.allSettled([departure.flushed()]);
      await reportStack(call, error);
      return await reportFailure(call, failure, watch);
    }
  } finally {
    if (!signal.aborted) departure.end();
  }
  // Who leaves says so and ends the process, very soon: it is he who has the last word.
  return await never();
}

/** Where there was nothing to do because a signal came first, the work is suspended before it began. */
function endOf({ ending }: WorkReport, { reason }: Watch, { isAsked }: Departure): EndOfWork {
  return { ending: ending === "idle" && isAsked ? "suspended" : ending, reason };
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
  const { earlier = [], control } = work;
  const { clock } = outside.host;
  const showTask = work.session !== undefined;
  const approvals = control.approvals.kind;
  return new TextProgress({ screen: screenOf(call), clock, program, earlier, showTask, approvals });
}

interface Finished {
  readonly context: EngineContext;
  readonly output: ProgressOutput;
  readonly watch: Watch;
  readonly departure: Departure;
  readonly report: WorkReport;
  readonly end: EndOfWork;
}

/** Tells how it ended. Who was told to stop by a signal may have nobody left to tell, as when the terminal was closed. */
async function finish(call: Call, finished: Finished): Promise<number> {
  const telling = tellEnd(call, finished);
  if (finished.departure.isAsked) await wrote(telling);
  else await telling;
  return exitCodeOfEnding(finished.end);
}

async function tellEnd(call: Call, finished: Finished): Promise<void> {
  const { context, output, watch, departure, report, end } = finished;
  const { form, outside } = call;
  const isIdle = end.ending === "idle";
  const left = output.needsLeft || isIdle ? await readLeft(call, context, { report, end }) : undefined;
  output.ended({ ...report, ending: end.ending }, left);
  await departure.flushed();
  const failure = failureOfEnding(call, { end, watch, report });
  if (form === "json") {
    const { run = { session: report.session }, queue } = left ?? {};
    const isLeft = queue !== undefined && queueWords(queue) !== undefined;
    const data = { ...run, ...(isIdle && { idle: true }), ...(isLeft && { queue }) };
    const document = documentOf(call.kind, { data, error: failure });
    await outside.stdout.write(`${JSON.stringify(document)}\n`);
  } else if (failure !== undefined && end.ending === "suspended") {
    await tellSuspended(call, failure, watch);
  } else if (form === "jsonl" && isIdle) {
    const words = left && queueWords(left.queue);
    const more = words === undefined ? "" : `; ${oneLine(words)}`;
    await wrote(outside.stderr.write(`holdfast: nothing to do in session ${report.session}${more}\n`));
  }
}

/**
 * The line that says that a run was suspended is the last one, but where a provider or an agent failed: what that means
 * is said after it. People read it in the summary, unless there is none.
 */
async function tellSuspended(call: Call, failure: Failure, watch: Watch): Promise<void> {
  const isToldByFact = failure.code === "suspended" && watch.reason !== undefined;
  if (isToldByFact && call.form === "text") return;
  await reportFailure(call, failure, { isOver: isToldByFact });
}

/**
 * The run that the work was about, of idle work the newest one, and the messages that still wait. What a run before it
 * came to is nothing of work that never began.
 */
async function readLeft(
  call: Call,
  context: EngineContext,
  { report, end }: Pick<Finished, "report" | "end">,
): Promise<LeftBehind> {
  const read = await readSession(context, report.session);
  const queue = withCommands(await readOutlook(context, read), call.program);
  const hasNone = report.run === undefined && (read.state.runs.size === 0 || end.ending !== "idle");
  return { run: hasNone ? undefined : findRun(read, report.run), queue };
}

function failureOfEnding(
  call: Call,
  { end, watch, report }: Pick<Finished, "end" | "watch" | "report">,
): Failure | undefined {
  const code = codeOfEnding(end);
  if (code === undefined) return undefined;
  const { by = "" } = watch;
  const who = by === "" ? "" : ` by ${by}`;
  const { reason } = end;
  const told = [reason === undefined ? "" : reason + who, watch.message ?? ""].filter((part) => part !== "");
  switch (end.ending) {
    case "input_required":
      return {
        code,
        message: "it is not known whether some operations happened; a person must say",
        hint: `See which and how with: ${call.program} run show ${watch.session}`,
      };
    case "suspended":
      if (report.run === undefined) {
        const message = "suspended before the run began; its task waits";
        return { code, message, hint: watch.wayOn(call.program) };
      }
      return { code, message: suspensionWords(reason, told), hint: watch.wayOn(call.program) };
    case "canceled":
      return { code, message: `the run was canceled${who}` };
    default:
      return { code, message: `the run failed: ${told.join(": ")}` };
  }
}

function suspensionWords(reason: string | undefined, told: readonly string[]): string {
  if (reason === undefined) return "suspended before the run went on";
  const stopped: Readonly<Record<string, string>> = { signal: "a signal", stop: "a request" };
  const stopper = stopped[reason];
  return stopper === undefined
    ? `the run is suspended: ${told.join(": ")}`
    : `the run was suspended by ${stopper}`;
}

/** What is said before a session exists is no way on after that: the same command would make another one. */
const waysAgain: ReadonlySet<ErrorCode> = new Set(["disk_full", "io_error", "busy"]);

/** A failure after the session exists says how to go on, unless it says something better itself. */
function withWayOn(call: Call, failure: Failure, watch: Watch): Failure {
  const { code, hint } = failure;
  if (!watch.isDurable || (hint !== undefined && !waysAgain.has(code))) return failure;
  const first = code === "disk_full" ? "Free some space. " : "";
  return { ...failure, hint: first + watch.wayOn(call.program) };
}

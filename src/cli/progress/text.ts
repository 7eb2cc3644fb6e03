import type { ApprovalQuestion, LiveEvent, WorkReport } from "../../engine/index.ts";
import type { Clock } from "../../host/index.ts";
import type { Commit } from "../../model/commit.ts";
import { isFact } from "../../model/commit.ts";
import type { Fact, Message } from "../../model/facts.ts";
import { isKnownKind } from "../../model/facts.ts";
import type { OperationView } from "../../model/views.ts";
import { writeIndented } from "../commands/fields.ts";
import type { ApprovalChoice } from "../control.ts";
import type { Screen, Span } from "../screen.ts";
import { waitingLines, waitsForApproval } from "../text/approval.ts";
import { argumentsText } from "../text/arguments.ts";
import { oneLine } from "../text/clean.ts";
import { label } from "../text/label.ts";
import { formatDuration } from "../text/units.ts";
import { wrapText } from "../text/wrap.ts";
import { LiveRegion } from "./live-region.ts";
import type { LeftBehind, ProgressOutput } from "./output.ts";
import { durableWaitsMax } from "./output.ts";
import { queueLines, statusSpan, summaryLines } from "./summary.ts";
import { TextStream } from "./text-stream.ts";
import type { CallState } from "./tool-line.ts";
import { markOf, summariseArgs, toolLine } from "./tool-line.ts";
import { detailLine, lastLines, Underway } from "./underway.ts";

/** Progress for people: streamed text, a line for each tool call, a summary. */

/** What the output is made with. */
export interface TextProgressOptions {
  readonly screen: Screen;
  readonly clock: Clock;
  readonly program: string;
  /** Operations that an earlier process asked for. */
  readonly earlier: readonly OperationView[];
  /** False where the person has just typed the first task. */
  readonly showTask: boolean;
  /** Who answers what the policy leaves to a person. */
  readonly approvals: ApprovalChoice["kind"];
}

const troubleLines = 3;
/** Of what a person is to judge by, so many rows at once. */
const questionRowsMax = 30;

/** Writes progress for people. */
export class TextProgress implements ProgressOutput {
  readonly needsLeft = true;
  readonly observer = {
    commit: async (commit: Commit) => {
      this.#commit(commit);
      await this.#options.screen.room(durableWaitsMax);
    },
    live: (event: LiveEvent) => this.#live(event),
  };
  readonly #options: TextProgressOptions;
  readonly #region: LiveRegion;
  readonly #text: TextStream;
  readonly #underway: Underway;
  /** When the work on the newest run began. */
  #startedMs: number;
  /** What an earlier process left, until this one takes it up. */
  #earlier: readonly OperationView[];
  #session: string | undefined;
  #run = "";
  /** How that run ended; undefined while it goes on. */
  #ended: "completed" | "failed" | "canceled" | undefined;
  /** True while a question stands on the screen, below which nothing may be written. */
  #isAsking = false;

  constructor(options: TextProgressOptions) {
    const { screen, clock, earlier } = options;
    this.#options = options;
    this.#earlier = earlier;
    this.#region = new LiveRegion(screen, clock);
    this.#text = new TextStream(screen);
    this.#underway = new Underway(screen, clock, earlier);
    this.#startedMs = clock.monotonicMs();
  }

  begun(session: string): void {
    if (this.#session !== undefined) return;
    this.#session = session;
    this.#line(label("session"), session);
  }

  note(text: string): void {
    this.#line(["warn", this.#wrapped(text)]);
    this.#refresh();
  }

  ask({ session, run, operation, tool, capability, args }: ApprovalQuestion): void {
    const { screen } = this.#options;
    this.#underway.wait(undefined);
    this.#region.clear();
    this.#text.gap("question");
    const what = capability === tool ? "" : ` (${oneLine(capability)})`;
    screen.line(["warn", "!"], " ", ["bold", oneLine(tool)], `${what} asks to start:`);
    const rest = `all of it with ${this.#options.program} run show`;
    writeIndented(screen, argumentsText(args), { rowsMax: questionRowsMax, rest });
    for (const [name, id] of Object.entries({ session, run, operation })) {
      screen.line(["dim", `  ${name.padEnd(9)}  ${id}`]);
    }
    this.#isAsking = true;
  }

  answered(): void {
    this.#isAsking = false;
  }

  stop(): void {
    this.#underway.clear();
    this.#region.clear();
    this.#text.end();
  }

  ended(report: WorkReport, left: LeftBehind | undefined): void {
    this.stop();
    const { screen, clock, program } = this.#options;
    const { columns } = screen;
    const queue = left?.queue;
    if (report.ending === "idle") {
      this.#line("Nothing to do: no run is open and no message waits.");
      for (const line of queue === undefined ? [] : queueLines(queue, columns)) screen.line(...line);
      this.#line(label("next"), `${program} resume ${report.session} --task "…"`);
      return;
    }
    if (left?.run === undefined) return;
    const tookMs = clock.monotonicMs() - this.#startedMs;
    this.#text.gap("summary");
    for (const line of summaryLines(left.run, { program, tookMs, columns, queue })) screen.line(...line);
  }

  flushed(): Promise<void> {
    return this.#options.screen.flushed();
  }

  #live(event: LiveEvent): void {
    switch (event.type) {
      case "live.output":
        this.#underway.hear(event.operation, event.text);
        this.#refresh();
        return;
      case "live.retry": {
        const { inMs, attempt, attemptsMax } = event;
        const words = `trying again in ${formatDuration(inMs)}, attempt ${attempt} of ${attemptsMax}`;
        this.#line(["dim", words]);
        this.#underway.wait("trying again");
        this.#refresh();
        return;
      }
      case "live.text":
      case "live.reasoning":
        this.#underway.wait(undefined);
        this.#region.clear();
        this.#text.push(event.type === "live.text" ? "text" : "reasoning", event.text);
    }
  }

  #commit(commit: Commit): void {
    this.begun(commit.ses);
    for (const fact of commit.facts) if (isKnownKind(fact.kind)) this.#fact(fact as Fact, commit);
    this.#refresh();
  }

  #fact(fact: Fact, commit: Commit): void {
    switch (fact.kind) {
      case "session.created":
        this.#line(["dim", describeSession(fact)]);
        return;
      case "repaired":
        this.#line(["warn", `the end of the log was mended (${fact.action}, ${fact.bytes} bytes)`]);
        return;
      case "run.started":
        this.#picked(fact);
        return;
      case "message":
        this.#message(fact);
        return;
      case "run.ended":
        this.#ended = fact.status;
        return;
      case "model.requested":
        this.#text.expectAnswer();
        this.#underway.wait(`${fact.provider}/${fact.model}`);
        return;
      case "model.failed":
        this.#modelFailed(fact);
        return;
      case "op.asked":
        if (fact.replaces !== undefined) {
          this.#underway.learn(fact.operation, this.#underway.call(fact.replaces));
        }
        return;
      case "approval.asked":
        if (!isDecidedIn(commit, fact.operation)) this.#waitForApproval(fact.operation);
        return;
      case "approval.decided":
        this.#decided(fact, commit);
        return;
      case "op.started":
        this.#underway.start(fact);
        return;
      case "op.known": {
        const { operation, outcome, durationMs, output = "" } = fact;
        this.#toolLine(operation, outcome, { durationMs, trouble: outcome === "ok" ? "" : output });
        return;
      }
      case "op.unknown":
        this.#toolLine(fact.operation, "unknown", { trouble: fact.reason });
        return;
      default:
        return;
    }
  }

  #picked({ run, attempt }: Extract<Fact, { kind: "run.started" }>): void {
    const earlier = this.#earlier;
    this.#earlier = [];
    this.#run = run;
    if (attempt > 1) this.#line(["dim", `run ${run}, attempt ${attempt}`]);
    this.#underway.takeUp(earlier);
    for (const operation of earlier) if (waitsForApproval(operation)) this.#waitForApproval(operation.id);
  }

  #message(message: Message): void {
    this.#underway.wait(undefined);
    this.#region.clear();
    if (message.role === "user") this.#task(message);
    if (message.role === "assistant") this.#text.answer(message);
    if (message.interrupted === true) this.#line(["warn", "the answer was cut; what had come of it is kept"]);
    for (const part of message.parts) {
      if (part.type === "tool_call") {
        this.#underway.learn(part.operation, { tool: part.tool, args: part.args });
      }
    }
  }

  /** What a run is to do; behind another one it says what that came to, for the summary tells of the last alone. */
  #task({ parts }: Message): void {
    const ended = this.#ended;
    if (ended !== undefined) {
      this.#line(statusSpan(ended), ["dim", `  ${this.#run}; the next message:`]);
      this.#ended = undefined;
      this.#startedMs = this.#options.clock.monotonicMs();
    } else if (!this.#options.showTask) return;
    for (const part of parts) if (part.type === "text") this.#text.whole("task", part.text ?? "…");
  }

  #modelFailed({ reason, message }: Extract<Fact, { kind: "model.failed" }>): void {
    this.#underway.wait(undefined);
    // We ended it, and say why where that is told.
    if (reason === "interrupted") return;
    this.#line(["warn", this.#wrapped(`the model did not answer: ${oneLine(message)}`)]);
  }

  /** Who is asked here sees the question; where nobody can be, the denial follows at once. */
  #waitForApproval(operation: string): void {
    const { approvals, screen, program } = this.#options;
    if (approvals !== "wait") return;
    const { tool, args } = this.#underway.call(operation);
    const named = { session: this.#session ?? "", run: this.#run, id: operation };
    this.#region.clear();
    this.#text.gap("question");
    const { columns } = screen;
    for (const line of waitingLines({ ...named, tool, args }, { program, columns })) screen.line(...line);
    this.#underway.wait("waiting for approval");
  }

  #decided(fact: Extract<Fact, { kind: "approval.decided" }>, commit: Commit): void {
    const { decision, by, reason } = fact;
    this.#underway.wait(undefined);
    const why = reason === undefined ? "" : `: ${oneLine(reason)}`;
    // Of a denial the line of the operation says it.
    if (decision === "allow") this.#line(["dim", this.#wrapped(`allowed by ${oneLine(by)}${why}`)]);
    for (const rule of commit.facts) {
      if (!isFact(rule, "approval.rule")) continue;
      const verb = rule.decision === "allow" ? "allowed" : "denied";
      this.#line(["dim", `each ${oneLine(rule.capability)} of this session is ${verb} from now on`]);
    }
  }

  #toolLine(
    operation: string,
    state: CallState,
    told: { readonly durationMs?: number | undefined; readonly trouble: string },
  ): void {
    const { screen } = this.#options;
    const { durationMs, trouble } = told;
    const { tool, args } = this.#underway.call(operation);
    this.#underway.end(operation);
    this.#region.clear();
    this.#text.gap("tool");
    const time = durationMs === undefined ? "" : formatDuration(durationMs);
    screen.line(...toolLine({ mark: markOf(state), tool, summary: summariseArgs(args), time }, screen));
    for (const line of lastLines(trouble, troubleLines)) screen.line(...detailLine(line, screen));
  }

  #line(...spans: readonly Span[]): void {
    this.#region.clear();
    this.#text.gap("note");
    this.#options.screen.line(...spans);
  }

  #wrapped(text: string): string {
    return wrapText(text, this.#options.screen.columns).join("\n");
  }

  #refresh(): void {
    const lines = this.#isAsking ? [] : this.#underway.lines();
    if (lines.length > 0) this.#text.end();
    this.#region.show(lines);
  }
}

function isDecidedIn({ facts }: Commit, operation: string): boolean {
  return facts.some((fact) => isFact(fact, "approval.decided") && fact.operation === operation);
}

function describeSession(created: Extract<Fact, { kind: "session.created" }>): string {
  const { agent, model, workspace } = created;
  const answers = model === undefined ? agent : `${agent} · ${model.provider}/${model.model}`;
  return `${answers} · ${workspace.root}`;
}

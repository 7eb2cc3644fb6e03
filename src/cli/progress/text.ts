import type { LiveEvent, WorkReport } from "../../engine/index.ts";
import type { Clock } from "../../host/index.ts";
import type { Commit } from "../../model/commit.ts";
import type { Fact, Message } from "../../model/facts.ts";
import { isKnownKind } from "../../model/facts.ts";
import type { OperationView } from "../../model/views.ts";
import type { Json } from "../../model/values.ts";
import type { Screen, Span } from "../screen.ts";
import { oneLine } from "../text/clean.ts";
import { formatDuration } from "../text/units.ts";
import { fitEnd } from "../text/width.ts";
import { wrapText } from "../text/wrap.ts";
import type { LiveLine } from "./live-region.ts";
import { LiveRegion } from "./live-region.ts";
import type { LeftBehind, ProgressOutput } from "./output.ts";
import { durableWaitsMax } from "./output.ts";
import { queueLines, summaryLines } from "./summary.ts";
import { TextStream } from "./text-stream.ts";
import type { CallState } from "./tool-line.ts";
import { markOf, summariseArgs, toolLine } from "./tool-line.ts";

/** Progress for people: streamed text, a line for each tool call, a summary. */

/** What the output is made with. */
export interface TextProgressOptions {
  readonly screen: Screen;
  readonly clock: Clock;
  readonly program: string;
  /** Operations that an earlier process asked for. */
  readonly earlier: readonly OperationView[];
  /** False where the person has just typed the task. */
  readonly showTask: boolean;
}

interface ToolCall {
  readonly tool: string;
  readonly args: Json | undefined;
  readonly startedMs?: number;
  /** The end of its output so far. */
  tail: string;
}

const noteIndent = "    ";
const tailCharacters = 2000;
const troubleLines = 3;

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
  readonly #calls = new Map<string, ToolCall>();
  readonly #running = new Map<string, ToolCall>();
  readonly #startedMs: number;
  #begun = false;
  #waiting: { readonly what: string; readonly sinceMs: number } | undefined;

  constructor(options: TextProgressOptions) {
    this.#options = options;
    this.#region = new LiveRegion(options.screen, options.clock);
    this.#text = new TextStream(options.screen);
    this.#startedMs = options.clock.monotonicMs();
    for (const { id, tool, args } of options.earlier) this.#calls.set(id, { tool, args, tail: "" });
  }

  /** What an earlier process started and nobody saw the end of is waited for, or found out about. */
  #takeUp(): void {
    const { clock, earlier } = this.#options;
    for (const { id, tool, args, state, startedAt = clock.now() } of earlier) {
      if (state !== "started") continue;
      const startedMs = clock.monotonicMs() - (clock.now() - startedAt);
      this.#running.set(id, { tool, args, startedMs, tail: "" });
    }
  }

  begun(session: string): void {
    if (this.#begun) return;
    this.#begun = true;
    this.#note(["dim", "session    "], session);
  }

  stop(): void {
    this.#waiting = undefined;
    this.#running.clear();
    this.#region.clear();
    this.#text.end();
  }

  ended(report: WorkReport, left: LeftBehind | undefined): void {
    this.stop();
    const { screen, clock, program } = this.#options;
    const { columns } = screen;
    const queue = left?.queue;
    if (report.ending === "idle") {
      this.#note("Nothing to do: no run is open and no message waits.");
      for (const line of queue === undefined ? [] : queueLines(queue, columns)) screen.line(...line);
      this.#note(["dim", "next       "], `${program} resume ${report.session} --task "…"`);
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
    if (event.type === "live.output") {
      const call = this.#running.get(event.operation);
      if (call === undefined) return;
      call.tail = (call.tail + event.text).slice(-tailCharacters);
      this.#refresh();
      return;
    }
    this.#waiting = undefined;
    this.#region.clear();
    this.#text.push(event.type === "live.text" ? "text" : "reasoning", event.text);
  }

  #commit(commit: Commit): void {
    this.begun(commit.ses);
    for (const fact of commit.facts) if (isKnownKind(fact.kind)) this.#fact(fact as Fact);
    this.#refresh();
  }

  #fact(fact: Fact): void {
    switch (fact.kind) {
      case "session.created":
        this.#note(["dim", describeSession(fact)]);
        return;
      case "repaired":
        this.#note(["warn", `the end of the log was mended (${fact.action}, ${fact.bytes} bytes)`]);
        return;
      case "run.started":
        if (fact.attempt > 1) this.#note(["dim", `run ${fact.run}, attempt ${fact.attempt}`]);
        this.#takeUp();
        return;
      case "message":
        this.#message(fact);
        return;
      case "model.requested":
        this.#text.expectAnswer();
        this.#wait(`${fact.provider}/${fact.model}`);
        return;
      case "model.failed":
        this.#note(["warn", this.#wrapped(`the model did not answer: ${oneLine(fact.message)}`)]);
        this.#wait("trying again");
        return;
      case "op.asked":
        this.#asked(fact);
        return;
      case "op.started":
        this.#started(fact);
        return;
      case "op.known":
        this.#known(fact);
        return;
      case "op.unknown":
        this.#toolLine(fact.operation, "unknown", undefined, fact.reason);
        return;
      default:
        return;
    }
  }

  #message(message: Message): void {
    this.#waiting = undefined;
    this.#region.clear();
    if (message.role === "user" && this.#options.showTask) {
      for (const part of message.parts) if (part.type === "text") this.#text.whole("task", part.text ?? "…");
    }
    if (message.role === "assistant") this.#text.answer(message);
    for (const part of message.parts) {
      if (part.type === "tool_call")
        this.#calls.set(part.operation, { tool: part.tool, args: part.args, tail: "" });
    }
  }

  #asked(fact: Extract<Fact, { kind: "op.asked" }>): void {
    const replaced = fact.replaces === undefined ? undefined : this.#calls.get(fact.replaces);
    if (replaced !== undefined) this.#calls.set(fact.operation, { ...replaced, tail: "" });
  }

  #started(fact: Extract<Fact, { kind: "op.started" }>): void {
    const args = fact.args ?? this.#calls.get(fact.operation)?.args;
    const startedMs = this.#options.clock.monotonicMs();
    const call: ToolCall = { tool: fact.tool, args, startedMs, tail: "" };
    this.#calls.set(fact.operation, call);
    this.#running.set(fact.operation, call);
    this.#waiting = undefined;
  }

  #known(fact: Extract<Fact, { kind: "op.known" }>): void {
    const { operation, outcome, durationMs, output = "" } = fact;
    const trouble = outcome === "ok" ? undefined : output;
    this.#toolLine(operation, outcome, durationMs, trouble);
  }

  #toolLine(
    operation: string,
    state: CallState,
    durationMs: number | undefined,
    trouble: string | undefined,
  ): void {
    const { screen } = this.#options;
    const call = this.#calls.get(operation);
    this.#running.delete(operation);
    this.#region.clear();
    this.#text.gap("tool");
    const time = durationMs === undefined ? "" : formatDuration(durationMs);
    const { tool = operation, args } = call ?? {};
    screen.line(...toolLine({ mark: markOf(state), tool, summary: summariseArgs(args), time }, screen));
    for (const line of lastLines(trouble ?? "", troubleLines))
      screen.line(noteIndent, ["dim", this.#fit(line)]);
  }

  #note(...spans: readonly Span[]): void {
    this.#region.clear();
    this.#text.gap("note");
    this.#options.screen.line(...spans);
  }

  /** The text as far as an indented line takes it. */
  #fit(text: string): string {
    const { screen } = this.#options;
    return fitEnd(text, screen.columns - noteIndent.length - 1);
  }

  #wrapped(text: string): string {
    return wrapText(text, this.#options.screen.columns).join("\n");
  }

  #wait(what: string): void {
    this.#waiting = { what, sinceMs: this.#options.clock.monotonicMs() };
  }

  #refresh(): void {
    const lines = this.#liveLines();
    if (lines.length > 0) this.#text.end();
    this.#region.show(lines);
  }

  #liveLines(): LiveLine[] {
    const { screen, clock } = this.#options;
    const since = (ms: number) => formatDuration(clock.monotonicMs() - ms);
    const lines = [...this.#running.values()].flatMap((call): LiveLine[] => {
      const { tool, args, startedMs = 0, tail } = call;
      const summary = summariseArgs(args);
      const line: LiveLine = (frame) =>
        toolLine({ mark: ["accent", frame], tool, summary, time: since(startedMs) }, screen);
      const more = lastLines(tail, 1).map((text) => this.#fit(text));
      return [
        line,
        ...more.map((text): LiveLine => () => [noteIndent, ["dim", text]]),
      ];
    });
    const waiting = this.#waiting;
    if (waiting === undefined) return lines;
    const words = () => fitEnd(oneLine(`${waiting.what} ${since(waiting.sinceMs)}`), screen.columns - 3);
    return [...lines, (frame) => [["accent", frame], " ", ["dim", words()]]];
  }
}

/** The last lines that say something, each as one clean line. What a carriage return overwrote is not among them. */
function lastLines(text: string, count: number): string[] {
  const lines = text.split(/[\r\n]/).map((line) => oneLine(line));
  return lines.filter((line) => line !== "").slice(-count);
}

function describeSession(created: Extract<Fact, { kind: "session.created" }>): string {
  const { agent, model, workspace } = created;
  const answers = model === undefined ? agent : `${agent} · ${model.provider}/${model.model}`;
  return `${answers} · ${workspace.root}`;
}
